package js_test

// Tests of timers: delays, intervals, clears.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// The table is Web IDL's conversion to long, and what the HTML standard does with it.
func TestCoercion(t *testing.T) {
	for _, c := range []struct {
		ms   float64
		want time.Duration // in milliseconds
	}{
		{0, 0}, {math.Copysign(0, -1), 0}, {1, 1}, {4, 4}, {0.9, 0}, {1.999, 1}, {-0.9, 0}, {-1, 0}, {-1e9, 0},
		{math.NaN(), 0}, {math.Inf(1), 0}, {math.Inf(-1), 0},
		{1<<31 - 1, 1<<31 - 1}, {1<<31 - 0.5, 1<<31 - 1}, {1 << 31, 0}, {1<<31 + 5, 0}, {1<<32 - 1, 0}, {1 << 32, 0}, {1<<32 + 5, 5},
		{-(1 << 31) - 1, 1<<31 - 1}, {-(1 << 32) + 7, 7}, {1 << 53, 0}, {1<<53 - 1, 0}, {math.MaxFloat64, 0}, {math.SmallestNonzeroFloat64, 0},
	} {
		if got := js.Coerce(c.ms); got != c.want*time.Millisecond {
			t.Errorf("%v ms became %v, want %d ms", c.ms, got, c.want)
		}
	}
}

func TestFollowing(t *testing.T) {
	for _, c := range []struct{ due, now, period, want time.Duration }{
		{5, 5, 5, 10}, {5, 7, 5, 10}, {5, 10, 5, 10}, {5, 11, 5, 15}, {5, 15, 5, 15}, {5, 16, 5, 20}, {5, 1 << 60, 5, 1<<60/5*5 + 5},
		{5, 5, 0, 5}, {5, 9, 0, 9},
	} {
		if got := js.Following(c.due, c.now, c.period); got != c.want {
			t.Errorf("after %d at %d with a period of %d: %d, want %d", c.due, c.now, c.period, got, c.want)
		}
	}
}

func TestOddDelaysFire(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			for _, ms := range []float64{0, -1, math.NaN(), math.Inf(1), 1 << 31} {
				w.timeout(ms, func() { w.sayTime("t") })
				var id js.ID
				id = w.interval(ms, func() { w.sayTime("i"); w.ClearInterval(id) })
			}
			w.timeout(1<<31-1, func() { w.sayTime("last") })
		})
		w.want("t@0", "i@0", "t@0", "i@0", "t@0", "i@0", "t@0", "i@0", "t@0", "i@0", "last@2.147483647e+09")
	})
}

// A delay counts from the call, not from when the loop last looked at the clock.
func TestTimersAreNotEarly(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			r := w.timeout(9, func() { w.sayTime("refreshed") })
			go func() {
				w.busy(3)
				w.timeout(6, func() { w.sayTime("elsewhere") })
			}()
			w.busy(7)
			w.timeout(5, func() { w.sayTime("timeout") })
			var i js.ID
			i = w.interval(6, func() { w.sayTime("interval"); w.ClearInterval(i) })
			w.must(r, w.Refresh(r))
		})
		w.want("elsewhere@9", "timeout@12", "interval@13", "refreshed@16")
	})
}

// Timers of a nesting level above five wait 4 ms; the first timer has level 0 as the standard counts.
func TestNodeTimers(t *testing.T) {
	for _, c := range []struct {
		ms   float64
		want time.Duration // in milliseconds
	}{
		{0, 1}, {-1, 1}, {0.9, 1}, {1, 1}, {1.9, 1}, {2, 2}, {math.NaN(), 1}, {math.Inf(1), 1}, {math.Inf(-1), 1},
		{1<<31 - 1, 1<<31 - 1}, {1 << 31, 1}, {1<<32 + 5, 1}, {math.MaxFloat64, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			loop, err := eventloop.New(eventloop.WithAutoExit(true))
			if err != nil {
				t.Fatal(err)
			}
			j, err := js.New(loop, js.WithNodeTimers())
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			const nested = 9
			n := 0
			var nest func()
			nest = func() {
				if n++; n < nested {
					j.SetTimeout(nest, c.ms)
				}
			}
			j.SetTimeout(nest, c.ms)
			if err := loop.Run(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); n != nested || took != nested*c.want*time.Millisecond {
				t.Errorf("%v ms: %d timers took %v, want %d ms each", c.ms, n, took, c.want)
			}
		})
	}
}

