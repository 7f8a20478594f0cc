package looptest

// Siege: goroutines that submit for ever and as fast as they can, and long bursts. All other work must make progress, and the end
// must come. How soon is counted in functions.

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// besiegers is the number of goroutines of a flood.
const besiegers = 4

// mostAhead is how many functions of a flood may run before one of another kind that was accepted meanwhile: many ticks full.
// What hands it over may be kept from its processor for a while, so one attempt of several counts.
func mostAhead(lane int) int64 {
	if lane == internal {
		return 1 << 19
	}
	return 1 << 17
}

// flood is a set of goroutines that submit functions of one kind without end. Together they are faster than the loop, so
// that its queue is never empty. They go on after a refusal.
type flood struct {
	l     *loop
	k     kind
	from  [besiegers]besieger
	done  []<-chan struct{} // closed when the goroutines have ended
	stop  atomic.Bool
	ended atomic.Bool  // refusals are expected
	shut  atomic.Bool  // the end was asked for
	late  atomic.Int64 // functions that began after that
}

// besieger holds the counts of one goroutine of a flood.
type besieger struct {
	accepted, ran atomic.Int64
	_             [64]byte
}

// flood starts a flood, and waits until functions of each goroutine have run.
func (l *loop) flood(k kind) *flood {
	t := l.trial
	f := &flood{l: l, k: k}
	t.onCleanup(func() { f.stop.Store(true) })
	for i := range f.from {
		f.done = append(f.done, t.async(func() { f.pour(&f.from[i]) }))
	}
	for i := range f.from {
		t.eventually(func() bool { return f.from[i].ran.Load() > 100 }, "functions of a goroutine that floods the loop with %ss", k.name)
	}
	return f
}

func (f *flood) pour(b *besieger) {
	const most = 1 << 12 // functions that wait: at the bound it yields, which limits the memory
	fn := func() {
		if f.shut.Load() {
			f.late.Add(1)
		}
		b.ran.Add(1)
		toil(500)
	}
	for !f.stop.Load() {
		if b.accepted.Load()-b.ran.Load() >= most {
			runtime.Gosched()
			continue
		}
		switch err := f.k.run(f.l, fn); {
		case err == nil:
			b.accepted.Add(1)
		case !errors.Is(err, loopapi.ErrLoopTerminated) || !f.ended.Load():
			f.l.trial.Errorf("a flood of %ss: %v", f.k.name, err)
			return
		}
	}
}

// toil computes for about n nanoseconds, without reading the clock.
//
//go:noinline
func toil(n int) {
	x := uint32(n) | 1
	for range n / 2 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	runtime.KeepAlive(x) // keeps the compiler from dropping the loop
}

// counts returns the numbers of functions that were accepted so far, and of those that ran.
func (f *flood) counts() (accepted, ran int64) {
	for i := range f.from {
		accepted += f.from[i].accepted.Load()
		ran += f.from[i].ran.Load()
	}
	return accepted, ran
}

// halt ends the flood. If the loop has ended, the flood's goroutines are refused for a moment before that.
func (f *flood) halt() {
	t := f.l.trial
	if f.ended.Load() {
		time.Sleep(time.Millisecond) // meanwhile the goroutines submit to the ended loop
	}
	f.stop.Store(true)
	for _, done := range f.done {
		t.wait(done, "a goroutine that floods the loop with %ss: a call does not return", f.k.name)
	}
}

// relay is a flood that does not depend on speed: the last function of each leg waits until another goroutine has
// submitted the next leg, so that the loop always finds more.
type relay struct {
	l            *loop
	k            kind
	next, handed chan struct{} // a callback asks for the next leg; the goroutine has submitted it
	begun        *latch
	done         <-chan struct{} // closed when the goroutine has ended
	stop, ended  atomic.Bool     // submit no more; refusals are expected
	accepted     int             // only the goroutine touches it
	ran          atomic.Int64
}

// relay starts a relay, and waits until some legs have run. Without stop it goes on until the loop has ended.
func (l *loop) relay(k kind) *relay {
	t := l.trial
	r := &relay{l: l, k: k, next: make(chan struct{}), handed: make(chan struct{}), begun: newLatch(10)}
	t.onCleanup(func() { r.stop.Store(true) })
	r.done = t.async(func() {
		for r.submit(); ; {
			select {
			case <-r.next:
				r.submit()
				r.handed <- struct{}{}
			case <-l.ended:
				return
			}
		}
	})
	t.wait(r.begun.ch, "%ss that another goroutine submits", k.name)
	return r
}

// submit submits one leg: functions of which the last waits for the next leg.
func (r *relay) submit() {
	const leg = 64
	for i := 0; i < leg && !r.stop.Load(); i++ {
		fn := func() { r.ran.Add(1) }
		if i == leg-1 {
			fn = r.handOver
		}
		if err := r.k.run(r.l, fn); err != nil {
			if !r.ended.Load() || !errors.Is(err, loopapi.ErrLoopTerminated) {
				r.l.trial.Errorf("%s from another goroutine: %v", r.k.name, err)
			}
			return
		}
		r.accepted++
	}
}

func (r *relay) handOver() {
	r.ran.Add(1)
	r.begun.done()
	r.next <- struct{}{}
	<-r.handed
}

// besiege has a lane flooded, while fn runs, and closes the loop.
func (l *loop) besiege(lane int, fn func(f *flood, r *relay)) {
	r := l.relay(lanes[lane])
	f := l.flood(lanes[lane])
	fn(f, r)
	r.ended.Store(true)
	f.ended.Store(true)
	l.trial.want("Close", l.Close(), nil)
	f.halt()
	l.returns("", loopapi.ErrLoopTerminated)
	l.trial.wait(r.done, "a goroutine that submits %ss", f.k.name)
}

