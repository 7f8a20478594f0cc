package looptest

// Siege: goroutines that go on to submit, for ever and as fast as they can, and bursts that are long. Everything else gets
// its turn all the same.

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

// besiegers is how many goroutines a flood has.
const besiegers = 4

// prompt is within what everything gets its turn, and the end comes. A loop needs a small part of it; the rest is for
// machines that do other things as well.
func prompt() time.Duration {
	if race.Enabled {
		return 5 * time.Second // everything takes many times as long
	}
	return time.Second
}

// tries is how often something may take longer than that before it counts: a machine that stalls does it now and then, a loop
// each time.
const tries = 5

// timerLane is the one of lanes that takes timers; the lanes before it are queues.
const timerLane = microtask + 1

// flood is functions of one kind that goroutines bring to a loop without end. They are faster than the loop, so that to
// the loop its queue is never empty; and they go on when they are refused.
type flood struct {
	l     *loop
	k     kind
	most  int64 // functions of a goroutine that wait; it lets others run before it submits more, which bounds the memory
	from  [besiegers]besieger
	over  []<-chan struct{}
	stop  atomic.Bool
	ended atomic.Bool // the end was asked for
	shut  atomic.Bool // Close has returned
	late  atomic.Int64
}

// besieger is one of its goroutines.
type besieger struct {
	accepted, refused int64
	ran               atomic.Int64
	_                 [64]byte
}

// flood begins one, and waits until all have got through to the loop.
func (l *loop) flood(k kind) *flood {
	t := l.trial
	f := &flood{l: l, k: k, most: int64(max(few(1<<14), 1<<12))}
	t.onCleanup(func() { f.stop.Store(true) })
	for i := range f.from {
		f.over = append(f.over, t.async(func() { f.pour(&f.from[i]) }))
	}
	for i := range f.from {
		t.byAndBy(func() bool { return f.from[i].ran.Load() > 100 }, "functions of a goroutine that floods the loop with %ss", k.name)
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

// toil computes for about n nanoseconds, without a look at the clock.
//
//go:noinline
func toil(n int) {
	x := uint32(n) | 1
	for range n / 2 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	runtime.KeepAlive(x) // a result that nobody uses need not be computed
}

// halt ends the flood. Its goroutines have been refused meanwhile, if the loop has ended. It returns how many functions were
// accepted, and how many ran.
func (f *flood) halt() (accepted, ran int64) {
	t := f.l.trial
	if f.ended.Load() {
		time.Sleep(time.Millisecond) // somebody goes on against the closed door
	}
	f.stop.Store(true)
	for _, over := range f.over {
		t.wait(over, "a goroutine that floods the loop with %ss: a call does not return", f.k.name)
	}
	for i := range f.from {
		accepted += f.from[i].accepted
		ran += f.from[i].ran.Load()
	}
	return accepted, ran
}

// relay is a flood that does not depend on who is faster: now and then a callback waits until another goroutine has submitted
// the next functions, so that to the loop there are always more.
type relay struct {
	l             *loop
	k             kind
	next, handed  chan struct{}
	begun         *latch
	over          <-chan struct{}
	stop, ended   atomic.Bool
	accepted, ran int // accepted is the other goroutine's, ran the loop's
}

// relay begins one, and waits until it is under way. Without stop it goes on until the loop has ended.
func (l *loop) relay(k kind) *relay {
	t := l.trial
	r := &relay{l: l, k: k, next: make(chan struct{}), handed: make(chan struct{}), begun: newLatch(10)}
	t.onCleanup(func() { r.stop.Store(true) })
	r.over = t.async(func() {
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

// submit submits some functions, of which the last one waits for the next.
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

// siege floods a loop with one kind and looks for progress of the others. The flood's own kind waits in the queue that the
// flood has made, and tasks wait for internal tasks.
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
		t.wait(r.over, "a goroutine that submits %ss", f.k.name)
	}
}

// bursts are finite, and all there when the first function begins. What is due by then has its turn after so many of them as
// a turn has room for, and not after all.
var bursts = []struct {
	lane, n, most int
}{
	{external, 20_480, 3 * 1024},
	{internal, 250_000, 2 * 100_001},
	{microtask, 20_480, 3 * 1024},
}

// siegeBursts has a timer become due before a long burst of another kind begins, and then work of other kinds come in the
// midst of many timers that are due together.
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

// timerBurst lets many timers become due at once that take their time.
func (l *loop) timerBurst() {
	t := l.trial
	const n, each, most = 50, 2 * time.Millisecond, 25 // which is as long as five turns may last
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
		time.Sleep(2 * time.Millisecond) // all are due before the next turn begins, by a clock of milliseconds too
	})
	for j, k := range ks {
		if n := receive(t, at[j], "%s, behind a burst of timers", k.name); n > most {
			t.Errorf("%s ran when %d timers of %v each had fired that were due together, want at most %d: timers have about 10 ms of a turn",
				k.name, n, each, most)
		}
	}
	t.want("Close", l.Close(), nil)
	t.want("Run", l.result(), loopapi.ErrLoopTerminated)
}

// receive waits for a value.
func receive[T any](t *trial, ch <-chan T, format string, args ...any) (v T) {
	t.wait(t.async(func() { v = <-ch }), format, args...)
	return v
}