func TestNestedTimersAreClamped(t *testing.T) {
	want := []string{"0@0", "1@0", "2@0", "3@0", "4@0", "5@0", "6@4", "7@8", "8@12"}
	t.Run("timeouts", func(t *testing.T) {
		virtual(t, func(t *testing.T, w *world) {
			n := 0
			var nest func()
			nest = func() {
				w.sayTime(fmt.Sprint(n))
				if n++; n < len(want) {
					w.timeout(0, nest)
				}
			}
			w.run(func() { w.timeout(0, nest) })
			w.want(want...)
		})
	})
	t.Run("interval", func(t *testing.T) {
		virtual(t, func(t *testing.T, w *world) {
			w.run(func() {
				n := 0
				var id js.ID
				id = w.interval(0, func() {
					w.sayTime(fmt.Sprint(n))
					if n++; n == len(want) {
						w.ClearInterval(id)
					}
				})
			})
			w.want(want...)
		})
	})
	t.Run("not through others", func(t *testing.T) { // a microtask or a task is nobody's nested timer; nor is what follows a panic
		virtual(t, func(t *testing.T, w *world) {
			n := 0
			var nest func()
			nest = func() {
				if n++; n < 20 {
					w.microtask(func() { w.timeout(0, nest) })
				} else if n < 40 {
					w.immediate(func() { w.timeout(0, nest) })
				} else if n < 60 {
					w.loop.Submit(func() { w.timeout(0, nest) })
					panic(n)
				}
			}
			w.run(func() { w.timeout(0, nest) })
			w.sayTime(fmt.Sprint(n))
			w.want("60@0")
		})
	})
	t.Run("longer ones are not", func(t *testing.T) {
		virtual(t, func(t *testing.T, w *world) {
			n := 0
			var nest func()
			nest = func() {
				if n++; n < 10 {
					w.timeout(5, nest)
				}
			}
			w.run(func() { w.timeout(5, nest) })
			w.sayTime("end")
			w.want("end@50")
		})
	})
}

func TestIntervalDoesNotDrift(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		n := 0
		w.run(func() {
			var id js.ID
			id = w.interval(5, func() {
				n++
				if at, want := time.Since(w.begin), time.Duration(n)*5*time.Millisecond; at != want {
					t.Errorf("run %d at %v, want %v", n, at, want)
				}
				if w.busy(2); n == 1000 || t.Failed() {
					w.ClearInterval(id)
				}
			})
		})
		if n != 1000 {
			t.Errorf("%d runs", n)
		}
	})
}

func TestIntervalSurvivesPanics(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			n := 0
			var id js.ID
			id = w.interval(5, func() {
				if n++; n == 4 {
					w.ClearInterval(id)
				}
				if n == 2 {
					runtime.Goexit()
				}
				panic(n)
			})
			w.timeout(1, func() { panic("once") })
		})
		var values []any
		for _, f := range w.faults {
			values = append(values, f.Value)
		}
		if got := fmt.Sprint(values); got != fmt.Sprint([]any{"once", 1, eventloop.ErrGoexit, 3, 4}) {
			t.Error(got)
		}
	})
}

func TestRefreshAndClear(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var a, i js.ID
		w.run(func() {
			a = w.timeout(10, func() { w.sayTime("a") })
			w.timeout(6, func() { w.must(a, w.Refresh(a)) })
			n := 0
			i = w.interval(20, func() {
				w.sayTime("i")
				switch n++; n {
				case 1:
					w.busy(3)
					w.must(i, w.Refresh(i))
				case 3:
					w.must(i, w.Refresh(i))
					w.ClearInterval(i)
					if err := w.Refresh(i); !errors.Is(err, js.ErrNoTimer) {
						t.Errorf("Refresh of a cleared timer: %v", err)
					}
				}
			})
			w.timeout(50, func() { // due together: the first clears itself and the second, which another refreshed
				b := w.timeout(5, w.says("never"))
				w.timeout(5, func() { w.ClearTimeout(b) })
				w.must(b, w.Refresh(b))
			})
		})
		w.want("a@16", "i@20", "i@43", "i@63")
		for _, id := range []js.ID{a, i, 0, 12345} {
			if err := w.Refresh(id); !errors.Is(err, js.ErrNoTimer) {
				t.Errorf("Refresh(%d): %v", id, err)
			}
			w.ClearTimeout(id)
			w.ClearInterval(id)
			w.ClearImmediate(id)
			w.Ref(id)
			w.Unref(id)
			if w.HasRef(id) {
				t.Errorf("%d has a ref", id)
			}
		}
	})
}

