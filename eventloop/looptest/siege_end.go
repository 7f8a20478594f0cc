package looptest

// Ends under siege: a loop ends although goroutines and callbacks go on to submit.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// way is a way to end a loop; end returns when the loop has ended.
type way struct {
	name string
	end  func(l *loop, f *flood, cancel func())
}

var graceful = []way{
	{"Shutdown", func(l *loop, _ *flood, _ func()) {
		l.trial.want("Shutdown", l.shutdown(), nil)
		l.trial.want("Run", l.result(), nil)
	}},
	{"the end of Run's context", func(l *loop, _ *flood, cancel func()) {
		cancel()
		l.trial.want("Run", l.result(), context.Canceled)
	}},
}

var abrupt = []way{
	{"Close", func(l *loop, f *flood, _ func()) {
		l.trial.want("Close", l.Close(), nil)
		f.shut.Store(true)
		l.trial.want("Run", l.result(), loopapi.ErrLoopTerminated)
	}},
	{"Close while a callback runs", func(l *loop, f *flood, _ func()) {
		g := l.hold() // the queue grows meanwhile
		time.Sleep(time.Millisecond)
		l.trial.want("Close", l.Close(), nil)
		f.shut.Store(true)
		g.open()
		l.trial.want("Run", l.result(), loopapi.ErrLoopTerminated)
	}},
}

// endsUnderSiege floods loops with each lane, ends them in each way while the flood goes on, and calls audit with the
// counts of the flood.
func endsUnderSiege(t *trial, ways []way, audit func(f *flood, accepted, ran int64)) {
	for i, k := range lanes[:timerLane+1] {
		for j, w := range ways {
			if testing.Short() && (i+j)%len(ways) != 0 {
				continue
			}
			var took time.Duration
			for range tries {
				l := t.make(Config{})
				if !k.has(l) {
					break
				}
				ctx, cancel := context.WithCancel(context.Background())
				t.onCleanup(cancel)
				l.launch(ctx)
				f := l.flood(k)
				f.ended.Store(true)
				begin := time.Now()
				w.end(l, f, cancel)
				took = time.Since(begin)
				accepted, ran := f.halt()
				if audit(f, accepted, ran); took < prompt() || t.failed() {
					break
				}
			}
			if took >= prompt() {
				t.Errorf("in a flood of %ss the loop ends %v after %s, and other loops no sooner; want less than %v",
					k.name, took, w.name, prompt())
			}
		}
	}
}

// siegeShutdown ends loops gracefully.
func siegeShutdown(t *trial) {
	for _, k := range []kind{lanes[internal], lanes[microtask]} {
		l := t.start(Config{})
		if !k.has(l) {
			continue
		}
		r := l.relay(k)
		r.ended.Store(true)
		if err := l.shutdown(); err != nil {
			t.Fatalf("Shutdown returned %v, with another goroutine that submits one %s after the other: an ending loop accepts only so many",
				err, k.name)
		}
		t.want("Run", l.result(), nil)
		t.wait(r.done, "the other goroutine")
		if r.ran != r.accepted {
			t.Errorf("%d of %d %ss that were accepted from elsewhere ran", r.ran, r.accepted, k.name)
		}
	}
	endsUnderSiege(t, graceful, func(f *flood, accepted, ran int64) {
		if ran > accepted || ran < accepted && f.k.queue {
			t.Errorf("of a flood of %ss %d were accepted, and %d ran, when the loop had ended", f.k.name, accepted, ran)
		}
	})
}

// siegeClose closes loops.
func siegeClose(t *trial) {
	endsUnderSiege(t, abrupt, func(f *flood, accepted, ran int64) {
		if n := f.late.Load(); n > 1 { // the callback that runs while Close returns may still look at the flag
			t.Errorf("of a flood of %ss %d began after Close had returned", f.k.name, n)
		}
		if ran > accepted {
			t.Errorf("of a flood of %ss %d were accepted, and %d ran", f.k.name, accepted, ran)
		}
	})
}

// cycles are sequences of lanes: a callback submits the next one to the next lane of its cycle, for ever.
var cycles = [][]int{{internal}, {microtask}, {internal, microtask}, {external, internal}, {external}}

// selfFeeding shuts down loops whose callbacks always submit another one.
func selfFeeding(t *trial) {
	for _, cycle := range cycles {
		l := t.make(Config{})
		var names []string
		able := true
		for _, lane := range cycle {
			able = able && lanes[lane].has(l)
			names = append(names, lanes[lane].name)
		}
		if !able {
			continue
		}
		l.launch(context.Background())
		// Only the loop touches accepted and ran until it has ended.
		accepted, ran := 0, 0
		going := newLatch(1000)
		submit := func(lane int, fn func()) {
			switch err := lanes[lane].run(l, fn); {
			case err == nil:
				accepted++
			case !errors.Is(err, loopapi.ErrLoopTerminated):
				t.Errorf("%s from a callback: %v", lanes[lane].name, err)
			}
		}
		var step func(i int) func()
		step = func(i int) func() {
			i %= len(cycle)
			return func() {
				ran++
				going.done()
				submit(cycle[i], step(i+1))
			}
		}
		const chains = 3
		l.do(func() {
			for range chains {
				submit(cycle[0], step(1))
			}
		})
		t.wait(going.ch, "callbacks that begin anew for ever")
		if err := l.shutdown(); err != nil {
			t.Fatalf("Shutdown returned %v, with callbacks (%s) that begin anew for ever: what they bring is to be refused by and by", err,
				strings.Join(names, ", "))
		}
		t.want("Run", l.result(), nil)
		if ran != accepted {
			t.Errorf("of callbacks (%s) that begin anew for ever %d were accepted, and %d ran", strings.Join(names, ", "), accepted, ran)
		}
	}
}
