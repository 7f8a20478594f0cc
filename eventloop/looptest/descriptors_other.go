//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package looptest

// Systems on which the kit cannot make descriptors: checks that need them are reported as n/a, and these functions are
// not called.

import (
	"errors"
	"time"
)

const (
	canOpen          = false
	canChooseNumbers = false
	canInterrupt     = false
	filesArePolled   = false
	hangupIsImplicit = false
	bytesTravel      = false
	aside            = 0
)

var errBadDescriptor, errNotPollable = errors.ErrUnsupported, errors.ErrUnsupported

func newSockets() (pair [2]int, err error) { return pair, errors.ErrUnsupported }
func newPipe() (pair [2]int, err error)    { return pair, errors.ErrUnsupported }
func duplicate(int, int) (int, error)      { return -1, errors.ErrUnsupported }
func moveTo(int, int) error                { return errors.ErrUnsupported }
func closeDescriptor(int) error            { return errors.ErrUnsupported }
func read(int, []byte) (int, error)        { return 0, errors.ErrUnsupported }
func write(int, []byte) (int, error)       { return 0, errors.ErrUnsupported }
func listDescriptors() []int               { return nil }
func staysOpenOnExec(int) bool             { return false }
func processorTime() time.Duration         { return 0 }
func interrupt()                           {}
