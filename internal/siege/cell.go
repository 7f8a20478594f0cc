//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// One cell: a flood, by so many goroutines, beside neighbours, at a time of the loop's life.

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

type life string

const (
	living   life = "living"
	shutdown life = "shutdown" // the flood goes on until the end
	closing  life = "close"
	burst    life = "burst"  // a million calls
	beside   life = "beside" // no flood; fresh loops beside neighbours
)

var lives = []life{living, shutdown, closing, burst, beside}

const (
	patience   = 20 * time.Second // for what takes no time: to begin, to drain, to end when the flood is over
	longest    = 4 * time.Second  // how long a gap is followed that is there at the end of the window
	giveUp     = 3 * time.Second  // how long the end may take before the flood is stopped
	many       = 1_000_000        // calls of a burst
	mostHeap   = 3 << 30          // of memory, past which a flood is stopped
	remarked   = 256 << 20        // of memory, that is worth a word
	littered   = 64 << 20         // of memory, that is worth a collection
	growing    = 1.3              // times what waited in the middle of the window
	fewWaiting = 100_000          // calls that wait, which are no backlog
)

// cell is what is tried.
type cell struct {
	flood      *flood
	goroutines int
	procs      int
	neighbours int // for each processor
	life       life
}

func (c cell) String() string {
	return fmt.Sprintf("%s, %d goroutines, %d processors, %d neighbours each, %s", c.flood.name, c.goroutines, c.procs, c.neighbours, c.life)
}

// flags is how to try it again.
func (c cell) flags() string {
	quote := strings.NewReplacer("(", `\(`, ")", `\)`).Replace(c.flood.name)
	return fmt.Sprintf("-flood '^%s$' -goroutines %d -procs %d -neighbours %d -life %s", quote, c.goroutines, c.procs, c.neighbours, c.life)
}

// outcome is what was found.
type outcome struct {
	cell
	gaps     [probes]time.Duration
	plain    yard
	calls    int64
	accepted int64
	waited   int64         // calls whose callbacks had not run when the window was over
	grew     bool          // more and more
	end      time.Duration // from the call to Done
	ended    bool          // it came before the flood was stopped
	heap     uint64        // the most there was
	capped   bool          // the flood was stopped for want of memory
	reports  int64
	problems []problem
	tries    int // how often it was tried, and how often there was something wrong
	failed   int
	took     time.Duration
}

