package js_test

// Timers under load: at Shutdown, in great numbers, from many goroutines, and what they leave behind.

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/garbage"
)

// A burst of immediates leaves no memory behind.
func TestIdleAdapterKeepsLittleRoom(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		runs := 0
		w.run(func() {
			for range 5000 {
				w.immediate(func() { runs++ })
			}
			w.timeout(1, func() {
				if room := w.Room(); runs != 5000 || room > 2048 {
					t.Errorf("after %d immediates there is room for %d", runs, room)
				}
			})
		})
	})
}

// A timer that was due, and waited for the immediate that shuts the loop down, is dropped like all others.
func TestLateTimersAtShutdown(t *testing.T) {
	loop, err := eventloop.New(eventloop.WithTickBudget(1), eventloop.WithOnOverload(func(error) {}))
	require.NoError(t, err)
	j, err := js.New(loop)
	require.NoError(t, err)
	var order []string
	say := func(s string) func() { return func() { order = append(order, s) } }
	require.NoError(t, loop.Submit(func() { // and more tasks wait than run in a tick, so that the timers' is next
		_, err := j.SetTimeout(say("never"), 0)
		require.NoError(t, err)
		_, err = j.SetImmediate(func() {
			say("immediate")()
			require.NoError(t, loop.Shutdown(context.Background()))
		})
		require.NoError(t, err)
	}))
	require.NoError(t, loop.Submit(say("task")))
	require.NoError(t, loop.Run(context.Background()))
	require.Equal(t, []string{"immediate", "task"}, order)
}

// Due timers that wait for immediates are bounded by time like all others: thousands that take long do not keep the loop's
// other work waiting.
func TestLateTimersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, eventloop.WithTickBudget(1), eventloop.WithOnOverload(func(error) {}))
		const timers = 3000
		ran, worst := 0, time.Duration(0)
		w.run(func() {
			w.must(0, w.loop.Submit(w.says("task")))
			w.immediate(w.says("immediate"))
			w.must(0, w.loop.Submit(w.says("task")))
			for range timers {
				w.timeout(0, func() { time.Sleep(100 * time.Microsecond); ran++ })
			}
			due := time.Now()
			var probe func()
			probe = func() {
				if worst = max(worst, time.Since(due)); ran < timers {
					due = time.Now().Add(time.Millisecond)
					_, err := w.loop.ScheduleTimer(time.Millisecond, probe)
					w.must(0, err)
				}
			}
			probe()
		})
		w.want("immediate", "task", "task")
		require.Equal(t, timers, ran)
		require.Less(t, worst, 20*time.Millisecond)
	})
}

// Timers and immediates that were cleared or have run are garbage while loop and adapter live on.
func TestNothingIsKept(t *testing.T) {
	loop, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.loop.Close()
	if w.JS, err = js.New(loop); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	ended := make(chan error)
	go func() { ended <- loop.Run(context.Background()) }()
	type load [1024]byte
	var held []weak.Pointer[load]
	var cleared []func()
	set := func(set func(fn func()) func()) {
		l := new(load)
		held = append(held, weak.Make(l))
		cleared = append(cleared, set(func() { l[0]++ }))
	}
	for range 20 {
		set(func(fn func()) func() { id := w.timeout(1e8, fn); return func() { w.ClearTimeout(id) } })
		set(func(fn func()) func() { id := w.interval(1e8, fn); return func() { w.ClearInterval(id) } })
		set(func(fn func()) func() { id := w.immediate(fn); return func() { w.ClearImmediate(id) } })
		set(func(fn func()) func() { w.timeout(0, fn); return func() {} })
		set(func(fn func()) func() { w.immediate(fn); return func() {} })
		set(func(fn func()) func() { w.microtask(fn); return func() {} })
		set(func(fn func()) func() { w.tick(fn); return func() {} })
	}
	if n := runtime.NumGoroutine(); n > before+10 { // the runtime has one of its own for cleanups at times
		t.Errorf("%d goroutines became %d", before, n)
	}
	for _, clear := range cleared {
		clear()
	}
	ran := make(chan struct{}) // the timers and tasks from before have run
	w.timeout(1, func() { w.immediate(func() { close(ran) }) })
	<-ran
	for i, p := range held {
		if !garbage.Taken(p) {
			t.Fatalf("%d is kept", i)
		}
	}
	runtime.KeepAlive(w.JS)
	loop.Shutdown(context.Background())
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// askingLoop calls the adapter whenever that calls the loop from another goroutine, as callbacks of the loop may do.
type askingLoop struct {
	js.Loop
	ask func()
}

func (l *askingLoop) asks() {
	if l.ask != nil && !l.OnLoop() {
		l.ask()
	}
}

func (l *askingLoop) Submit(fn func()) error { l.asks(); return l.Loop.Submit(fn) }

func (l *askingLoop) ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error) {
	l.asks()
	return l.Loop.ScheduleTimer(delay, fn)
}

