// unix.Poll allocates on Linux; its sibling with a timespec of the caller's does not.
package looptest_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// poll waits up to wait, for ever when it is negative. Only the loop's goroutine calls it.
func (d *descriptors) poll(wait time.Duration) error {
	if wait < 0 {
		_, err := unix.Ppoll(d.set, nil, nil)
		return err
	}
	d.timeout = unix.NsecToTimespec(int64(wait))
	_, err := unix.Ppoll(d.set, &d.timeout, nil)
	return err
}