// attempt tries a cell once.
func (c cell) attempt(ctx context.Context, newLoop maker, window time.Duration, yards *yards, anew bool) (o *outcome, err error) {
	began := time.Now()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
	defer func() { o.took = time.Since(began) }()
	o = &outcome{cell: c, tries: 1}
	tidy()
	if c.life == beside {
		return o, c.besides(o, newLoop)
	}
	if o.plain, err = yards.of(c, window, anew); err != nil {
		return o, err
	}
	memory := watchMemory()
	defer func() { memory.over.Store(true) }()
	s, err := newSite(newLoop, c.flood.opts...)
	if err != nil {
		return o, err
	}
	memory.site.Store(s)
	b, err := s.probe()
	if err != nil {
		return o, err
	}
	if !b.ready(patience) {
		o.problem(lasting, "not all probes are answered by a loop without a flood: %v", b.counts())
	}
	stopNeighbours := compute(c.neighbours * c.procs)
	b.reset()
	calls := 0
	if c.life == burst {
		calls = many
	}
	join := c.flood.let(s, c.goroutines, calls)
	switch c.life {
	case living:
		sleep(ctx, window/2)
		middle := s.accepted() - s.ran()
		sleep(ctx, window/2)
		if c.flood.law != nothing {
			o.waited = s.accepted() - s.ran()
		}
		o.grew = o.waited > fewWaiting && float64(o.waited) > growing*float64(middle)
		o.gaps = b.gaps()
		b.settled(c.flood.own|c.flood.free, longest)
		o.gaps = merge(o.gaps, b.gaps(), c.flood.own|c.flood.free)
		o.counted(b)
		s.stop.Store(true)
	case burst:
		join(patience)
		drained(s, c.flood.law)
		o.gaps = b.gaps()
	case shutdown, closing:
		s.underWay(c.flood.refused)
		sleep(ctx, window/3)
	}
	o.calls, o.accepted = s.calls(), s.accepted()
	if c.life == living || c.life == burst {
		s.stop.Store(true)
		stopNeighbours()
		if !join(patience) {
			o.problem(lasting, "a call does not return: %d of %d have", s.calls(), s.begun())
		}
		if !drained(s, c.flood.law) {
			o.problem(lasting, "%d of %d accepted calls have not run %v after the flood", s.accepted()-s.ran(), s.accepted(), patience)
		}
	}
	before := s.calls()
	b.stop.Store(true)
	asked := time.Now()
	result := make(chan error, 1)
	if c.life == closing {
		err = s.loop.Close()
		s.phase.Store(closed)
		result <- err
	} else {
		go func() { result <- s.loop.Shutdown(context.Background()) }()
	}
	o.ended = s.awaitEnd(max(giveUp, 2*o.plain.end+time.Second)) // past what is allowed
	o.end = time.Since(asked)
	if !o.ended {
		s.stop.Store(true)
		if !s.awaitEnd(patience) {
			o.problem(lasting, "the loop has not ended %v after the flood; it is closed", patience)
			_ = s.loop.Close()
			if !s.awaitEnd(patience) {
				return o, fmt.Errorf("%v: the loop does not end", c)
			}
		}
	}
	if c.life == shutdown || c.life == closing {
		o.calls, o.accepted = s.calls(), s.accepted()
		time.Sleep(2 * time.Millisecond) // calls after the end
	}
	s.stop.Store(true)
	stopNeighbours()
	if !join(patience) {
		o.problem(lasting, "a call does not return after the end: %d of %d have", s.calls(), s.begun())
	}
	b.all.Wait()
	o.account(s, before, result)
	s.clean()
	o.heap, o.capped, o.reports = memory.most.Load(), memory.capped.Load(), s.reports.Load()
	o.judge()
	return o, nil
}

// tidy gets rid of what the last cell has left.
func tidy() {
	if used() > littered {
		debug.FreeOSMemory()
	}
}

// underWay waits until every goroutine has its turn, and its first call is accepted, or refused if it is to be.
func (s *site) underWay(refused bool) {
	begun := func(t *tally) int64 {
		if t.accepted.Load() > 0 || refused && t.calls.Load() > 0 {
			return 1
		}
		return 0
	}
	all := s.sum(func(*tally) int64 { return 1 })
	for until := time.Now().Add(patience); s.sum(begun) < all && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
}

// awaitEnd waits for Done.
func (s *site) awaitEnd(limit time.Duration) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-s.loop.Done():
		s.ended()
		return true
	case <-late.C:
		return false
	}
}

