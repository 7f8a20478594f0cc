// Timers and microtasks, used from the loop itself.

package tournament

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

const batch = 128 // operations in one task, so that a loop which defers work to its next tick is not asked to defer all of it

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Timer", Category: Timers, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op: "one timer scheduled and cancelled, or scheduled and fired",
			Measures: "on the loop, with 0 to 1000000 other timers pending over the next hour; with op=timeout the oldest of 1000 equal " +
				"timeouts is cancelled and another scheduled",
			Why: "every request has a timeout, nearly all are cancelled, and a busy server holds very many",
			// What scheduled so many others has left garbage, which is collected meanwhile.
			Needs: []record.Need{{Variant: "op=cancel/pending=1000000", Window: aWhile}, {Variant: "op=fire/pending=1000000", Window: aWhile}},
		},
		Variants: timerVariants(),
	})
}

func timerVariants() (variants []Variant) {
	all := []int{0, 1_000, 100_000, 1_000_000}
	for _, op := range []struct {
		name     string
		pendings []int
		loop     func(*bench, loopapi.TimerScheduler)
		runtime  func(*testing.B)
	}{
		{"cancel", all, cancelOnLoop, cancelInRuntime},
		{"fire", all, fireOnLoop, fireInRuntime},
		{"timeout", all[1:2], timeoutsOnLoop, timeoutsInRuntime},
	} {
		for _, pending := range op.pendings {
			long := ""
			switch {
			case pending == 0:
				long = "a thousand others are enough for a glance"
			case pending > 1000:
				long = "to schedule so many timers takes longer than a glance"
			}
			variants = append(variants, Variant{
				Name: fmt.Sprintf("op=%s/pending=%d", op.name, pending), Core: true, Long: long,
				Run: func(b *testing.B, c Contestant) {
					b.ReportAllocs()
					r := start(b, c)
					timers := r.timers()
					r.pend(timers, others(b, pending))
					b.ResetTimer()
					op.loop(r, timers)
					r.wait()
				},
				Controls: map[string]func(*testing.B){RuntimeControl: func(b *testing.B) {
					b.ReportAllocs()
					pending := others(b, pending)
					for i := range pending {
						t := time.AfterFunc(later(i, pending), func() {})
						defer t.Stop()
					}
					b.ResetTimer()
					op.runtime(b)
					b.StopTimer()
				}},
			})
		}
	}
	return variants
}

// others returns how many other timers are pending during the benchmark.
func others(b *testing.B, pending int) int {
	switch {
	case probing(b):
		return 0
	case testing.Short():
		return min(pending, 10_000)
	}
	return pending
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

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "TimerLateness", Category: Timers, Units: []string{"p50-ns/op", "p99-ns/op", "ns/op"},
			Op:       "one timer",
			Measures: "how long after its deadline a timer fires, of 16 that are always pending for 1 to 3 ms, on a loop that has nothing else to do",
			Why:      "polling, pacing and animation want the moment that they asked for",
			// A window shorter than a few of the delays would show the first timers only.
			Needs: []record.Need{{Window: 20 * time.Millisecond, Values: 1000}},
		},
		Variants: []Variant{{
			Core: true, Run: latenessOnLoop, Controls: map[string]func(*testing.B){RuntimeControl: latenessInRuntime},
		}},
	})
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

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Microtask", Category: Microtasks, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one microtask",
			Measures: "microtasks that queue their successor, and tasks that queue 1000 microtasks each",
			Why:      "every promise reaction is a microtask",
		},
		Variants: []Variant{{Name: "kind=chain", Run: microtaskChain}, {Name: "kind=fanout", Run: microtaskFanout}},
	})
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

func microtaskFanout(b *testing.B, c Contestant) {
	const width = 1000
	b.ReportAllocs()
	r := start(b, c)
	microtasks := r.microtasks()
	n, left := b.N, 0
	var fan, microtask func()
	fan = func() {
		left = min(n, width)
		n -= left
		for range left {
			r.onLoop(microtasks.ScheduleMicrotask(microtask))
		}
	}
	microtask = func() {
		if left--; left > 0 {
			return
		}
		if n > 0 {
			r.onLoop(r.Submit(fan))
			return
		}
		r.done()
	}
	b.ResetTimer()
	r.submit(fan)
	r.wait()
}
