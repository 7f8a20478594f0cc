// Package beat is the watchdog of tests: it gives up a wait after a number of beats, and not after a time.
//
// A beat is a goroutine that sleeps for 10 ms and hands a token over a channel. On a quiet machine Beats of them take half a minute. Where
// the process gets no processor, beats come as late as everything else, so a wait that is only slow is never given up for that.
//
// A wait that ends costs what it lasts: nothing here is slower because the limit is far away.
//
// In a bubble of testing/synctest the sleep is virtual, so beats say nothing about the machine, and all of them pass at once when every
// goroutine of the bubble is blocked. There a hang is found by synctest itself; use this package outside of bubbles only.
package beat

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Beats is how many beats a wait is worth.
const Beats = 3000

// Length is how long a beat sleeps. It takes longer where the process waits for a processor.
const Length = 10 * time.Millisecond

// ErrOver is the cause of a context that ended because nothing had come for all its beats.
var ErrOver = errors.New("beat: nothing came for all the beats of a watchdog")

// After returns a channel that is closed after so many beats, and a function that ends the count before; it must be called, and may be
// called more than once.
func After(beats int) (over <-chan struct{}, stop func()) {
	ended, tokens, quit := make(chan struct{}), make(chan struct{}), make(chan struct{})
	own.Add(2)
	go func() {
		defer own.Add(-1)
		timer := time.NewTimer(Length)
		defer timer.Stop()
		for range beats {
			select {
			case <-timer.C:
			case <-quit:
				return
			}
			select {
			case tokens <- struct{}{}:
			case <-quit:
				return
			}
			timer.Reset(Length)
		}
	}()
	go func() {
		defer own.Add(-1)
		for range beats {
			select {
			case <-tokens:
			case <-quit:
				return
			}
		}
		close(ended)
	}()
	return ended, sync.OnceFunc(func() { close(quit) })
}

// own is how many goroutines count beats.
var own atomic.Int64

// Goroutines is runtime.NumGoroutine without those that count beats. One that has just been stopped may still be counted.
func Goroutines() int { return runtime.NumGoroutine() - int(own.Load()) }

// Wait receives from c, and tells whether something came, or c was closed, before Beats beats were over.
func Wait[T any](c <-chan T) bool {
	_, ok := receive(c)
	return ok
}

func receive[T any](c <-chan T) (value T, ok bool) {
	select {
	case value = <-c:
		return value, true
	default:
	}
	over, stop := After(Beats)
	defer stop()
	select {
	case value = <-c:
		return value, true
	case <-over:
	}
	select { // both may have been ready
	case value = <-c:
		return value, true
	default:
		return value, false
	}
}

// Until calls cond again and again on the calling goroutine, with growing pauses of at most 5 ms, and tells whether it was true before Beats
// beats were over.
func Until(cond func() bool) bool {
	if cond() {
		return true
	}
	over, stop := After(Beats)
	defer stop()
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, Length/2) {
		select {
		case <-over:
			return cond()
		case <-time.After(pause):
		}
		if cond() {
			return true
		}
	}
}

// Context returns a context that ends with its parent, and after Beats beats, with ErrOver as its cause.
func Context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	over, stop := After(Beats)
	own.Add(1)
	go func() {
		defer own.Add(-1)
		defer stop()
		select {
		case <-over:
			cancel(ErrOver)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// TB is what is asked of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Receive returns what comes from c, or its zero value when c is closed. It fails the test with the stacks of all goroutines when nothing has
// come for Beats beats; what says what was waited for. It must be called on the test's own goroutine, as Eventually and Do.
func Receive[T any](tb TB, c <-chan T, what string) T {
	tb.Helper()
	value, ok := receive(c)
	if !ok {
		fail(tb, what)
	}
	return value
}

// Eventually waits until cond is true, as Until, or fails the test as Receive does.
func Eventually(tb TB, cond func() bool, what string) {
	tb.Helper()
	if !Until(cond) {
		fail(tb, what)
	}
}

// Do calls fn on a goroutine of its own and waits for its end, or fails the test as Receive does; fn then goes on.
func Do(tb TB, what string, fn func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	Receive(tb, done, what)
}

func fail(tb TB, what string) {
	tb.Helper()
	tb.Fatalf("%s: waited in vain for %d beats of a goroutine that sleeps 10 ms; all goroutines:\n%s", what, Beats, Stacks())
}

// Stacks returns the stacks of all goroutines, of several hundred at most.
func Stacks() []byte {
	text := make([]byte, 1<<20)
	return text[:runtime.Stack(text, true)]
}
