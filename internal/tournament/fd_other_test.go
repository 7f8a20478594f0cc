// Systems without Unix sockets.

//go:build !unix

package tournament_test

func (r *bench) watchSilence() {
	r.b.Helper()
	r.b.Skip("n/a: no descriptors on this system")
}
