package beat

// The tests count what is virtual: in a bubble of testing/synctest, beats take exactly their time.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const all = Beats * Length

// fake is a test that notes its failure and goes on.
type fake struct{ failure string }

func (f *fake) Helper()                           {}
func (f *fake) Fatalf(format string, args ...any) { f.failure = fmt.Sprintf(format, args...) }

// Every wait ends with what it waits for, at once; and with the last of all beats, not before, where nothing comes.
func TestWaits(t *testing.T) {
	for name, wait := range map[string]func(tb TB, c chan int) bool{
		"Wait":    func(_ TB, c chan int) bool { return Wait(c) },
		"Until":   func(_ TB, c chan int) bool { return Until(func() bool { return len(c) > 0 }) },
		"Receive": func(tb TB, c chan int) bool { return Receive(tb, c, "what") == 7 },
		"Eventually": func(tb TB, c chan int) bool {
			Eventually(tb, func() bool { return len(c) > 0 }, "what")
			return len(c) > 0
		},
		"Do": func(tb TB, c chan int) (came bool) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			Do(tb, "what", func() {
				select {
				case v := <-c:
					came = v == 7
				case <-ctx.Done():
				}
			})
			return came
		},
		"Context": func(_ TB, c chan int) bool {
			ctx, cancel := Context(context.Background())
			defer cancel()
			select {
			case <-c:
				return true
			case <-ctx.Done():
				return context.Cause(ctx) != ErrOver
			}
		},
	} {
		for _, after := range []time.Duration{0, 15 * time.Millisecond, all - Length/2} {
			synctest.Test(t, func(t *testing.T) {
				c, tb, began := make(chan int, 1), &fake{}, time.Now()
				time.AfterFunc(after, func() { c <- 7 })
				if !wait(tb, c) || tb.failure != "" {
					t.Errorf("%s gave up what came after %v: %s", name, after, tb.failure)
				}
				if waited := time.Since(began); waited < after || waited > after+Length {
					t.Errorf("%s took %v for what came after %v", name, waited, after)
				}
			})
		}
		synctest.Test(t, func(t *testing.T) {
			never, tb, began := make(chan int), &fake{}, time.Now()
			if wait(tb, never) || time.Since(began) != all {
				t.Errorf("%s waited for %v", name, time.Since(began))
			}
			if fails := name == "Receive" || name == "Eventually" || name == "Do"; fails != (tb.failure != "") ||
				fails && !(strings.Contains(tb.failure, "what") && strings.Contains(tb.failure, "goroutine ")) {
				t.Errorf("%s failed with %q", name, tb.failure)
			}
		})
	}
}

// A closed channel is something that came, and a context ends with its parent.
func TestEnds(t *testing.T) {
	closed := make(chan int)
	close(closed)
	if !Wait(closed) || Receive(t, closed, "what") != 0 {
		t.Error("a closed channel is waited for")
	}
	parent, end := context.WithCancel(context.Background())
	ctx, cancel := Context(parent)
	defer cancel()
	end()
	<-ctx.Done()
	if context.Cause(ctx) != context.Canceled {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
}

// A count that was ended leaves nothing behind: the bubble would not end.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := Goroutines()
		over, stop := After(Beats)
		time.Sleep(25 * time.Millisecond)
		if n := Goroutines(); n > before {
			t.Errorf("%d goroutines besides those that count, there were %d", n, before)
		}
		stop()
		stop()
		synctest.Wait()
		began := time.Now()
		select {
		case <-over:
			t.Error("a count that was ended is over")
		case <-time.After(2 * all):
		}
		if time.Since(began) != 2*all {
			t.Error("the count went on")
		}
	})
}
