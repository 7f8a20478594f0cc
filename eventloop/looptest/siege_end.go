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

// closes are the ways by which nothing that waits begins any more.
var closes = []ending{
	ends[1],
	{"Close while a callback runs", func(l *loop, _ func()) {
		g := l.hold() // the queue grows meanwhile
		time.Sleep(time.Millisecond)
		l.trial.want("Close", l.Close(), nil)
		g.open()
	}, loopapi.ErrLoopTerminated},
}

// mostLate is how many functions of others an ending loop may accept, besides those that wait when the end is asked for: more than
// anybody needs who is about to finish.
const mostLate = 1 << 21

// endsUnderSiege floods loops with each lane, ends them in each way while the flood goes on, and calls audit with the
// counts of the flood.
func endsUnderSiege(t *trial, ways []ending, audit func(f *flood, accepted, ran int64)) {
	for i, k := range lanes[:timerLane+1] {
		for j, w := range ways {
			if testing.Short() && (i+j)%len(ways) != 0 {
				continue
			}
			l := t.make(Config{})
			if !k.has(l) {
				continue
			}
			cancel := l.launchUntil()
			f := l.flood(k)
			before, _ := f.counts()
			f.ended.Store(true)
			w.end(l, cancel)
			f.shut.Store(true)
			l.returns("", w.want)
			f.halt()
			accepted, ran := f.counts()
			if accepted-before > mostLate {
				t.Errorf("of a flood of %ss %d were accepted after %s, want at most %d", k.name, accepted-before, w.name, mostLate)
			}
			audit(f, accepted, ran)
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
		l.returns("", nil)
		t.wait(r.done, "the other goroutine")
		if ran := r.ran.Load(); ran != int64(r.accepted) {
			t.Errorf("%d of %d %ss that were accepted from elsewhere ran", ran, r.accepted, k.name)
		}
	}
	endsUnderSiege(t, []ending{ends[0], ends[2]}, func(f *flood, accepted, ran int64) {
		if ran > accepted || ran < accepted && f.k.queue {
			t.Errorf("of a flood of %ss %d were accepted, and %d ran, when the loop had ended", f.k.name, accepted, ran)
		}
	})
}

// siegeClose closes loops.
func siegeClose(t *trial) {
	endsUnderSiege(t, closes, func(f *flood, accepted, ran int64) {
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
		who := "callbacks (" + strings.Join(names, ", ") + ") that begin anew for ever"
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
		t.wait(going.ch, "%s", who)
		if err := l.shutdown(); err != nil {
			t.Fatalf("Shutdown returned %v, with %s: what they bring is to be refused by and by", err, who)
		}
		l.returns("", nil)
		if ran != accepted {
			t.Errorf("of %s %d were accepted, and %d ran", who, accepted, ran)
		}
	}
}
