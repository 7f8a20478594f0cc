//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The bounds of a loop's times, and what violates them.

import (
	"fmt"
	"slices"
	"time"
)

// bounds are the longest times that a loop may take. A few times the yardstick's time is always allowed: then the machine is
// slow.
type bounds struct {
	gap      time.Duration // the longest gap of any probe
	closing  time.Duration // from Close to Done
	shutdown time.Duration // from Shutdown to Done, for a loop that has a processor
	times    time.Duration // so many times the yardstick's time is allowed
	asOne    bool          // the yardstick's worst probe counts for each probe
}

// The bounds for a machine of one's own, and for one that others use too: there a thread may have to wait for its processor
// whenever it needs one. The loop is one goroutine where the yardstick is several: while it waits to serve one probe, the
// others wait as long.
var (
	strict = bounds{100 * time.Millisecond, 100 * time.Millisecond, time.Second, 2, false}
	shared = bounds{250 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second, 3, true}
)

// How many turns on a processor an exchange may take, without neighbours and with them: the caller's, the loop's, perhaps
// that of the holder of a lock, and the caller's again.
const mostTurns, turnsBeside = 2, 4

// kind says how much a problem counts.
type kind int

const (
	lasting kind = iota // it counts at once
	timing              // it may have been the machine, so it is tried again
	backlog             // the flood outruns the loop, and probes of its kind have to queue
	slow                // the machine is shared, or a goroutine that computes in the loop's place has waited as long for its turn
)

// problem is something that is wrong.
type problem struct {
	kind   kind
	text   string
	excess float64 // so many times what is allowed; 0 if nothing of the kind is
}

func (o *outcome) problem(k kind, format string, args ...any) {
	o.problems = append(o.problems, problem{kind: k, text: fmt.Sprintf(format, args...)})
}

// late adds a problem if took exceeds the strict bound; the problem is only slow if took is within allow.
func (o *outcome) late(k kind, what string, took, plain time.Duration, allow bounds, most func(b bounds) time.Duration) {
	if took <= most(strict) {
		return
	}
	if took <= most(allow) {
		k = slow
	}
	text := what + " " + short(took)
	if o.plain != (yard{}) { // it was measured
		text += ", the yardstick's " + short(plain)
	}
	o.problems = append(o.problems, problem{k, text, float64(took) / float64(max(most(allow), 1))})
}

// check compares the measured times with the bounds.
func (o *outcome) check(allow bounds) {
	if o.life.lives() {
		for p := range probes {
			if !o.free().has(p) {
				o.checkGap(p, allow)
			}
		}
	}
	switch o.life {
	case shutdown, whole:
		o.late(timing, "Shutdown took", o.end, o.plain.ending(), allow, o.mostEnd)
	case closing:
		o.late(timing, "Close took", o.end, o.plain.ending(), allow, o.mostEnd)
	}
	if o.capped {
		o.problem(backlog, "stopped at %d MiB of memory", o.heap>>20)
	}
}

// behind is the time that a probe, or the end, takes the yardstick's loop if so many functions of the flood go before it, as
// they do in a loop whose queues have no bound.
func (y yard) behind(waiting int64, took time.Duration) time.Duration {
	return took + time.Duration(waiting)*y.each
}

// ending is the time that the end of the yardstick's loop takes. A loop needs a turn on a processor to end; a channel that
// is closed needs none.
func (y yard) ending() time.Duration { return max(y.end, y.turn) }

func (o *outcome) turns() time.Duration {
	if o.neighbours > 0 {
		return turnsBeside * o.plain.turn
	}
	return mostTurns * o.plain.turn
}

// mostEnd is the longest time that the end may take. Shutdown first runs what waits, on the loop's share of a processor.
func (o *outcome) mostEnd(b bounds) time.Duration {
	if o.life == closing {
		return max(b.closing, b.times*o.plain.end, o.turns())
	}
	return max(b.shutdown*time.Duration(1+o.neighbours), b.times*o.plain.behind(o.left, o.plain.end), o.turns())
}

// checkGap does what check does, for one probe of a loop that lives.
func (o *outcome) checkGap(p probe, allow bounds) {
	gap, plain := o.gaps[p], o.plain.gaps[p]
	if allow.asOne {
		plain = slices.Max(o.plain.gaps[:])
	}
	if o.own().has(p) {
		plain = o.plain.behind(o.waited, plain)
	}
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

// wrong tells whether there is a problem that counts.
func (o *outcome) wrong() bool { return o.count(lasting)+o.count(timing) > 0 }

// excess is that of the worst problem that counts.
func (o *outcome) excess() (worst float64) {
	for _, p := range o.problems {
		if p.kind == lasting {
			return 1e9
		}
		if p.kind == timing {
			worst = max(worst, p.excess)
		}
	}
	return worst
}

// better returns the less wrong of two outcomes.
func better(a, b *outcome) *outcome {
	if b.excess() < a.excess() {
		return b
	}
	return a
}

// confirm tries a cell, and up to twice more if the machine may be at fault: a time counts if it is exceeded in two of three
// tries. A lasting problem counts at once.
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
		case bad != nil: // the second that is wrong
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
