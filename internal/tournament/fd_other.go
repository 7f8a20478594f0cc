// Systems without Unix sockets.

//go:build !unix

package tournament

func (r *bench) watchSilence() {
	r.b.Helper()
	r.b.Skip("n/a: no descriptors on this system")
}
