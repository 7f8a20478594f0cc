//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// What a loop may take, and what it has done wrong.

import (
	"fmt"
	"time"
)

// bounds are what a loop may take. What the yardstick takes a few times is allowed in any case, because it is the machine
// that is slow then.
type bounds struct {
	gap      time.Duration // of any probe
	closing  time.Duration // from Close to Done
	shutdown time.Duration // from Shutdown to Done, for a loop that has a processor
	late     time.Duration // of a timer in a burst, or beside neighbours, beyond the yardstick
	times    time.Duration // what the yardstick takes
	besides  float64       // the same beside neighbours
}

// The bounds for a machine of one's own, and for one that others use too: there a thread may have to wait for its processor
// whenever it needs one, and the loop is one goroutine where the yardstick is several.
var (
	strict = bounds{100 * time.Millisecond, 100 * time.Millisecond, time.Second, 20 * time.Millisecond, 2, 1.5}
	shared = bounds{250 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second, 100 * time.Millisecond, 3, 3}
)

// How many turns what has to be done may take, where those who compute are the flood, and where there are neighbours too:
// that of who asks, of the loop, perhaps of who holds a lock that it needs, and again of who asks.
const mostTurns, turnsBeside = 2, 4

// kind says what a problem is worth.
type kind int

const (
	lasting kind = iota // one is enough
	timing              // it may have been the machine, so it is tried again
	backlog             // what a flood hands over outruns the loop, and its own kind has to queue
	slow                // the machine is shared, or who computes in the loop's place has waited for its turn as long
)

// problem is something that is wrong.
type problem struct {
	kind  kind
	text  string
	badly float64 // times what is allowed; 0 if it is never allowed
}

func (o *outcome) problem(k kind, format string, args ...any) {
	o.problems = append(o.problems, problem{kind: k, text: fmt.Sprintf(format, args...)})
}

// late finds a problem in what took longer than the strict bounds allow, which is none that counts if these do.
func (o *outcome) late(k kind, what string, took, plain time.Duration, allow bounds, most func(b bounds) time.Duration) {
	if took <= most(strict) {
		return
	}
	if took <= most(allow) {
		k = slow
	}
	text := what + " " + short(took)
	if o.plain != (yard{}) { // it was asked
		text += ", the yardstick's " + short(plain)
	}
	o.problems = append(o.problems, problem{k, text, float64(took) / float64(max(most(allow), 1))})
}

// judge compares what was measured with what is allowed.
func (o *outcome) judge(allow bounds) {
	if o.life.lives() {
		for p := range probes {
			if !o.free().has(p) {
				o.judgeGap(p, allow)
			}
		}
	}
	switch o.life {
	case burst:
		// Timers of its own kind queue with the rest.
		k, plain := timing, o.plain.gaps[timerProbe]
		if o.own().has(timerProbe) {
			k = backlog
		}
		o.late(k, "timer", o.gaps[timerProbe], plain, allow, func(b bounds) time.Duration { return b.late + plain })
	case shutdown, whole:
		o.late(timing, "Shutdown took", o.end, o.plain.ending(), allow, o.mostEnd)
	case closing:
		o.late(timing, "Close took", o.end, o.plain.ending(), allow, o.mostEnd)
	case beside:
		for _, p := range []probe{timerProbe, taskProbe} {
			plain := o.plain.gaps[p]
			o.late(timing, "median of the worst "+probeNames[p], o.gaps[p], plain, allow, func(b bounds) time.Duration {
				return max(time.Duration(b.besides*float64(plain)), plain+b.late)
			})
		}
	}
	if o.capped {
		o.problem(backlog, "stopped at %d MiB of memory", o.heap>>20)
	}
}

// ending is what the end of the yardstick's loop takes. A loop that ends has to have a turn for it, whoever else computes; a
// channel that is closed needs none.
func (y yard) ending() time.Duration { return max(y.end, y.turn) }

func (o *outcome) turns() time.Duration {
	if o.neighbours > 0 {
		return turnsBeside * o.plain.turn
	}
	return mostTurns * o.plain.turn
}

// mostEnd is what the end may take. Before it Shutdown runs what waits, for which a loop that shares a processor has a part
// of it.
func (o *outcome) mostEnd(b bounds) time.Duration {
	if o.life == closing {
		return max(b.closing, b.times*o.plain.end, o.turns())
	}
	return max(b.shutdown*time.Duration(1+o.neighbours), b.times*o.plain.end, o.turns())
}

// judgeGap is for one probe of a loop that lives.
func (o *outcome) judgeGap(p probe, allow bounds) {
	gap, plain := o.gaps[p], o.plain.gaps[p]
	k := timing
	switch {
	case o.own().has(p) && o.grew:
		k = backlog
	case gap <= o.turns():
		k = slow
	}
	o.late(k, probeNames[p], gap, plain, allow, func(b bounds) time.Duration { return max(b.gap, b.times*plain) })
}

// count tells how many problems of a kind there are.
func (o *outcome) count(k kind) (n int) {
	for _, p := range o.problems {
		if p.kind == k {
			n++
		}
	}
	return n
}

// wrong tells whether there is something that counts.
func (o *outcome) wrong() bool { return o.count(lasting)+o.count(timing) > 0 }

// badly is how bad the worst is.
func (o *outcome) badly() (worst float64) {
	for _, p := range o.problems {
		if p.kind == lasting {
			return 1e9
		}
		if p.kind == timing {
			worst = max(worst, p.badly)
		}
	}
	return worst
}

// better tells which of two that are wrong is less so.
func better(a, b *outcome) *outcome {
	if b.badly() < a.badly() {
		return b
	}
	return a
}

// confirm tries a cell, and twice more if it may have been the machine: a time counts if it is exceeded in two of three.
// What is wrong for good counts at once.
func confirm(attempt func(anew bool) (*outcome, error)) (*outcome, error) {
	var bad, good *outcome
	tries := 0
	for ; tries < 3; tries++ {
		o, err := attempt(tries > 0)
		switch {
		case err != nil:
			return o, err
		case !o.wrong():
			good = o
			if tries == 0 {
				o.tries = 1
				return o, nil
			}
			continue
		case o.count(lasting) > 0:
			o.tries, o.failed = tries+1, 1
			return o, nil
		case bad != nil: // what both have shown
			o = better(bad, o)
			o.tries, o.failed = tries+1, 2
			return o, nil
		}
		bad = o
	}
	good.tries = tries
	return good, nil
}

func (o *outcome) verdict() string {
	switch {
	case o.failed > 0 && o.count(lasting) > 0:
		return "WRONG"
	case o.failed > 0:
		return fmt.Sprintf("VIOLATED %d/%d", o.failed, o.tries)
	case o.tries > 1:
		return "ok, once not"
	case o.count(backlog) > 0:
		return "backlog"
	case o.count(slow) > 0:
		return "ok, slow"
	}
	return "ok"
}

// short is a duration for people.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
}
