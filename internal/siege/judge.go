//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// What a loop may take, and what it has done wrong.

import (
	"fmt"
	"time"
)

// The bounds. What the yardstick takes twice is allowed in any case, because it is the machine that is slow then.
const (
	mostGap      = 100 * time.Millisecond // of any probe
	mostClose    = 100 * time.Millisecond // from Close to Done
	mostShutdown = time.Second            // from Shutdown to Done
	mostLate     = 20 * time.Millisecond  // of a timer in a burst, or beside neighbours, beyond the yardstick
)

// kind says what a problem is worth.
type kind int

const (
	lasting kind = iota // one is enough
	timing              // it may have been the machine, so it is tried again
	backlog             // what a flood hands over outruns the loop, and its own kind has to queue
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

func (o *outcome) late(k kind, what string, took, plain, most time.Duration) {
	if took > most {
		o.problems = append(o.problems, problem{k, fmt.Sprintf("%s %s, the yardstick's %s", what, short(took), short(plain)),
			float64(took) / float64(most)})
	}
}

// judge compares what was measured with what is allowed.
func (o *outcome) judge() {
	switch o.life {
	case living:
		for p := range probes {
			k := timing
			switch {
			case o.flood.own.has(p) && o.grew:
				k = backlog
			case o.flood.free.has(p):
				continue
			}
			o.late(k, probeNames[p], o.gaps[p], o.plain.gaps[p], max(mostGap, 2*o.plain.gaps[p]))
		}
	case burst:
		// Timers of its own kind queue with the rest.
		k := timing
		if o.flood.own.has(timerProbe) {
			k = backlog
		}
		o.late(k, "timer", o.gaps[timerProbe], o.plain.gaps[timerProbe], mostLate+o.plain.gaps[timerProbe])
	case shutdown:
		o.late(timing, "Shutdown took", o.end, o.plain.end, max(mostShutdown, 2*o.plain.end))
	case closing:
		o.late(timing, "Close took", o.end, o.plain.end, max(mostClose, 2*o.plain.end))
	case beside:
		for _, p := range []probe{timerProbe, taskProbe} {
			plain := o.plain.gaps[p]
			o.late(timing, "median of the worst "+probeNames[p], o.gaps[p], plain, max(plain*3/2, plain+mostLate))
		}
	}
	if o.capped {
		o.problem(backlog, "stopped at %d MiB of memory", o.heap>>20)
	}
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