// unaffected returns the lanes that must make progress in a flood of one. The flooded lane does not, whose functions wait in the same
// queue, nor do tasks in a flood of internal tasks, for which they must wait.
func (l *loop) unaffected(flooded int) (ks []kind) {
	for _, k := range l.available() {
		if k.name != lanes[flooded].name && !(k.name == lanes[external].name && flooded == internal) {
			ks = append(ks, k)
		}
	}
	return ks
}

// siege floods a lane and checks that the other lanes make progress.
func siege(lane int) func(t *trial) {
	return func(t *trial) {
		l := t.start(Config{})
		l.besiege(lane, func(f *flood, r *relay) {
			for _, k := range l.unaffected(lane) {
				l.turn(k, f, r, mostAhead(lane))
			}
		})
	}
}

// turn has a callback of a kind get its turn before too many functions of a flood have run.
func (l *loop) turn(k kind, f *flood, r *relay, most int64) {
	t := l.trial
	const tries = 2
	for range tries {
		var done atomic.Bool
		ahead := func() int64 { _, ran := f.counts(); return ran + r.ran.Load() }
		before := ahead()
		last := before
		t.must(k.name, k.run(l, func() { done.Store(true) }))
		t.eventually(func() bool {
			if now := ahead(); now > last {
				last = now
				t.steps.Add(1) // the count decides, and not how long it takes
			}
			return done.Load() || last > before+most
		}, "a callback of the kind %s, in a flood of %ss", k.name, f.k.name)
		if done.Load() {
			return
		}
	}
	t.Fatalf("a callback of the kind %s has not run when %d functions of a flood of %ss have, again and again", k.name, most, f.k.name)
}

// bursts are finite and queued as a whole before the first function begins. A timer that is due by then must fire after at
// most as many functions as ticks have room for, not after all.
var bursts = []struct {
	lane, n, most int
}{
	{external, 20_480, 3 * 1024},
	{internal, 250_000, 2 * 100_001},
	{microtask, 20_480, 3 * 1024},
}

// siegeBursts lets a timer become due before a long burst of each other lane begins, and then submits tasks in the midst
// of many timers that are due together.
func siegeBursts(t *trial) {
	for _, b := range bursts {
		l := t.start(Config{})
		k := lanes[b.lane]
		if !k.has(l) {
			continue
		}
		g, ran, at := l.hold(), 0, make(chan int, 1) // only the loop touches ran
		due := time.Now().Add(time.Millisecond)
		l.timer(time.Millisecond, func() { at <- ran })
		for range b.n {
			t.must(k.name, k.run(l, func() { ran++ }))
		}
		time.Sleep(time.Until(due) + time.Millisecond)
		g.open()
		if n := receive(t, at, "a timer, behind a burst of %ss", k.name); n > b.most {
			t.Errorf("a timer that was due fired when %d functions of a burst of %d %ss had run, want at most %d", n, b.n, k.name, b.most)
		}
		l.finish()
	}
	l := t.start(Config{})
	l.slowBurst(timerLane, internal, external)
}

// slowTasks queues many slow tasks, in the midst of which a timer must fire.
func slowTasks(t *trial) { t.start(Config{}).slowBurst(external, timerLane) }

// slowBurst has many slow functions wait in a lane. The first one submits one to each of the others, which must get their turn in the
// midst of the burst: the slower the functions, the sooner.
func (l *loop) slowBurst(lane int, others ...int) {
	t := l.trial
	const n, each, most = 50, 2 * time.Millisecond, 25 // as many as five ticks have time for
	ran := 0                                           // only the loop touches it
	at := make([]chan int, len(others))
	for j := range at {
		at[j] = make(chan int, 1)
	}
	l.do(func() {
		for i := range n {
			t.want(lanes[lane].name, lanes[lane].run(l, func() {
				for j, other := range others {
					if i == 0 {
						t.want(lanes[other].name+" from a callback", lanes[other].run(l, func() { at[j] <- ran }), nil)
					}
				}
				ran++
				time.Sleep(each)
			}), nil)
		}
		time.Sleep(each) // timers are due before the next tick begins, also by a clock of milliseconds
	})
	for j, other := range others {
		if got := receive(t, at[j], "%s, behind a burst of slow %ss", lanes[other].name, lanes[lane].name); got > most {
			t.Errorf("%s that was due ran when %d of %d %ss of %v each had, want at most %d: these have about 2 ms of a tick",
				lanes[other].name, got, n, lanes[lane].name, each, most)
		}
	}
	l.close()
}

// overloadOfSlowTasks submits as many slow tasks as the tick budget allows, which is no overload, and on another loop one
// task more, which is an overload.
func overloadOfSlowTasks(t *trial) {
	const budget, each = 20, time.Millisecond
	for _, more := range []int{0, 1} {
		var reports atomic.Int64
		l := t.start(Config{TickBudget: budget, OnOverload: func(err error) {
			t.want("the overload that is reported", err, loopapi.ErrLoopOverloaded)
			reports.Add(1)
		}})
		l.rest()
		l.burst(lanes[external], budget+more, func(int) { time.Sleep(each) })
		l.rest()
		if got := reports.Load(); got != int64(more) {
			t.Errorf("%d tasks of %v each, with a tick budget of %d, were reported %d times as overload, want %d",
				budget+more, each, budget, got, more)
		}
		l.finish()
	}
}
