//go:build !plan9

package poller

import (
	"errors"
	"syscall"
)

// Gone tells whether an error of Remove says that there was nothing to remove any more: the descriptor was closed, or its
// number has come to mean something else.
func Gone(err error) bool {
	return errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EPERM)
}
