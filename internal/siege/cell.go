//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// One cell: a flood or two, by so many goroutines, beside neighbours, at a time of the loop's life.

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

type life string

const (
	living   life = "living"
	shutdown life = "shutdown" // the flood goes on until the end
	closing  life = "close"
	whole    life = "whole" // living, and then shutdown
)

var lives = []life{living, shutdown, closing, whole}

// lives tells whether the flood has a window in which the loop lives, ends whether it goes on until the end.
func (l life) lives() bool { return l == living || l == whole }
func (l life) ends() bool  { return l == shutdown || l == closing || l == whole }

// terms are the conditions of a try.
type terms struct {
	newLoop  maker
	window   time.Duration // of a flood
	patience time.Duration // for steps that take no time: to begin, to drain, to end when the flood is over
	longest  time.Duration // how long a gap is followed beyond the end of the window
	giveUp   time.Duration // how long the end may take beyond what is allowed, before the flood is stopped
	allow    bounds
	yards    *yards
}

// ordinary returns the terms of all runs; tests have less time.
func ordinary(window time.Duration, yards *yards) *terms {
	return &terms{sound, window, 20 * time.Second, 4 * time.Second, 2 * time.Second, strict, yards}
}

// cell is one combination to try.
type cell struct {
	flood      *flood
	second     *flood // at the same time, or nil
	goroutines int    // of each flood
	procs      int
	neighbours int // for each processor
	life       life
}

func (c cell) name() string {
	if c.second != nil {
		return c.flood.name + " + " + c.second.name
	}
	return c.flood.name
}

func (c cell) String() string {
	return fmt.Sprintf("%s, %d goroutines, %d processors, %d neighbours each, %s", c.name(), c.goroutines, c.procs, c.neighbours, c.life)
}

// flags returns the flags that try the cell again.
func (c cell) flags() string {
	exactly := func(f *flood) string { return "'^" + regexp.QuoteMeta(f.name) + "$'" }
	with := ""
	if c.second != nil {
		with = " -with " + exactly(c.second)
	}
	return fmt.Sprintf("-flood %s%s -goroutines %d -procs %d -neighbours %d -life %s", exactly(c.flood), with, c.goroutines, c.procs,
		c.neighbours, c.life)
}

// floods returns the cell's floods, one or two.
func (c cell) floods() []*flood {
	if c.second != nil {
		return []*flood{c.flood, c.second}
	}
	return []*flood{c.flood}
}

// maker returns what makes the cell's loop: that of a flood that needs one of its own kind, or else usual.
func (c cell) maker(usual maker) maker {
	for _, f := range c.floods() {
		if f.on != nil {
			return f.on
		}
	}
	return usual
}

// own returns the probes that queue behind the flood's callbacks; free returns those that it may keep waiting.
func (c cell) own() (s probeSet) {
	for _, f := range c.floods() {
		s |= f.own
	}
	return s
}

func (c cell) free() (s probeSet) {
	for _, f := range c.floods() {
		s |= f.free
	}
	return s
}

// outcome is the result of a cell.
type outcome struct {
	cell
	gaps     [probes]time.Duration
	plain    yard
	sums     []sums        // of each flood
	waited   int64         // calls whose callbacks had not run when the window was over
	left     int64         // the same when the end was asked for
	grew     bool          // the backlog grew in the window
	end      time.Duration // from the call to Done
	ended    bool          // the end came before the flood was stopped
	heap     uint64        // the largest, in bytes
	capped   bool          // the flood was stopped for want of memory
	problems []problem
	tries    int // how often it was tried, and how often there was something wrong
	failed   int
	again    string // the command to try it again
}

