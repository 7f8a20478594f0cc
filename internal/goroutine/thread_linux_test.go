package goroutine_test

// Tests of the identity of goroutines that change their thread.

import (
	"runtime"
	"syscall"
	"testing"
)

// The identity is the goroutine's, not the thread's: it stays when the goroutine goes on on another thread.
func TestThreadSwitch(t *testing.T) {
	each(t, func(t *testing.T, id func() uintptr) {
		want, thread, switches := id(), syscall.Gettid(), 0
		for tries := 0; switches < 20; tries++ {
			if tries == 10_000 {
				t.Fatalf("only %d changes of thread; the test proves nothing", switches)
			}
			// Whoever runs while this goroutine waits keeps the thread that it got until this goroutine has gone on.
			locked, seen := make(chan struct{}), make(chan struct{})
			for range 2 {
				go func() {
					runtime.LockOSThread()
					locked <- struct{}{}
					<-seen
				}()
			}
			<-locked
			<-locked
			if now := syscall.Gettid(); now != thread {
				switches++
				thread = now
			}
			if got := id(); got != want {
				t.Fatalf("the identity was %#x and is %#x after %d changes of thread", want, got, switches)
			}
			close(seen)
		}
	})
}
