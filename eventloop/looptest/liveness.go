package looptest

// Liveness (RunLiveness): how late a loop is, and what it costs at rest, beside what the Go runtime offers at the same moment.

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

// compare measures a control and a loop by turns. The longest time of some may be twice that of the control, and as much more
// besides. Of three attempts one must be good: what delays the one and not the other does not last.
func (t *trial) compare(what string, more time.Duration, own, control func() time.Duration) {
	const attempts = 3
	samples := max(few(20), 5)
	var longest, allowed time.Duration
	for range attempts {
		longest, allowed = 0, more
		for i := 0; i < samples && longest <= 3*allowed; i++ {
			allowed = max(allowed, 2*control()+more)
			longest = max(longest, own())
		}
		if longest <= allowed {
			return
		}
	}
	t.Errorf("%s takes %v, and at the same moments %v is allowed, which is twice what the Go runtime takes, and %v", what, longest, allowed, more)
}

// work returns how long a goroutine takes for as many functions as floods have.
func work(n int) time.Duration {
	begin, done := time.Now(), make(chan struct{})
	go func() {
		for range n {
			toil(500)
		}
		close(done)
	}()
	<-done
	return time.Since(begin)
}

// responsive compares each kind of callback with a function that is sent to a goroutine, and timers with those of package time.
// Before either, a goroutine has so many functions to run.
func (l *loop) responsive(ks []kind, company string, ahead int, more time.Duration) {
	t := l.trial
	fns := make(chan func(), 1)
	defer close(fns)
	go func() {
		for fn := range fns {
			fn()
		}
	}()
	roundTrip := func(submit func(fn func()) error) func() time.Duration {
		return func() time.Duration {
			begin, ran := time.Now(), make(chan struct{})
			t.must("a function", submit(func() { close(ran) }))
			t.wait(ran, "a function%s", company)
			return time.Since(begin)
		}
	}
	alone := roundTrip(func(fn func()) error { fns <- fn; return nil })
	control := func() time.Duration { return work(ahead) + alone() }
	for _, k := range ks {
		t.compare("a callback of the kind "+k.name+company, more, roundTrip(func(fn func()) error { return k.run(l, fn) }), control)
	}
	if l.timers == nil {
		return
	}
	const delay = time.Millisecond
	late := func(schedule func(fn func())) func() time.Duration {
		return func() (d time.Duration) {
			due, fired := time.Now().Add(delay), make(chan struct{})
			schedule(func() { d = time.Since(due); close(fired) })
			t.wait(fired, "a timer%s", company)
			return d
		}
	}
	alone = late(func(fn func()) { time.AfterFunc(delay, fn) })
	t.compare("a timer after its deadline"+company, more, late(func(fn func()) { l.timer(delay, fn) }), control)
}

// liveAlone asks a loop that has nothing else to do.
func liveAlone(t *trial) {
	l := t.start(Config{})
	l.responsive(l.available(), ", on an idle loop,", 0, 10*time.Millisecond)
	l.finish()
}

// liveFloods asks loops whose lanes are flooded.
func liveFloods(t *trial) {
	for lane := external; lane <= timerLane; lane++ {
		if l := t.start(Config{}); lanes[lane].has(l) {
			l.besiege(lane, func(f *flood, _ *relay) {
				l.responsive(l.unaffected(lane), ", in a flood of "+lanes[lane].name+"s,", int(mostAhead(lane))/2, time.Second)
			})
		}
	}
}

// liveNeighbours asks loops beside four computing goroutines for each processor.
func liveNeighbours(t *trial) {
	var stop atomic.Bool
	t.onCleanup(func() { stop.Store(true) })
	for range 4 * runtime.GOMAXPROCS(0) {
		t.async(func() {
			for !stop.Load() {
				toil(10_000)
			}
		})
	}
	l := t.start(Config{})
	l.responsive([]kind{lanes[external]}, ", beside goroutines that compute,", 0, 50*time.Millisecond)
	l.finish()
}

// liveEnds asks how long an end takes although goroutines go on to submit.
func liveEnds(t *trial) {
	for lane := external; lane <= timerLane; lane++ {
		k := lanes[lane]
		if !k.has(t.make(Config{})) {
			continue
		}
		t.compare("the end in a flood of "+k.name+"s", time.Second, func() time.Duration {
			l := t.make(Config{})
			cancel := l.launchUntil()
			f := l.flood(k)
			f.ended.Store(true)
			begin := time.Now()
			ends[0].end(l, cancel)
			took := time.Since(begin)
			f.halt()
			return took
		}, func() time.Duration { return work(1 << 18) })
	}
}

// beats returns how long as many beats of the watchdog took.
func beats(n int) time.Duration {
	begin := time.Now()
	over, stop := beat.After(n)
	defer stop()
	<-over
	return time.Since(begin)
}

// liveBackground asks how late a background timer is on a loop that always has something else to do.
func liveBackground(t *trial) {
	l := t.start(Config{})
	idle := l.endless(lanes[external], 1, func() { time.Sleep(time.Millisecond) })
	t.compare("a background timer after its deadline, on a busy loop,", 100*time.Millisecond, l.backgroundLateness,
		func() time.Duration { return beats(int(latestBackground/(10*time.Millisecond)) / 2) })
	idle()
	l.finish()
}

// liveSignals interrupts all threads about a thousand times per second while the loop waits for a timer, with a descriptor.
func liveSignals(t *trial) {
	l, stop := t.stormOfSignals()
	const delay = 50 * time.Millisecond
	t.compare("a timer of 50ms, under a storm of signals,", delay, func() time.Duration {
		begin, fired := time.Now(), make(chan time.Duration, 1)
		l.timer(delay, func() { fired <- time.Since(begin) })
		return receive(t, fired, "a timer of %v under a storm of signals", delay)
	}, func() time.Duration { return beats(5) })
	stop()
	l.finish()
}

// liveIdle asks how much processor time the process uses while loops are idle that have descriptors and timers.
func liveIdle(t *trial) {
	idleFor := func() time.Duration {
		before := processorTime()
		beats(20)
		return processorTime() - before
	}
	t.compare("the processor time beside idle loops", 5*time.Millisecond, func() time.Duration {
		var loops []*loop
		for range 4 {
			l := t.start(Config{})
			l.work()
			l.rest()
			loops = append(loops, l)
		}
		took := idleFor()
		for _, l := range loops {
			l.finish()
		}
		return took
	}, idleFor)
}
