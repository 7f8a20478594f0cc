//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package programs

// Elsewhere programs have no descriptors of their own.

func (a *actor) descriptor()   {}
func openDescriptors() (n int) { return 0 }
