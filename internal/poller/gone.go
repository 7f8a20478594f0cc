//go:build !plan9

package poller

// Errors that say that there was nothing to remove.

import (
	"errors"
	"syscall"
)

// Gone reports whether an error of Remove means that there was nothing to remove: the descriptor was closed, or its number
// has been given to another one.
func Gone(err error) bool {
	return errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EPERM)
}