func (l *askingLoop) CancelTimer(id eventloop.TimerID) error { l.asks(); return l.Loop.CancelTimer(id) }

func (l *askingLoop) RefTimer(id eventloop.TimerID) error { l.asks(); return l.Loop.RefTimer(id) }

func (l *askingLoop) UnrefTimer(id eventloop.TimerID) error { l.asks(); return l.Loop.UnrefTimer(id) }

// A call of the loop may give way to the loop's own callbacks; so during it the adapter holds no lock that these want.
func TestNoLockIsHeldOverTheLoop(t *testing.T) {
	w := newWorld(t)
	loop := &askingLoop{Loop: w.loop}
	j, err := js.New(loop)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	loop.ask = func() {
		asked++
		answered := make(chan struct{})
		go func() {
			j.HasRef(1)
			close(answered)
		}()
		if !beat.Wait(answered) {
			t.Error("the adapter calls the loop with its lock held")
		}
	}
	nothing := func() {}
	id, err := j.SetTimeout(nothing, 1e6)
	immediate, err2 := j.SetImmediate(nothing)
	interval, err3 := j.SetInterval(nothing, 1e6)
	j.Unref(id)
	j.Ref(id)
	j.Unref(id)
	err4 := j.Refresh(id)
	j.ClearTimeout(id)
	j.ClearInterval(interval)
	j.ClearImmediate(immediate)
	if err := errors.Join(err, err2, err3, err4); err != nil || t.Failed() {
		t.Fatal(err)
	}
	if asked < 10 {
		t.Errorf("the loop was called %d times", asked)
	}
	w.run(nothing)
}

// full is a loop that has room for so many timers more.
type full struct {
	*eventloop.Loop
	room *int
}

func (f full) ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error) {
	if *f.room--; *f.room < 0 {
		return 0, eventloop.ErrLoopOverloaded
	}
	return f.Loop.ScheduleTimer(delay, fn)
}

// A timer that the loop refuses is gone, and its caller is told; if that is the loop, its handler of panics.
func TestRefusedTimers(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var err error
		room := 2
		if w.JS, err = js.New(full{w.loop, &room}); err != nil {
			t.Fatal(err)
		}
		w.run(func() {
			id := w.timeout(10, w.says("never"))
			w.interval(5, func() { w.sayTime("i") })
			if err := w.Refresh(id); err != eventloop.ErrLoopOverloaded {
				t.Errorf("Refresh: %v", err)
			}
			if timers, _ := w.Held(); timers != 1 {
				t.Errorf("%d timers are left, want the interval", timers)
			}
		})
		w.want("i@5")
		if timers, _ := w.Held(); timers != 0 || len(w.faults) != 1 || w.faults[0].Value != eventloop.ErrLoopOverloaded {
			t.Errorf("%d timers are left; faults: %v", timers, w.faults)
		}
	})
}
