//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The probes: small steady work of each kind, which must get through whatever else there is.

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

type probe int

const (
	timerProbe      probe = iota // 1 ms, re-armed when it fires: how late it is
	descriptorProbe              // a byte there and back
	taskProbe                    // from Submit to the answer
	internalProbe
	promiseProbe // made and resolved elsewhere: until its handler has answered
	microtaskProbe
	probes
)

var probeNames = [probes]string{"timer", "descriptor", "task", "internal", "promise", "microtask"}

type probeSet uint

func set(ps ...probe) (s probeSet) {
	for _, p := range ps {
		s |= 1 << p
	}
	return s
}

func (s probeSet) has(p probe) bool { return s&(1<<p) != 0 }

// pace is a prober's pause between two probes, so that the loop comes to rest too.
const pace = time.Millisecond

// gauge keeps the worst gap of a probe, including one that is under way.
type gauge struct {
	count atomic.Int64
	worst atomic.Int64
	since atomic.Int64 // when the gap under way began; 0 if there is none
}

func (g *gauge) begin() { g.since.Store(now()) }

// beginGap begins a gap at a moment that may lie in the future.
func (g *gauge) beginGap(at int64) { g.since.Store(at) }

func (g *gauge) end() {
	from := g.since.Swap(0)
	g.worst.Store(max(g.worst.Load(), now()-from))
	g.count.Add(1)
}

func (g *gauge) cancel() { g.since.Store(0) }

func (g *gauge) pending() time.Duration {
	if from := g.since.Load(); from != 0 {
		return time.Duration(max(0, now()-from))
	}
	return 0
}

// gap is the worst up to now.
func (g *gauge) gap() time.Duration { return max(time.Duration(g.worst.Load()), g.pending()) }

// battery is the probes of a site, or of the yardstick.
type battery struct {
	gauges [probes]gauge
	stop   atomic.Bool
	ended  <-chan struct{} // nothing is answered any more
	all    sync.WaitGroup
}

// ask probes by a call that arranges a call of done, or fails.
func (b *battery) ask(p probe, call func(done func()) error) {
	g := &b.gauges[p]
	answer := make(chan struct{}, 1)
	done := func() { answer <- struct{}{} }
	b.all.Add(1)
	go func() {
		defer b.all.Done()
		for ; !b.stop.Load(); time.Sleep(pace) {
			g.begin()
			err := call(done)
			for errors.Is(err, eventloop.ErrLoopOverloaded) && !b.stop.Load() {
				time.Sleep(pace / 10)
				err = call(done)
			}
			if err != nil {
				g.cancel()
				return
			}
			select {
			case <-answer:
				g.end()
			case <-b.ended:
				return
			}
		}
	}()
}

// echo probes by a byte through a connection whose other end sends it back, and then calls sent. That wakes the prober as the
// answers of the other probes do. If the prober waited for the byte in Read, the runtime's poller would wake it: on a single
// processor it then stands behind all goroutines that yield, whoever has sent the byte.
func (b *battery) echo(near *os.File) (sent func()) {
	g := &b.gauges[descriptorProbe]
	answer := make(chan struct{}, 1)
	b.all.Add(1)
	go func() {
		defer b.all.Done()
		var buf [1]byte
		for ; !b.stop.Load(); time.Sleep(pace) {
			g.begin()
			if _, err := near.Write(buf[:]); err != nil {
				g.cancel()
				return
			}
			select {
			case <-answer:
			case <-b.ended:
				g.cancel()
				return
			}
			if _, err := near.Read(buf[:]); err != nil { // does not wait
				g.cancel()
				return
			}
			g.end()
		}
	}()
	return func() { answer <- struct{}{} }
}

// reset forgets the gaps so far. A gap that is under way counts from now on.
func (b *battery) reset() {
	for p := range b.gauges {
		g := &b.gauges[p]
		g.worst.Store(0)
		g.count.Store(0)
		if from := g.since.Load(); from != 0 && from < now() {
			g.since.CompareAndSwap(from, now())
		}
	}
}

// ready waits until every probe has been answered.
func (b *battery) ready(limit time.Duration) bool { return b.answered([probes]int64{}, 0, limit) }

// awaitPending waits until the probes that are under way now have been answered, except some, and tells whether they were.
func (b *battery) awaitPending(but probeSet, limit time.Duration) bool {
	var counts [probes]int64
	for p := range counts {
		counts[p] = b.gauges[p].count.Load()
	}
	return b.answered(counts, but, limit)
}

func (b *battery) answered(before [probes]int64, but probeSet, limit time.Duration) bool {
	for until := time.Now().Add(limit); ; time.Sleep(pace) {
		all := true
		for p := range probes {
			if !but.has(p) && b.gauges[p].count.Load() == before[p] {
				all = false
			}
		}
		if all || time.Now().After(until) {
			return all
		}
	}
}

func (b *battery) gaps() (gaps [probes]time.Duration) {
	for p := range gaps {
		gaps[p] = b.gauges[p].gap()
	}
	return gaps
}

func (b *battery) counts() (counts [probes]int64) {
	for p := range counts {
		counts[p] = b.gauges[p].count.Load()
	}
	return counts
}

// pair returns the two ends of a connection, of which one is for the loop.
func pair() (fd int, far *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, nil, err
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		_ = unix.SetNonblock(fd, true)
	}
	return fds[0], os.NewFile(uintptr(fds[1]), "far end"), nil
}

// probe starts the probes of a site.
func (s *site) probe() (*battery, error) {
	b := &battery{ended: s.loop.Done()}
	l := s.loop
	fd, far, err := pair()
	if err != nil {
		return nil, err
	}
	s.atEnd(func() {
		_ = far.Close()
		_ = unix.Close(fd)
	})
	sent := b.echo(far)
	err = l.RegisterFD(fd, eventloop.EventRead, func(eventloop.IOEvents) {
		s.enter()
		var buf [16]byte
		if n, _ := unix.Read(fd, buf[:]); n > 0 {
			_, _ = unix.Write(fd, buf[:n])
			sent()
		}
	})
	if err != nil {
		return nil, err
	}
	if err := s.probeTimer(b); err != nil {
		return nil, err
	}
	callback := func(done func()) func() { return func() { s.enter(); done() } }
	b.ask(taskProbe, func(done func()) error { return l.Submit(callback(done)) })
	b.ask(internalProbe, func(done func()) error { return l.SubmitInternal(callback(done)) })
	b.ask(microtaskProbe, func(done func()) error { return l.ScheduleMicrotask(callback(done)) })
	b.ask(promiseProbe, func(done func()) error {
		answer := callback(done)
		p, resolve, _ := l.NewPromise()
		p.Then(func(any) (any, error) { answer(); return nil, nil }, func(error) (any, error) { answer(); return nil, nil })
		resolve(nil)
		return nil
	})
	return b, nil
}

func (s *site) probeTimer(b *battery) error {
	g := &b.gauges[timerProbe]
	var arm func() error
	fire := func() {
		s.enter()
		g.end()
		if !b.stop.Load() {
			_ = arm()
		}
	}
	arm = func() error {
		g.beginGap(now() + int64(pace))
		_, err := s.loop.ScheduleTimer(pace, fire)
		if err != nil {
			g.cancel()
		}
		return err
	}
	return arm()
}
