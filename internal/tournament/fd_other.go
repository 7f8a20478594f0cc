// Systems without Unix sockets.

//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package tournament

import "testing"

func (r *bench) watchSilence() {
	r.b.Helper()
	r.b.Skip("n/a: no descriptors on this system")
}

func descriptorFigures(func(string, string, string, func(*testing.B, Contestant)) Figure) []Figure {
	return nil
}
