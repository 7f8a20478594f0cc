//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package inbox

// A short sleep, where no system call for it is known.

import "runtime"

// nap lets other goroutines run; there is no portable way to let other threads run.
func nap() { runtime.Gosched() }
