//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package inbox

// A short sleep of the thread.

import "golang.org/x/sys/unix"

// nap puts the thread, not the goroutine, to sleep for about as short a time as the system can. A goroutine's sleep
// would go by the clock of a testing/synctest bubble, and move it.
func nap() {
	timeout := unix.NsecToTimeval(50_000)
	unix.Select(0, nil, nil, nil, &timeout)
}
