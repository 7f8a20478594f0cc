//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The counts of a siege, and what they must be.

import (
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

func (c cell) sums(s *site) (all []sums) {
	for _, f := range c.floods() {
		all = append(all, s.of(f))
	}
	return all
}

// backlog is the number of callbacks that wait, of floods whose callbacks are known to run.
func (c cell) backlog(s *site) (n int64) {
	for _, f := range c.floods() {
		if f.law != nothing {
			n += max(0, s.of(f).waiting()) // a function may have run before its call is counted
		}
	}
	return n
}

// drained waits until everything accepted has run, and tells whether it has.
func (c cell) drained(s *site, limit time.Duration) bool {
	for until := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		rest := false
		for _, f := range c.floods() {
			rest = rest || f.law != nothing && s.of(f).waiting() > 0
		}
		if !rest || time.Now().After(until) {
			return !rest
		}
	}
}

// awaitBegin waits until each flood has a call that was accepted, or, where calls are to be refused, refused; if all is set,
// until each of its goroutines has one.
func (c cell) awaitBegin(s *site, all bool, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until) && !c.begun(s, all); time.Sleep(time.Millisecond) {
	}
}

func (c cell) begun(s *site, all bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range c.floods() {
		goroutines, begun := 0, 0
		for _, t := range s.tallies {
			if t.flood == f {
				goroutines++
				if t.accepted.Load() > 0 || f.refused && t.calls.Load() > 0 {
					begun++
				}
			}
		}
		if begun == 0 || all && begun < goroutines {
			return false
		}
	}
	return true
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

// account compares the calls with the callbacks that have run.
func (o *outcome) account(s *site, before []sums, result <-chan error) {
	for i, f := range o.floods() {
		o.accountOf(f, before[i], s.of(f))
	}
	atOnce := int64(1) // each loop may have been about to call one
	if g, ok := s.loop.(*grouped); ok {
		atOnce = int64(g.group.Len())
	}
	if n := s.afterClose.Load(); n > atOnce {
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
}

// accountOf does what account does, for one flood: by its figures from before the end was asked for, and those from after it.
func (o *outcome) accountOf(f *flood, before, after sums) {
	if after.disordered > 0 {
		o.problem(lasting, "%s: %d callbacks have run twice, or out of turn", f.name, after.disordered)
	}
	switch {
	case o.life == closing, f.law == nothing:
	case f.law == exactly && after.ran != after.accepted, f.law == pending && after.ran > after.accepted:
		o.problem(lasting, "%s: %d were accepted, %d have run", f.name, after.accepted, after.ran)
	case f.law == wanted && (after.ran < before.calls || after.ran > after.begun):
		o.problem(lasting, "%s: %d were handed over, %d of them before the end began, %d have run", f.name, after.begun, before.calls,
			after.ran)
	}
	switch {
	case f.like == quiet:
	case f.refused && after.accepted > 0:
		o.problem(lasting, "%s: %d calls were accepted that are to be refused", f.name, after.accepted)
	case f.refused && after.calls == 0 || !f.refused && after.accepted == 0:
		o.problem(lasting, "%s: no flood: of %d calls %d were accepted", f.name, after.calls, after.accepted)
	}
}

// counted checks that each probe was answered, or is known to be late.
func (o *outcome) counted(b *battery) {
	for p, n := range b.counts() {
		if n == 0 && !(o.own() | o.free()).has(probe(p)) && o.gaps[p] <= strict.gap {
			o.problem(lasting, "the probe %s has not run", probeNames[p])
		}
	}
}

// finishGaps waits for the end of the gaps that are under way, and takes note of them, except those of probes that the flood
// may hold up.
func (o *outcome) finishGaps(b *battery, limit time.Duration) {
	but := o.own() | o.free()
	b.awaitPending(but, limit)
	for p, gap := range b.gaps() {
		if !but.has(probe(p)) {
			o.gaps[p] = gap
		}
	}
}
