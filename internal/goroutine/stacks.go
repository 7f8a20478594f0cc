package goroutine

// The stacks of others.

import (
	"bytes"
	"runtime"
	"slices"
)

// The calls by which stacks of callbacks and of threadlets are known, and the texts of those that do not run: the loop sleeps, or the
// coroutine waits to be resumed.
var calls, rests = []string{"/eventloop.(*Loop).runTicks(", "/threadlet.(*coroutine).serve("}, []string{" [coroutine", "/internal/park.("}

// mostStacks is how many bytes of stacks are looked at.
const mostStacks = 1 << 26

// Callbacks returns the stacks of the goroutines that run callbacks of loops now. It stops all goroutines meanwhile.
func Callbacks() []byte {
	b := make([]byte, 1<<16)
	n := runtime.Stack(b, true)
	for ; n == len(b) && n < mostStacks; n = runtime.Stack(b, true) {
		b = make([]byte, 4*len(b))
	}
	between := []byte("\n\n")
	return bytes.Join(slices.DeleteFunc(bytes.Split(b[:n], between), func(stack []byte) bool {
		has := func(text string) bool { return bytes.Contains(stack, []byte(text)) }
		return !slices.ContainsFunc(calls, has) || slices.ContainsFunc(rests, has)
	}), between)
}
