package looptest

// Siege: goroutines that submit for ever and as fast as they can, and long bursts. All other work must make progress.

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

// besiegers is the number of goroutines of a flood.
const besiegers = 4

// prompt returns the time within which other work must run and a loop must end. A good loop needs a small part of it; the
// rest is for busy machines.
func prompt() time.Duration {
	if race.Enabled {
		return 5 * time.Second // under the race detector everything takes many times as long
	}
	return time.Second
}

// tries is the number of attempts of which one must be prompt: a machine that stalls delays some, a bad loop all.
const tries = 5

// timerLane is the index of timers in lanes; the lanes before it are queues.
const timerLane = microtask + 1

// flood is a set of goroutines that submit functions of one kind without end. Together they are faster than the loop, so
// that its queue is never empty. They go on after a refusal.
type flood struct {
	l     *loop
	k     kind
	most  int64 // the bound of a goroutine's waiting functions; at the bound it yields, which limits the memory
	from  [besiegers]besieger
	done  []<-chan struct{} // closed when the goroutines have ended
	stop  atomic.Bool
	ended atomic.Bool  // refusals are expected
	shut  atomic.Bool  // Close has returned
	late  atomic.Int64 // functions that began after that
}

// besieger holds the counts of one goroutine of a flood.
type besieger struct {
	accepted, refused int64
	ran               atomic.Int64
	_                 [64]byte
}

// flood starts a flood, and waits until functions of each goroutine have run.
func (l *loop) flood(k kind) *flood {
	t := l.trial
	f := &flood{l: l, k: k, most: int64(max(few(1<<14), 1<<12))}
	t.onCleanup(func() { f.stop.Store(true) })
	for i := range f.from {
		f.done = append(f.done, t.async(func() { f.pour(&f.from[i]) }))
	}
	for i := range f.from {
		t.pollUntil(func() bool { return f.from[i].ran.Load() > 100 }, "functions of a goroutine that floods the loop with %ss", k.name)
	}
	return f
}

func (f *flood) pour(b *besieger) {
	fn := func() {
		if f.shut.Load() {
			f.late.Add(1)
		}
		b.ran.Add(1)
		toil(500)
	}
	for !f.stop.Load() {
		if b.accepted-b.ran.Load() >= f.most {
			runtime.Gosched()
			continue
		}
		switch err := f.k.run(f.l, fn); {
		case err == nil:
			b.accepted++
		case !errors.Is(err, loopapi.ErrLoopTerminated) || !f.ended.Load():
			f.l.trial.Errorf("a flood of %ss: %v", f.k.name, err)
			return
		default:
			b.refused++
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

// halt ends the flood, and returns the numbers of accepted functions and of those that ran. If the loop has ended, the
// flood's goroutines are refused for a moment before that.
func (f *flood) halt() (accepted, ran int64) {
	t := f.l.trial
	if f.ended.Load() {
		time.Sleep(time.Millisecond) // meanwhile the goroutines submit to the ended loop
	}
	f.stop.Store(true)
	for _, done := range f.done {
		t.wait(done, "a goroutine that floods the loop with %ss: a call does not return", f.k.name)
	}
	for i := range f.from {
		accepted += f.from[i].accepted
		ran += f.from[i].ran.Load()
	}
	return accepted, ran
}

// relay is a flood that does not depend on speed: the last function of each leg waits until another goroutine has
// submitted the next leg, so that the loop always finds more.
type relay struct {
	l             *loop
	k             kind
	next, handed  chan struct{} // a callback asks for the next leg; the goroutine has submitted it
	begun         *latch
	done          <-chan struct{} // closed when the goroutine has ended
	stop, ended   atomic.Bool     // submit no more; refusals are expected
	accepted, ran int             // accepted is written by the goroutine, ran by the loop
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
		fn := func() { r.ran++ }
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
	r.ran++
	r.begun.done()
	r.next <- struct{}{}
	<-r.handed
}

// siege floods a lane and checks that the other lanes make progress. It leaves out the flooded lane, whose functions wait
// in the same queue, and tasks in a flood of internal tasks, for which they must wait.
func siege(lane int) func(t *trial) {
	return func(t *trial) {
		l := t.start(Config{})
		r := l.relay(lanes[lane])
		f := l.flood(lanes[lane])
		for _, k := range l.available() {
			if k.name == f.k.name || k.name == lanes[external].name && lane == internal {
				continue
			}
			var took time.Duration
			for range tries {
				begin, done := time.Now(), make(chan struct{})
				t.must(k.name, k.run(l, func() { close(done) }))
				t.wait(done, "a callback of the kind %s, in a flood of %ss", k.name, f.k.name)
				if took = time.Since(begin); took < prompt() {
					break
				}
			}
			if took >= prompt() {
				t.Errorf("in a flood of %ss one of the kind %s takes %v to get to run, and others no less; want less than %v",
					f.k.name, k.name, took, prompt())
			}
		}
		r.ended.Store(true)
		f.ended.Store(true)
		t.want("Close", l.Close(), nil)
		f.halt()
		t.want("Run", l.result(), loopapi.ErrLoopTerminated)
		t.wait(r.done, "a goroutine that submits %ss", f.k.name)
	}
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
		if !k.has(l) || l.timers == nil {
			continue
		}
		g, ran, at := l.hold(), 0, make(chan int, 1) // only the loop touches ran
		l.timer(time.Millisecond, func() { at <- ran })
		due := time.Now().Add(time.Millisecond)
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
	if l := t.start(Config{}); l.timers != nil {
		l.timerBurst()
	}
}

// timerBurst lets many slow timers become due together. The first one submits tasks, which must run in their midst.
func (l *loop) timerBurst() {
	t := l.trial
	const n, each, most = 50, 2 * time.Millisecond, 25 // as many timers as five ticks have time for
	ran := 0                                           // only the loop touches it
	ks := []kind{lanes[internal], lanes[external]}
	at := make([]chan int, len(ks))
	for i := range at {
		at[i] = make(chan int, 1)
	}
	l.do(func() {
		for i := range n {
			l.timer(0, func() {
				for j := range ks {
					if i == 0 {
						t.want(ks[j].name+" from a callback", ks[j].run(l, func() { at[j] <- ran }), nil)
					}
				}
				ran++
				time.Sleep(each)
			})
		}
		time.Sleep(2 * time.Millisecond) // all are due before the next tick begins, also by a clock of milliseconds
	})
	for j, k := range ks {
		if n := receive(t, at[j], "%s, behind a burst of timers", k.name); n > most {
			t.Errorf("%s ran when %d timers of %v each had fired that were due together, want at most %d: timers have about 10 ms of a tick",
				k.name, n, each, most)
		}
	}
	t.want("Close", l.Close(), nil)
	t.want("Run", l.result(), loopapi.ErrLoopTerminated)
}

// receive waits for a value and returns it. It ends the check when that takes longer than patience.
func receive[T any](t *trial, ch <-chan T, format string, args ...any) (v T) {
	t.wait(t.async(func() { v = <-ch }), format, args...)
	return v
}
