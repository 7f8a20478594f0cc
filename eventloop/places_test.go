package eventloop_test

// Debug mode tells of each callback where it comes from.

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/internal/garbage"
)

// Functions that queue a callback: their names are looked for in its place.
func placeOfTask(l *eventloop.Loop, fn func())      { _ = l.Submit(fn) }
func placeOfInternal(l *eventloop.Loop, fn func())  { _ = l.SubmitInternal(fn) }
func placeOfMicrotask(l *eventloop.Loop, fn func()) { _ = l.ScheduleMicrotask(fn) }
func placeOfTick(l *eventloop.Loop, fn func())      { _ = l.NextTick(fn) }
func placeOfTimer(l *eventloop.Loop, fn func())     { _, _ = l.ScheduleTimer(0, fn) }
func placeOfThen(p *eventloop.Promise, fn func()) {
	p.Then(func(any) (any, error) { fn(); return nil, nil }, nil)
}
func placeOfCatch(p *eventloop.Promise, fn func()) {
	p.Catch(func(error) (any, error) { fn(); return nil, nil })
}
func placeOfFinally(p *eventloop.Promise, fn func()) {
	p.Finally(func() error { fn(); return nil })
}
func placeOfSleep(l *eventloop.Loop) { flow.Sleep(context.Background(), l, time.Hour) }
func placeOfCall(l *eventloop.Loop, fn func()) {
	_ = flow.Exec(context.Background(), l, func() error { fn(); return nil })
}
func placeOfEvery(l *eventloop.Loop, fn func()) *flow.Ticker {
	ticker, _ := flow.Every(l, time.Millisecond, fn)
	return ticker
}

// The running callback has the place of the call that has queued it, whichever call that was and wherever it was made: of a
// promise's handler where it was attached, although the promise is settled elsewhere.
func TestPlacesOfCallbacks(t *testing.T) {
	l := observed(t, eventloop.WithDebug(true))
	handler := func(attach func(*eventloop.Promise, func()), settle func(resolve func(any), reject func(error))) func(*eventloop.Loop, func()) {
		return func(l *eventloop.Loop, fn func()) {
			p, resolve, reject := l.NewPromise()
			attach(p, fn)
			settle(resolve, reject)
		}
	}
	for name, queue := range map[string]func(*eventloop.Loop, func()){
		"placeOfTask":      placeOfTask,
		"placeOfInternal":  placeOfInternal,
		"placeOfMicrotask": placeOfMicrotask,
		"placeOfTick":      placeOfTick,
		"placeOfTimer":     placeOfTimer,
		"placeOfThen":      handler(placeOfThen, func(resolve func(any), _ func(error)) { resolve(nil) }),
		"placeOfCatch":     handler(placeOfCatch, func(_ func(any), reject func(error)) { reject(errWork) }),
		"placeOfFinally": func(l *eventloop.Loop, fn func()) {
			placeOfFinally(l.Promisify(context.Background(), func(context.Context) (any, error) { return nil, nil }), fn)
		},
	} {
		for _, onLoop := range []bool{false, true} {
			running := make(chan eventloop.Activity, 1)
			do := func() { queue(l, func() { running <- l.Active()[0] }) }
			if onLoop {
				require.NoError(t, l.Submit(do))
			} else {
				do()
			}
			a := <-running
			require.Equal(t, "running", a.Name, name)
			require.Contains(t, a.Detail, "eventloop_test."+name+" at places_test.go:", "on the loop: %v", onLoop)
		}
	}
}

// What a callback of the package itself queues comes from where that callback does.
func TestPlacesAreHandedOn(t *testing.T) {
	l := observed(t, eventloop.WithDebug(true))
	running := make(chan eventloop.Activity)
	ended := make(chan struct{})
	ticker := placeOfEvery(l, func() {
		select {
		case running <- l.Active()[0]:
		case <-ended:
		}
	})
	for range 3 {
		require.Contains(t, (<-running).Detail, "placeOfEvery at places_test.go:")
	}
	ticker.Stop()
	close(ended)
}

// A wait is listed where it was made, and a question runs as asked there.
func TestPlacesOfWaitsAndQuestions(t *testing.T) {
	l := observed(t, eventloop.WithDebug(true))
	placeOfSleep(l)
	require.Contains(t, l.Active()[0].String(), "placeOfSleep at places_test.go:")
	running := make(chan eventloop.Activity, 1)
	placeOfCall(l, func() { running <- l.Active()[0] })
	require.Contains(t, (<-running).String(), "placeOfCall at places_test.go:")
}

// After a burst of timers debug mode keeps nothing of what it has noted of them.
func TestPlacesLeaveNoMemory(t *testing.T) {
	l, err := eventloop.New(eventloop.WithDebug(true))
	require.NoError(t, err)
	defer l.Close()
	ids := make([]eventloop.TimerID, 100_000)
	before := garbage.Heap()
	for i := range ids {
		ids[i], err = l.ScheduleTimer(time.Hour, func() {})
		require.NoError(t, err)
	}
	for _, id := range ids {
		require.NoError(t, l.CancelTimer(id))
	}
	require.True(t, garbage.Until(func() bool { return garbage.Heap() < before+1<<20 }))
	runtime.KeepAlive(ids)
}