// drained waits until what was accepted has run.
func drained(s *site, l law) bool {
	if l == nothing {
		return true
	}
	for until := time.Now().Add(patience); s.accepted() > s.ran(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

// account compares what was handed over with what has run.
func (o *outcome) account(s *site, before int64, result <-chan error) {
	ran, accepted, begun := s.ran(), s.accepted(), s.begun()
	if n := s.twisted(); n > 0 {
		o.problem(lasting, "%d callbacks have run twice, or out of turn", n)
	}
	switch f := o.flood; {
	case o.life == closing, f.law == nothing:
	case f.law == exactly && ran != accepted:
		o.problem(lasting, "%d were accepted, %d have run", accepted, ran)
	case f.law == wanted && (ran < before || ran > begun):
		o.problem(lasting, "%d were handed over, %d of them before the end began, %d have run", begun, before, ran)
	case f.law == pending && ran > accepted:
		o.problem(lasting, "%d were accepted, %d have run", accepted, ran)
	}
	if n := s.afterClose.Load(); n > 1 {
		o.problem(lasting, "%d callbacks started after Close", n)
	}
	if n := s.afterDone.Load(); n > 0 {
		o.problem(lasting, "%d callbacks started after Done", n)
	}
	for _, w := range s.wrong {
		o.problem(lasting, "%s", w)
	}
	if err := <-result; err != nil {
		o.problem(lasting, "the call for the end: %v", err)
	}
	want := error(nil)
	if o.life == closing {
		want = eventloop.ErrLoopTerminated
	}
	if err := <-s.returned; err != want {
		o.problem(lasting, "Run: %v", err)
	}
	switch {
	case o.flood.like == quiet:
	case o.flood.refused && o.accepted > 0:
		o.problem(lasting, "%d calls were accepted that are to be refused", o.accepted)
	case o.flood.refused && o.calls == 0 || !o.flood.refused && o.accepted == 0:
		o.problem(lasting, "no flood: of %d calls %d were accepted", o.calls, o.accepted)
	}
}

// counted sees that each probe has probed.
func (o *outcome) counted(b *battery) {
	for p, n := range b.counts() {
		if n == 0 && !o.flood.own.has(probe(p)) && !o.flood.free.has(probe(p)) && o.gaps[p] <= mostGap {
			o.problem(lasting, "the probe %s has not run", probeNames[p])
		}
	}
}

// merge takes later gaps, but for some probes.
func merge(gaps, later [probes]time.Duration, but probeSet) [probes]time.Duration {
	for p := range gaps {
		if !but.has(probe(p)) {
			gaps[p] = later[p]
		}
	}
	return gaps
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// memory is how much there is, and the end of a flood that takes too much.
type memory struct {
	most   atomic.Uint64
	capped atomic.Bool
	over   atomic.Bool
	site   atomic.Pointer[site]
}

func watchMemory() *memory {
	m := &memory{}
	before := used() // the runtime keeps something of each goroutine that ever was
	go func() {
		for ; !m.over.Load(); time.Sleep(10 * time.Millisecond) {
			n := max(used(), before) - before
			m.most.Store(max(m.most.Load(), n))
			if s := m.site.Load(); n > mostHeap && s != nil && !s.stop.Swap(true) {
				m.capped.Store(true)
			}
		}
	}()
	return m
}

// used is what is in use, what is not collected yet included.
func used() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}

// besides takes the worst of a few timers and of a few round trips, on fresh loops, and the median of these; the same
// with time.AfterFunc and a channel in between.
func (c cell) besides(o *outcome, newLoop maker) error {
	const loops, each = 5, 15
	stop := compute(c.neighbours * c.procs)
	defer stop()
	var timers, trips, plainTimers, plainTrips []time.Duration
	for range loops {
		s, err := newSite(newLoop)
		if err != nil {
			return err
		}
		var timer, trip, plainTimer, plainTrip time.Duration
		p := newPlain()
		fired := make(chan time.Duration, 1)
		for range each {
			from := time.Now()
			if _, err := s.loop.ScheduleTimer(2*pace, func() { fired <- time.Since(from) - 2*pace }); err != nil {
				return err
			}
			timer = max(timer, <-fired)
			from = time.Now()
			time.AfterFunc(2*pace, func() { fired <- time.Since(from) - 2*pace })
			plainTimer = max(plainTimer, <-fired)
		}
		answer := make(chan struct{}, 1)
		for range each {
			time.Sleep(pace)
			from := time.Now()
			if err := s.loop.Submit(func() { answer <- struct{}{} }); err != nil {
				return err
			}
			<-answer
			trip = max(trip, time.Since(from))
			time.Sleep(pace)
			from = time.Now()
			p.tasks <- func() { answer <- struct{}{} }
			<-answer
			plainTrip = max(plainTrip, time.Since(from))
		}
		close(p.tasks)
		if err := s.loop.Shutdown(context.Background()); err != nil {
			return err
		}
		timers, trips = append(timers, timer), append(trips, trip)
		plainTimers, plainTrips = append(plainTimers, plainTimer), append(plainTrips, plainTrip)
	}
	o.gaps[timerProbe], o.gaps[taskProbe] = median(timers), median(trips)
	o.plain.gaps[timerProbe], o.plain.gaps[taskProbe] = median(plainTimers), median(plainTrips)
	o.judge()
	return nil
}

func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return math.MaxInt64
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}
