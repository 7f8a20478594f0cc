package looptest

// Memory: finished callbacks are collectable (D10, Retention), and steady state does not allocate (D14).

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"weak"

	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

// cargo is captured by callbacks in checks of retention. It is too big for the tiny allocator, which frees objects only
// together with their neighbours.
type cargo struct{ bytes [256]byte }

// freight is the cargoes of some functions.
type freight []weak.Pointer[cargo]

// load returns a function that captures a cargo of its own and calls then.
func (f *freight) load(then func()) func() {
	c := &cargo{}
	*f = append(*f, weak.Make(c))
	return func() { c.bytes[0]++; then() }
}

// collected checks that the garbage collector frees the targets of all ptrs.
func (t *trial) collected(what string, ptrs freight) {
	var alive int
	if !t.reaches(func() bool {
		garbage.Collect()
		alive = len(slices.DeleteFunc(slices.Clone(ptrs), func(p weak.Pointer[cargo]) bool { return p.Value() == nil }))
		if alive > 0 {
			garbage.DropStopped() // stopped timers are held by the runtime, not by the contestant
		}
		return alive == 0
	}) {
		t.Errorf("%s: the captures of %d of %d are still reachable", what, alive, len(ptrs))
	}
}

// retention runs loaded callbacks in each lane; the loop lives on.
func retention(t *trial) {
	l := t.start(Config{})
	for _, k := range l.queues() {
		for _, n := range []int{1, 10, 128, 300} {
			var f freight
			all, g := newLatch(n), l.hold()
			for range n {
				t.must(k.name, k.run(l, f.load(all.done)))
			}
			g.open()
			t.wait(all.ch, "%d callbacks of the kind %s", n, k.name)
			l.rest()
			t.collected("finished callbacks of the kind "+k.name+" on a living loop", f)
		}
	}
	l.finish()
	runtime.KeepAlive(l)
}

// retentionInBatch checks finished callbacks while a later one of the same batch still runs.
func retentionInBatch(t *trial) {
	l := t.start(Config{})
	for _, k := range l.queues() {
		const n = 200
		var f freight
		g := l.hold()
		for range n {
			t.must(k.name, k.run(l, f.load(noop)))
		}
		last, inside := t.gate(), make(chan struct{})
		t.must(k.name, k.run(l, func() { close(inside); last.wait() }))
		g.open()
		t.wait(inside, "the last of %d callbacks of the kind %s", n, k.name)
		t.collected("finished callbacks of the kind "+k.name+" while the next one runs", f)
		last.open()
	}
	l.finish()
	runtime.KeepAlive(l)
}

// retentionTimers checks timers that have fired or were cancelled, while others are still pending.
func retentionTimers(t *trial) {
	l := t.start(Config{})
	const n = 100
	var fired, cancelled freight
	var ids []loopapi.TimerID
	all := newLatch(n)
	for i := range n {
		l.timer(time.Duration(i%4)*time.Millisecond, fired.load(all.done))
		ids = append(ids, l.timer(time.Hour+time.Duration(i)*time.Second, cancelled.load(func() { t.Errorf("a cancelled timer fired") })))
		l.timer(2*time.Hour, noop) // stays pending
	}
	for _, id := range ids {
		t.want("CancelTimer", l.timers.CancelTimer(id), nil)
	}
	t.wait(all.ch, "%d timers", n)
	l.rest()
	t.collected("fired timers", fired)
	t.collected("cancelled timers", cancelled)
	l.finish()
	runtime.KeepAlive(l)
}

// retentionDropped checks the callbacks that a closed loop has dropped, while the loop is still referred to.
func retentionDropped(t *trial) {
	l := t.start(Config{})
	var f freight
	g := l.hold()
	for range 100 {
		for _, k := range l.available() {
			t.must(k.name, k.run(l, f.load(func() { t.Errorf("a callback started after Close") })))
		}
	}
	if l.timers != nil {
		l.timer(time.Hour, f.load(noop))
	}
	t.want("Close", l.Close(), nil)
	g.open()
	l.returns(" after Close", loopapi.ErrLoopTerminated)
	t.collected("dropped callbacks of a closed loop", f)
	runtime.KeepAlive(l)
}