// deaf is a loop that is always about to fire the timer that is to be cancelled.
type deaf struct{ *eventloop.Loop }

func (deaf) CancelTimer(eventloop.TimerID) error { return eventloop.ErrTimerNotFound }

// A timer that is taken back while the loop is about to call it does not run, and one that is rescheduled runs once, at
// its new time.
func TestTakenBackWhileFiring(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var err error
		if w.JS, err = js.New(deaf{w.loop}); err != nil {
			t.Fatal(err)
		}
		w.run(func() {
			a := w.timeout(10, func() { w.sayTime("a") })
			cleared := w.timeout(10, w.says("cleared"))
			w.timeout(6, func() { w.must(a, w.Refresh(a)); w.ClearTimeout(cleared) })
			w.timeout(8, func() { w.must(a, w.Refresh(a)) })
		})
		w.want("a@18")
	})
}

// Unref holds over the runs of an interval and over refreshing.
func TestUnrefLasts(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			var id js.ID
			id = w.interval(5, func() { w.sayTime("i"); w.Unref(id) })
			other := w.timeout(1000, w.says("never"))
			w.Unref(other)
			w.must(other, w.Refresh(other))
			w.timeout(12, func() { w.sayTime("end") })
		})
		w.want("i@5", "i@10", "end@12")
	})
}

func TestIDs(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		seen := map[js.ID]bool{}
		w.run(func() {
			for range 100 {
				for _, id := range []js.ID{w.timeout(1, func() {}), w.immediate(func() {}), w.interval(1, func() {})} {
					if id == 0 || id > 1<<53-1 || seen[id] {
						t.Errorf("id %d", id)
					}
					seen[id] = true
					w.ClearTimeout(id)
				}
			}
			w.SetLastID(js.MaxID - 2)
			if id := w.timeout(1, w.says("timer")); id != 1<<53-2 {
				t.Errorf("id %d", id)
			}
			if id := w.immediate(w.says("immediate")); id != 1<<53-1 {
				t.Errorf("id %d", id)
			}
			for range 3 {
				_, timeout := w.SetTimeout(func() {}, 1)
				_, interval := w.SetInterval(func() {}, 1)
				_, immediate := w.SetImmediate(func() {})
				for _, err := range []error{timeout, interval, immediate} {
					if !errors.Is(err, js.ErrIDsExhausted) {
						t.Error(err)
					}
				}
			}
		})
		w.want("immediate", "timer")
	})
}

// Refreshes, refs and firings at once: a timer fires behind its last refresh, and no more often than it is set.
func TestRefreshAtOnce(t *testing.T) {
	w := newWorld(t)
	release := w.loop.Hold()
	go w.loop.Run(context.Background())
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for i := range rounds {
		var fired, refreshed atomic.Int64
		id, err := w.SetTimeout(func() { fired.Add(1) }, float64(i%3))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					w.Unref(id)
					switch err := w.Refresh(id); {
					case err == nil:
						refreshed.Add(1)
					case !errors.Is(err, js.ErrNoTimer):
						t.Error(err)
					}
					w.Ref(id)
				}
			})
		}
		all.Wait()
		for w.HasRef(id) { // until it has run
			runtime.Gosched()
		}
		if n := fired.Load(); n < 1 || n > 1+refreshed.Load() {
			t.Fatalf("it has fired %d times, with %d refreshes", n, refreshed.Load())
		}
	}
	release()
	<-w.loop.Done()
}
