//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package eventloop_test

// What tests of descriptors do where there is no way to make some.

import (
	"errors"
	"testing"
)

const haveGhosts = false

var errnos []error

func needDescriptors(t *testing.T) { t.Skip("the test cannot make descriptors on this system") }

func newPair(t *testing.T) (near, far int) {
	needDescriptors(t)
	return -1, -1
}

func openPair() ([2]int, error)   { return [2]int{}, errors.ErrUnsupported }
func duplicate(int, int) int      { return -1 }
func closeAll(...int)             {}
func send(int, byte) bool         { return false }
func receive(int) (n int, _ byte) { return 0, 0 }
func openDescriptors() (n int)    { return 0 }