// retentionOfLoop checks that ended loops are collectable when they are not referred to. The cargo captured by a loop's
// handler stands for the loop.
func retentionOfLoop(t *trial) {
	var f freight
	for i := range 10 {
		fn := f.load(noop)
		el, err := t.suite.factory(Config{OnOverload: func(error) { fn() }})
		if err != nil {
			t.make(Config{OnOverload: func(error) {}}) // ends the check as not applicable
			return
		}
		l := wrap(el)
		l.trial = t
		if i%2 == 0 {
			l.launch(context.Background())
			l.sync()
			if l.timers != nil {
				l.timer(time.Hour, noop)
			}
		}
		if i%4 < 2 {
			t.want("Shutdown", l.shutdown(), nil)
		} else {
			t.want("Close", l.Close(), nil)
		}
		if i%2 == 0 {
			t.wait(l.ended, "Run to return")
		}
	}
	t.collected("loops that have ended", f)
}

// allocFree checks that op does not allocate. op does batch operations and waits until the loop has run them. The limit
// leaves room for allocations of other goroutines and of growing buffers, not for one per operation. What goroutines that
// measure time allocate, the loop's among them, grows with the time and not with the operations: one for each millisecond.
func (t *trial) allocFree(what string, batch int, op func()) {
	if race.Enabled {
		t.notApplicable("the race detector makes pools forget")
	}
	t.onCleanup(func(percent int) func() {
		return func() { debug.SetGCPercent(percent) }
	}(debug.SetGCPercent(-1)))
	const tries, limit = 4, 0.02
	rounds := max(few(10), 2)
	least := math.Inf(1)
	for range tries {
		op() // warm up
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		for range rounds {
			op()
		}
		runtime.ReadMemStats(&after)
		allowed := time.Since(began).Milliseconds()
		least = min(least, float64(int64(after.Mallocs-before.Mallocs)-allowed)/float64(rounds*batch))
		if least < limit {
			return
		}
	}
	t.Errorf("%s: %.2f allocations per operation in steady state, want 0", what, least)
}

const allocBatch = 2000

// allocates returns a check of what begin does. begin is called on the loop, again and again, and has the loop send a token at the
// end of each batch.
func allocates(what string, batch int, begin func(l *loop, token chan struct{}) func()) func(t *trial) {
	return func(t *trial) {
		l := t.start(Config{})
		token := make(chan struct{}, 1)
		start := begin(l, token)
		t.allocFree(what, batch, func() { _ = l.Submit(start); t.wait(token, "a batch of operations") })
		l.finish()
	}
}

// allocLane submits batches to a lane from the check's goroutine.
func allocLane(lane int) func(t *trial) {
	return func(t *trial) {
		l, k := t.start(Config{}), lanes[lane]
		token := make(chan struct{}, 1)
		last, empty := func() { token <- struct{}{} }, noop
		t.allocFree(k.name, allocBatch, func() {
			for range allocBatch - 1 {
				_ = k.run(l, empty)
			}
			_ = k.run(l, last)
			t.wait(token, "a batch of functions")
		})
		l.finish()
	}
}

// countdown returns a function that calls more until it has been called so often, and then sends a token; set sets the number.
func countdown(token chan struct{}, more func(again func())) (again func(), set func(n int)) {
	left := 0
	again = func() {
		if left--; left == 0 {
			token <- struct{}{}
			return
		}
		more(again)
	}
	return again, func(n int) { left = n }
}

// allocMicrotask schedules on the loop: a fan-out and a chain.
func allocMicrotask(l *loop, token chan struct{}) func() {
	empty := noop
	chain, set := countdown(token, func(again func()) { _ = l.micro.ScheduleMicrotask(again) })
	return func() {
		for range allocBatch / 4 {
			_ = l.micro.ScheduleMicrotask(empty)
		}
		set(allocBatch / 4)
		_ = l.micro.ScheduleMicrotask(chain)
	}
}

// allocTimer lets a timer re-arm itself, and cancels others.
func allocTimer(l *loop, token chan struct{}) func() {
	empty := noop
	rearm, set := countdown(token, func(again func()) {
		id, _ := l.timers.ScheduleTimer(time.Hour, empty)
		_ = l.timers.CancelTimer(id)
		_, _ = l.timers.ScheduleTimer(0, again)
	})
	return func() { set(allocBatch); rearm() }
}

// allocClock reads the tick time.
func allocClock(l *loop, token chan struct{}) func() {
	return func() {
		for range allocBatch {
			_ = l.clock.CurrentTickTime()
		}
		token <- struct{}{}
	}
}

// allocIO counts over many events of a descriptor that is always ready.
func allocIO(l *loop, token chan struct{}) func() {
	fd, left := l.trial.readyLink().near, 0
	l.trial.must("RegisterFD", l.fds.RegisterFD(fd, 0, func(loopapi.IOEvents) {
		if left--; left == 0 {
			_ = l.fds.ModifyFD(fd, 0)
			token <- struct{}{}
		}
	}))
	return func() { left = allocBatch; _ = l.fds.ModifyFD(fd, loopapi.EventRead) }
}