// attempt tries a cell once. It measures the yardstick first, or, on demand, only after a problem.
func (c cell) attempt(ctx context.Context, on *terms, anew bool) (o *outcome, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
	o = &outcome{cell: c, tries: 1}
	tidy()
	if !on.yards.onDemand {
		if o.plain, err = on.yards.of(c, on.window, anew); err != nil {
			return o, err
		}
	}
	loopBegan := time.Now()
	if err := c.besiege(ctx, on, o); err != nil {
		return o, err
	}
	lasting := slices.Clone(o.problems)
	o.check(on.allow)
	if on.yards.onDemand && o.wrong() {
		// For as long as the loop was besieged: the worst of a longer time is worse.
		if o.plain, err = on.yards.of(c, max(on.window, min(time.Since(loopBegan), mostWindow)), anew); err != nil {
			return o, err
		}
		o.problems = lasting
		o.check(on.allow)
	}
	return o, nil
}

// besiege starts the floods on a loop, and ends the loop.
func (c cell) besiege(ctx context.Context, on *terms, o *outcome) error {
	memory := watchMemory()
	defer func() { memory.stop.Store(true) }()
	var opts []eventloop.Option
	for _, f := range c.floods() {
		opts = append(opts, f.opts...)
	}
	s, err := newSite(c.maker(on.newLoop), opts...)
	if err != nil {
		return err
	}
	memory.site.Store(s)
	b, err := s.probe()
	if err != nil {
		return err
	}
	if !b.ready(on.patience) {
		o.problem(lasting, "not all probes are answered by a loop without a flood: %v", b.counts())
	}
	stopNeighbours := compute(c.neighbours * c.procs)
	b.reset()
	var joins []func(limit time.Duration) bool
	for _, f := range c.floods() {
		joins = append(joins, f.start(s, c.goroutines))
	}
	join := func() bool {
		all := true
		for _, j := range joins {
			all = j(on.patience) && all
		}
		return all
	}
	c.awaitBegin(s, c.life == shutdown || c.life == closing, on.patience)
	switch c.life {
	case living, whole:
		c.watch(ctx, on, o, s, b)
	case shutdown, closing:
		sleep(ctx, on.window/3)
	}
	o.sums = c.sums(s)
	if !c.life.ends() {
		s.stop.Store(true)
		stopNeighbours()
		if !join() {
			o.problem(lasting, "a call does not return: %+v", c.sums(s))
		}
		if !c.drained(s, on.patience) {
			o.problem(lasting, "what was accepted has not run %v after the flood: %+v", on.patience, c.sums(s))
		}
	}
	before := c.sums(s)
	o.left = c.backlog(s)
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
	o.ended = s.awaitEnd(o.mostEnd(on.allow) + on.giveUp)
	o.end = time.Since(asked)
	if !o.ended {
		s.stop.Store(true)
		if !s.awaitEnd(on.patience) {
			o.problem(lasting, "the loop has not ended %v after the flood; it is closed", on.patience)
			_ = s.loop.Close()
			if !s.awaitEnd(on.patience) {
				return fmt.Errorf("%v: the loop does not end", c)
			}
		}
	}
	if c.life.ends() {
		o.sums = c.sums(s)
		time.Sleep(2 * time.Millisecond) // calls after the end
	}
	s.stop.Store(true)
	stopNeighbours()
	if !join() {
		o.problem(lasting, "a call does not return after the end: %+v", c.sums(s))
	}
	b.all.Wait()
	o.account(s, before, result)
	s.clean()
	o.heap, o.capped = memory.most.Load(), memory.capped.Load()
	return nil
}

// watch lets the flood go on for the window, and reads the gaps.
func (c cell) watch(ctx context.Context, on *terms, o *outcome, s *site, b *battery) {
	sleep(ctx, on.window/2)
	middle := c.backlog(s)
	sleep(ctx, on.window/2)
	o.waited = c.backlog(s)
	o.grew = o.waited > fewWaiting && float64(o.waited) > growing*float64(middle)
	o.gaps = b.gaps()
	o.finishGaps(b, on.longest)
	o.counted(b)
}

const (
	growing    = 1.3     // a backlog grows if it is so many times that in the middle of the window
	fewWaiting = 100_000 // so many calls may wait in any case
)

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
