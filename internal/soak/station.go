//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// What all stations share: a run counts, measures, and tells what is wrong.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

// station repeats one thing very often, and checks it each time.
type station struct {
	name, proves string
	target       int64
	unit         string
	share        int // its part of the time, in shares; 0: it takes as long as it needs
	do           func(r *run)
}

// run is one station at work, and then its result.
type run struct {
	station
	ctx     context.Context // ends with the station's time, when it is stopped, or with the program
	begun   context.Context // the same without the time: for work that is finished after it
	stop    context.CancelFunc
	seed    uint64
	control *control

	reached atomic.Int64
	worst   atomic.Int64 // stall of the loop, in nanoseconds
	machine atomic.Int64 // stall of the control in the same time

	mu              sync.Mutex // guards the two below
	failures, notes []string
	skipped         string // why this machine cannot do it
	took            time.Duration
}

// start runs the station for at most so long, and reports its progress.
func (s station) start(ctx context.Context, seed uint64, limit time.Duration) *run {
	fmt.Printf("soak: %s: %s %s in %v, seed %d\n", s.name, count(s.target), s.unit, limit.Round(time.Second), seed)
	r := s.begin(ctx, seed, limit)
	defer r.stop()
	progress := time.NewTicker(15 * time.Second)
	defer progress.Stop()
	began, done := time.Now(), make(chan struct{})
	go func() {
		defer close(done)
		s.do(r)
	}()
	for {
		select {
		case <-progress.C:
			fmt.Printf("soak:     %s %s after %v\n", count(r.reached.Load()), s.unit, time.Since(began).Round(time.Second))
			continue
		case <-done:
		}
		break
	}
	r.took = time.Since(began)
	r.machine.Store(int64(r.control.close()))
	fmt.Printf("soak:     %s\n", r.outcome())
	return r
}

// begin prepares a run; whoever calls it stops it.
func (s station) begin(ctx context.Context, seed uint64, limit time.Duration) *run {
	r := &run{station: s, seed: seed, control: newControl()}
	if s.share == 0 {
		limit = time.Hour
	}
	var late, stop context.CancelFunc
	r.begun, stop = context.WithCancel(ctx)
	r.ctx, late = context.WithTimeout(r.begun, limit)
	r.stop = func() { stop(); late() }
	return r
}

// finished tells whether to stop: the target is reached, the time is up, or something is wrong.
func (r *run) finished() bool { return r.reached.Load() >= r.target || r.ctx.Err() != nil }

const mostFailures = 10 // after which a station gives up

// failf notes a failure, and ends the station.
func (r *run) failf(format string, args ...any) {
	r.missf(format, args...)
	r.stop()
}

// missf notes a failure. The station goes on until there are mostFailures.
func (r *run) missf(format string, args ...any) {
	r.mu.Lock()
	if len(r.failures) < mostFailures {
		r.failures = append(r.failures, fmt.Sprintf(format, args...))
	}
	tooMany := len(r.failures) == mostFailures
	r.mu.Unlock()
	if tooMany {
		r.stop()
	}
}

func (r *run) notef(format string, args ...any) {
	r.mu.Lock()
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
	r.mu.Unlock()
}

func (r *run) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

// idle tells whether the run proves nothing, although it could have.
func (r *run) idle() bool { return r.reached.Load() == 0 && r.skipped == "" && !r.failed() }

func (r *run) verdict() string {
	switch {
	case r.failed():
		return "**failed**"
	case r.skipped != "":
		return "skipped: " + r.skipped
	case r.idle():
		return "nothing was reached in the time"
	case r.reached.Load() < r.target:
		return "passed; the target was not reached in the time"
	}
	return "passed"
}

func (r *run) outcome() string {
	return fmt.Sprintf("%s: %s of %s %s in %v, worst stall %s, the machine's %s, seed %d", r.verdict(),
		count(r.reached.Load()), count(r.target), r.unit, r.took.Round(time.Second/10), stallText(r.worst.Load()),
		stallText(r.machine.Load()), r.seed)
}

// random makes a source for one of a station's goroutines.
func (r *run) random(goroutine uint64) *rand.Rand { return rand.New(rand.NewPCG(r.seed, goroutine)) }

// longStall is the longest time of an exchange with the loop, unless the machine stood still. A test may set it.
var longStall = 100 * time.Millisecond

// exchanged notes how long an exchange with the loop took.
func (r *run) exchanged(what string, from time.Time, took time.Duration) {
	for old := r.worst.Load(); int64(took) > old && !r.worst.CompareAndSwap(old, int64(took)); old = r.worst.Load() {
	}
	if took <= longStall {
		return
	}
	if machine := r.control.during(from, from.Add(took)); machine < took/2 {
		r.failf("%s took %v; the machine stood still for %v of it", what, took, machine)
	} else {
		r.notef("%s took %v; the machine stood still for %v of it", what, took, machine)
	}
}

// ended calls do, which ends something, and tells whether do returned in time. Otherwise its goroutine is left behind.
func (r *run) ended(what string, do func()) bool {
	came := make(chan struct{})
	go func() {
		defer close(came)
		do()
	}()
	if !beat.Wait(came) {
		r.failf("%s does not come to an end", what)
		return false
	}
	return true
}

// shutdown ends a loop.
func (r *run) shutdown(l loop) {
	r.ended("Shutdown", func() {
		if err := l.Shutdown(context.Background()); err != nil {
			r.failf("Shutdown: %v", err)
		}
	})
}

// control is two goroutines that pass a token over a channel, without any loop: their delays are the machine's.
type control struct {
	mu       sync.Mutex // guards the two below
	gaps     []gap
	worst    time.Duration
	finished chan struct{}
}

type gap struct{ from, to time.Time }

func newControl() *control {
	c := &control{finished: make(chan struct{})}
	token, back := make(chan struct{}), make(chan struct{})
	go func() {
		for range token {
			back <- struct{}{}
		}
	}()
	go func() {
		defer close(token)
		const pause = time.Millisecond
		for {
			select {
			case <-c.finished:
				return
			default:
			}
			from := time.Now()
			token <- struct{}{}
			<-back
			time.Sleep(pause)
			c.note(gap{from, time.Now()}, pause)
		}
	}()
	return c
}

// note remembers gaps that are long enough to matter.
func (c *control) note(g gap, pause time.Duration) {
	took := g.to.Sub(g.from) - pause
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worst = max(c.worst, took)
	if took > longStall/10 {
		if len(c.gaps) == 1000 {
			c.gaps = append(c.gaps[:0], c.gaps[500:]...)
		}
		c.gaps = append(c.gaps, g)
	}
}

// during returns for how long the machine stood still between two moments. It waits until the control is past them.
func (c *control) during(from, to time.Time) (sum time.Duration) {
	time.Sleep(20 * time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.gaps {
		begin, end := g.from, g.to
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		sum += max(end.Sub(begin), 0)
	}
	return sum
}

func (c *control) close() time.Duration {
	close(c.finished)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worst
}
