//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The site: one loop under siege, and what is counted of the calls that besiege it.

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// loop is what is besieged: *eventloop.Loop, or one with a flaw.
type loop interface {
	js.Loop
	eventloop.FDRegistrar
	eventloop.Holder
	Run(ctx context.Context) error
	Shutdown(ctx context.Context) error
	Close() error
	Alive() bool
	ScheduleTimerAs(tier eventloop.TimerTier, delay time.Duration, fn func()) (eventloop.TimerID, error)
	UnregisterFDThen(fd int, then func()) error
	SetFastPathMode(mode eventloop.FastPathMode) error
	NewPromise() (p *eventloop.Promise, resolve func(any), reject func(error))
	Promisify(ctx context.Context, fn func(context.Context) (any, error)) *eventloop.Promise
}

// maker makes the loops.
type maker func(opts ...eventloop.Option) (loop, error)

func sound(opts ...eventloop.Option) (loop, error) { return eventloop.New(opts...) }

// The phases of a site, as a callback sees them.
const (
	open   int32 = iota
	closed       // Close has returned
	over         // Done is closed
)

// site is a loop that runs, with what has been sent to it.
type site struct {
	loop loop
	js   *js.JS

	stop  atomic.Bool // the flood is to stop
	phase atomic.Int32
	// How many callbacks have started although Close had returned, and although Done was closed.
	afterClose, afterDone atomic.Int64
	reports               atomic.Int64 // records of the loop's logger

	mu      sync.Mutex // guards what follows
	tallies []*tally
	wrong   []string // what no figure tells
	cleanup []func() // when the loop has ended

	returned chan error // what Run returned
}

// newSite starts a loop.
func newSite(newLoop maker, opts ...eventloop.Option) (*site, error) {
	s := &site{returned: make(chan error, 1)}
	logger := slog.New(counter{&s.reports})
	l, err := newLoop(append([]eventloop.Option{eventloop.WithLogger(logger)}, opts...)...)
	if err != nil {
		return nil, err
	}
	s.loop = l
	if s.js, err = js.New(l); err != nil {
		return nil, err
	}
	go func() { s.returned <- l.Run(context.Background()) }()
	return s, nil
}

// counter is a logger's handler that only counts.
type counter struct{ n *atomic.Int64 }

func (c counter) Enabled(context.Context, slog.Level) bool { return true }
func (c counter) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c counter) WithGroup(string) slog.Handler            { return c }

func (c counter) Handle(context.Context, slog.Record) error {
	c.n.Add(1)
	return nil
}

// enter is called by every callback first.
func (s *site) enter() {
	switch s.phase.Load() {
	case closed:
		s.afterClose.Add(1)
	case over:
		s.afterDone.Add(1)
	}
}

func (s *site) fault(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < 10 {
		s.wrong = append(s.wrong, what)
	}
}

func (s *site) atEnd(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanup = append(s.cleanup, fn)
}

// ended takes note of the loop's end.
func (s *site) ended() { s.phase.Store(over) }

// clean releases what the flood has held, once the loop has ended.
func (s *site) clean() {
	for _, fn := range s.cleanup {
		fn()
	}
	s.cleanup = nil
}

const marks = 64

// tally counts the calls of one flooder, and what became of them. The flooder has marks functions to hand over, and
// hands over the next one when the last was accepted; so the loop, which runs them in order, must run one after the
// other, and neither a loss nor a double can be made good by the other.
type tally struct {
	site     *site
	flood    *flood
	begun    atomic.Int64 // calls that have begun
	calls    atomic.Int64 // calls that have returned
	accepted atomic.Int64
	_        [40]byte     // what the loop writes is not on the flooder's line
	ran      atomic.Int64 // callbacks that have started
	twisted  atomic.Int64 // of which out of turn, or twice
	_        [48]byte
	mark     [marks]func()
}

func (s *site) newTally(f *flood) *tally {
	t := &tally{site: s, flood: f}
	for i := range t.mark {
		t.mark[i] = func() {
			s.enter()
			if n := t.ran.Add(1) - 1; n%marks != int64(i) {
				t.twisted.Add(1)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tallies = append(s.tallies, t)
	return t
}

// next is the function for the next call.
func (t *tally) next() func() { return t.mark[t.accepted.Load()%marks] }

// one is for calls whose callbacks come in no order: it tells by itself that it ran twice.
type one struct {
	t   *tally
	ran atomic.Bool
}

func (o *one) run() {
	o.t.site.enter()
	o.count()
}

// count is run for what need not be on the loop.
func (o *one) count() {
	o.t.ran.Add(1)
	if o.ran.Swap(true) {
		o.t.twisted.Add(1)
	}
}

func (o *one) fulfilled(any) (any, error)  { o.run(); return nil, nil }
func (o *one) rejected(error) (any, error) { o.run(); return nil, nil }

// sums are the figures of all tallies of a flood.
type sums struct{ goroutines, begun, calls, accepted, ran, twisted int64 }

// waiting is what has been accepted, and has not run.
func (n sums) waiting() int64 { return n.accepted - n.ran }

func (n sums) and(m sums) sums {
	return sums{n.goroutines + m.goroutines, n.begun + m.begun, n.calls + m.calls, n.accepted + m.accepted, n.ran + m.ran,
		n.twisted + m.twisted}
}

// of adds up what there is of a flood. What has run is read first: it can only be more than that.
func (s *site) of(f *flood) (n sums) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tallies {
		if t.flood == f {
			ran := t.ran.Load()
			n = n.and(sums{1, t.begun.Load(), t.calls.Load(), t.accepted.Load(), ran, t.twisted.Load()})
		}
	}
	return n
}

// base is the origin of the times that are kept in atomics.
var base = time.Now()

func now() int64 { return int64(time.Since(base)) }
