//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package eventloop

import "runtime"

// nap lets other goroutines run; there is no portable way to let other threads.
func nap() { runtime.Gosched() }
