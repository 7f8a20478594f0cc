//go:build darwin || dragonfly || freebsd || netbsd || openbsd

// poll(2) with its milliseconds.
package looptest_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// poll waits up to wait, for ever when it is negative. It rounds up: a poll must not be over too early.
func (d *descriptors) poll(wait time.Duration) error {
	timeout := -1
	if wait >= 0 {
		timeout = int(min((wait+time.Millisecond-1)/time.Millisecond, 1<<30))
	}
	_, err := unix.Poll(d.set, timeout)
	return err
}
