// Timers and microtasks, used from the loop itself.

package tournament_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/tournament"
)

const batch = 128 // operations in one task, so that a loop which defers work to its next turn is not asked to defer all of it

func BenchmarkTimer(b *testing.B) {
	ops := []struct {
		name    string
		loop    func(*bench, loopapi.TimerScheduler)
		runtime func(*testing.B)
	}{
		{"cancel", cancelOnLoop, cancelInRuntime},
		{"fire", fireOnLoop, fireInRuntime},
	}
	pendings := []int{0, 1_000, 100_000, 1_000_000}
	cells := func(b *testing.B, cell func(b *testing.B, op, pending int)) {
		for op := range ops {
			for _, pending := range pendings {
				b.Run(fmt.Sprintf("op=%s/pending=%d", ops[op].name, pending), func(b *testing.B) {
					b.ReportAllocs()
					switch {
					case probing(b):
						cell(b, op, 0)
					case testing.Short():
						cell(b, op, min(pending, 10_000))
					default:
						cell(b, op, pending)
					}
				})
			}
		}
	}
	each(b, func(b *testing.B, c tournament.Contestant) {
		cells(b, func(b *testing.B, op, pending int) {
			r := start(b, c)
			timers := r.timers()
			r.pend(timers, pending)
			b.ResetTimer()
			ops[op].loop(r, timers)
			r.wait()
		})
	})
	b.Run("impl="+tournament.RuntimeControl, func(b *testing.B) {
		cells(b, func(b *testing.B, op, pending int) {
			for i := range pending {
				t := time.AfterFunc(later(i, pending), func() {})
				defer t.Stop()
			}
			b.ResetTimer()
			ops[op].runtime(b)
			b.StopTimer()
		})
	})
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
			// One turn more: what was only deferred so far is part of the price.
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

func BenchmarkMicrotask(b *testing.B) {
	each(b, func(b *testing.B, c tournament.Contestant) {
		b.Run("kind=chain", func(b *testing.B) {
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
		})
		b.Run("kind=fanout", func(b *testing.B) {
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
		})
	})
}
