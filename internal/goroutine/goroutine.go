// Package goroutine provides an identity of the calling goroutine, for comparison with a stored one, and has it give way.
//
// This file is the contract of the identity. id_*.s read the identity from a register or thread-local storage; stack.go is the
// implementation for architectures without such a file.
package goroutine

// ID returns the identity of the calling goroutine. While a goroutine lives, its identity does not change, no other
// goroutine has the same one, and goroutines that it starts do not inherit it. It is never 0.
//
// An identity may be used again once its goroutine has ended. A stored identity must therefore be cleared or replaced
// before its goroutine ends.
//
// ID may be called from anywhere, does not allocate, and costs about as much as a function call; on architectures
// without an assembly stub it costs a stack trace.
func ID() uintptr { return id() }
