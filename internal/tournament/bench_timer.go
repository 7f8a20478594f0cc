// Timers and microtasks, used from the loop itself.

package tournament

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

const batch = 128 // operations in one task, so that a loop which defers work to its next tick is not asked to defer all of it

// onTimers measures an operation on the timers of a loop that has others pending.
func onTimers(op func(*bench, loopapi.TimerScheduler), pending int) func(*testing.B, Contestant) {
	return func(b *testing.B, c Contestant) {
		b.ReportAllocs()
		r := start(b, c)
		timers := r.timers()
		r.pend(timers, pending)
		b.ResetTimer()
		op(r, timers)
		r.wait()
	}
}

// inRuntime measures an operation on the runtime's timers, of which others are pending.
func inRuntime(op func(*testing.B), pending int) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for i := range pending {
			t := time.AfterFunc(later(i, pending), func() {})
			defer t.Stop()
		}
		b.ResetTimer()
		op(b)
		b.StopTimer()
	}
}

// later spreads n timers over an hour that begins after the benchmark is over.
func later(i, n int) time.Duration {
	return 10*time.Minute + time.Duration(float64(i)/float64(n)*float64(time.Hour))
}

// delays are the timeouts that are scheduled and cancelled, from the same hour as the timers that stay pending.
var delays = func() (d [1024]time.Duration) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range d {
		d[i] = later(rng.IntN(len(d)), len(d))
	}
	return d
}()

// pend leaves n timers pending that do not fire.
func (r *bench) pend(timers loopapi.TimerScheduler, n int) {
	i := 0
	nothing := func() {}
	var task func()
	task = func() {
		for end := min(i+batch, n); i < end; i++ {
			if _, err := timers.ScheduleTimer(later(i, n), nothing); err != nil {
				r.fail(err)
				return
			}
		}
		if i == n {
			r.done()
			return
		}
		r.onLoop(r.Submit(task))
	}
	r.submit(task)
	r.wait()
}

func cancelOnLoop(r *bench, timers loopapi.TimerScheduler) {
	i, n := 0, r.b.N
	nothing := func() {}
	var task func()
	task = func() {
		for end := min(i+batch, n); i < end; i++ {
			id, err := timers.ScheduleTimer(delays[i%len(delays)], nothing)
			if err == nil {
				err = timers.CancelTimer(id)
			}
			if err != nil {
				r.fail(err)
				return
			}
		}
		if i == n {
			// One more task: if the loop has deferred a part of the work to its next tick, that part is measured, too.
			r.onLoop(r.Submit(r.done))
			return
		}
		r.onLoop(r.Submit(task))
	}
	r.submit(task)
}

func cancelInRuntime(b *testing.B) {
	nothing := func() {}
	for i := range b.N {
		time.AfterFunc(delays[i%len(delays)], nothing).Stop()
	}
}

func fireOnLoop(r *bench, timers loopapi.TimerScheduler) {
	n := r.b.N
	var fire func()
	arm := func() {
		_, err := timers.ScheduleTimer(0, fire)
		r.onLoop(err)
	}
	fire = func() {
		if n--; n == 0 {
			r.done()
			return
		}
		arm()
	}
	r.submit(arm)
}

func fireInRuntime(b *testing.B) {
	n, fired := b.N, make(chan struct{})
	var fire func()
	fire = func() {
		if n--; n == 0 {
			close(fired)
			return
		}
		time.AfterFunc(0, fire)
	}
	time.AfterFunc(0, fire)
	<-fired
}

// This many requests are under way at any time. All have the same timeout, so that the timer of the oldest would fire first. Most
// are answered in the order in which they came.
const (
	underWay = 1000
	timeout  = 30 * time.Minute
)

func timeoutsOnLoop(r *bench, timers loopapi.TimerScheduler) {
	i, n := 0, r.b.N
	nothing := func() {}
	ids := make([]loopapi.TimerID, underWay)
	var task func()
	task = func() {
		for end := min(i+batch, n); i < end; i++ {
			slot := i % underWay
			if i >= underWay {
				r.onLoop(timers.CancelTimer(ids[slot]))
			}
			id, err := timers.ScheduleTimer(timeout, nothing)
			if err != nil {
				r.fail(err)
				return
			}
			ids[slot] = id
		}
		if i == n {
			r.onLoop(r.Submit(r.done)) // as in cancelOnLoop
			return
		}
		r.onLoop(r.Submit(task))
	}
	r.submit(task)
}

func timeoutsInRuntime(b *testing.B) {
	nothing := func() {}
	timers := make([]*time.Timer, underWay)
	for i := range b.N {
		slot := i % underWay
		if i >= underWay {
			timers[slot].Stop()
		}
		timers[slot] = time.AfterFunc(timeout, nothing)
	}
}

// latenessOnLoop keeps some timers pending, each for one to three milliseconds, on a loop that has nothing else to do.
func latenessOnLoop(b *testing.B, c Contestant) {
	r := start(b, c)
	timers := r.timers()
	lateness(b, r.done, func(delay time.Duration, fn func()) {
		_, err := timers.ScheduleTimer(delay, fn)
		r.onLoop(err)
	}, r.submit, r.wait)
}

// latenessInRuntime uses the runtime's timers. Their callbacks run on goroutines of their own, and a lock makes them run one
// at a time, as a loop's callbacks do without a lock.
func latenessInRuntime(b *testing.B) {
	var mu sync.Mutex
	over := make(chan struct{})
	locked := func(fn func()) {
		mu.Lock()
		defer mu.Unlock()
		fn()
	}
	lateness(b, func() { close(over) }, func(delay time.Duration, fn func()) {
		time.AfterFunc(delay, func() { locked(fn) })
	}, locked, func() { <-over })
}

// lateness has b.N timers fire, and reports how late they do. run calls a function in the place from which schedule may be
// called; the callbacks of schedule run there, too, one at a time.
func lateness(b *testing.B, done func(), schedule func(time.Duration, func()), run func(func()), wait func()) {
	const pending = 16
	rng := rand.New(rand.NewPCG(1, 2))
	var h histogram
	left := b.N
	var arm func()
	arm = func() {
		if left == 0 {
			return
		}
		left--
		delay := time.Millisecond + time.Duration(rng.IntN(int(2*time.Millisecond)))
		due := time.Now().Add(delay)
		schedule(delay, func() {
			h.record(time.Since(due))
			if h.n == b.N {
				done()
				return
			}
			arm()
		})
	}
	b.ResetTimer()
	run(func() {
		for range pending {
			arm()
		}
	})
	wait()
	b.StopTimer()
	h.report(b)
}

func microtaskChain(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	microtasks := r.microtasks()
	n := b.N
	var link func()
	link = func() {
		if n--; n == 0 {
			r.done()
			return
		}
		r.onLoop(microtasks.ScheduleMicrotask(link))
	}
	b.ResetTimer()
	r.submit(func() { r.onLoop(microtasks.ScheduleMicrotask(link)) })
	r.wait()
}
