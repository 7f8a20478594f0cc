//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package main

// No lock of the append-only file.

import "os"

// lock does nothing: the user sees to it that only one server has the file.
func lock(*os.File) error { return nil }
