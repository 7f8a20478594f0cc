package goroutine

// The identity where there is no assembly stub: the number in a stack trace.

import (
	"runtime"
	"sync"
)

// header is the beginning of the first line of a stack trace; the goroutine's number follows.
const header = "goroutine "

// buffers are recycled because runtime.Stack makes its argument escape.
var buffers = sync.Pool{New: func() any { return new([len(header) + 20]byte) }}

// stackID returns the runtime's number of the calling goroutine, which it takes from a stack trace. Numbers count up: on a
// 64-bit machine none is used twice, on a 32-bit one they start over after 2^32 goroutines.
func stackID() uintptr {
	b := buffers.Get().(*[len(header) + 20]byte)
	n := runtime.Stack(b[:], false)
	id := uintptr(0)
	for _, c := range b[len(header):n] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uintptr(c-'0')
	}
	buffers.Put(b)
	if id == 0 { // the one number in 2^32 that is not allowed as an identity
		id--
	}
	return id
}
