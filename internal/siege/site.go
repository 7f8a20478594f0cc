//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The site: one loop under siege, and the counts of the calls that besiege it.

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// loop is a loop to besiege: *eventloop.Loop, or one with a flaw.
type loop interface {
	js.Loop
	RegisterFD(fd int, events eventloop.IOEvents, callback func(eventloop.IOEvents)) error
	ModifyFD(fd int, events eventloop.IOEvents) error
	UnregisterFD(fd int) error
	Hold() (release func())
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
	done         // Done is closed
)

// site is a running loop, with the tallies of its floods.
type site struct {
	loop loop
	own  *eventloop.Loop // for calls that only it has; nil if the loop has a flaw
	js   *js.JS

	signal *js.AbortSignal // shared by all goroutines of a flood; never aborted

	stop  atomic.Bool // the flood is to stop
	phase atomic.Int32
	// How many callbacks have started although Close had returned, and although Done was closed.
	afterClose, afterDone atomic.Int64

	mu      sync.Mutex // guards what follows
	tallies []*tally
	wrong   []string // faults that no figure shows
	cleanup []func() // when the loop has ended

	returned chan error // what Run returned
}

// newSite starts a loop.
func newSite(newLoop maker, opts ...eventloop.Option) (*site, error) {
	s := &site{returned: make(chan error, 1)}
	logger := slog.New(records{})
	l, err := newLoop(append([]eventloop.Option{eventloop.WithLogger(logger)}, opts...)...)
	if err != nil {
		return nil, err
	}
	s.loop = l
	switch l := l.(type) {
	case *eventloop.Loop:
		s.own = l
	case *grouped:
		s.own = l.Loop
	}
	if s.js, err = js.New(l); err != nil {
		return nil, err
	}
	s.signal = s.js.NewAbortController().Signal()
	go func() { s.returned <- l.Run(context.Background()) }()
	return s, nil
}

// records is a logger's handler. To a flood of rejections its records are callbacks.
type records struct{}

func (records) Enabled(context.Context, slog.Level) bool { return true }
func (h records) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h records) WithGroup(string) slog.Handler          { return h }

func (records) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if u, ok := a.Value.Any().(unhandled); ok {
			u.run()
		}
		return true
	})
	return nil
}

// enter is called by every callback first.
func (s *site) enter() {
	switch s.phase.Load() {
	case closed:
		s.afterClose.Add(1)
	case done:
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
func (s *site) ended() { s.phase.Store(done) }

// clean releases what the flood has held, once the loop has ended.
func (s *site) clean() {
	for _, fn := range s.cleanup {
		fn()
	}
	s.cleanup = nil
}

const marks = 64

// tally counts the calls of one flooder, and what became of them. The flooder has a ring of functions, and hands over the
// next one when the last was accepted. So the loop must run them in the order of the ring, and a lost function cannot make
// up for one that ran twice.
type tally struct {
	site       *site
	flood      *flood
	begun      atomic.Int64 // calls that have begun
	calls      atomic.Int64 // calls that have returned
	accepted   atomic.Int64
	_          [40]byte     // the loop's fields are not on the flooder's cache line
	ran        atomic.Int64 // callbacks that have started
	disordered atomic.Int64 // callbacks that ran out of order, or twice
	_          [48]byte
	mark       [marks]func()
}

func (s *site) newTally(f *flood) *tally {
	t := &tally{site: s, flood: f}
	for i := range t.mark {
		t.mark[i] = func() {
			s.enter()
			if n := t.ran.Add(1) - 1; n%marks != int64(i) {
				t.disordered.Add(1)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tallies = append(s.tallies, t)
	return t
}

// next returns the function for the next call.
func (t *tally) next() func() { return t.mark[t.accepted.Load()%marks] }

// one is the callback of a call without an order: it notices itself that it ran twice.
type one struct {
	t   *tally
	ran atomic.Bool
}

func (o *one) run() {
	o.t.site.enter()
	o.count()
}

// count does what run does, for a callback that need not be on the loop.
func (o *one) count() {
	o.t.ran.Add(1)
	if o.ran.Swap(true) {
		o.t.disordered.Add(1)
	}
}

func (o *one) fulfilled(any) (any, error)  { o.run(); return nil, nil }
func (o *one) rejected(error) (any, error) { o.run(); return nil, nil }

// sums are the figures of all tallies of a flood.
type sums struct{ goroutines, begun, calls, accepted, ran, disordered int64 }

// waiting is the number of functions that were accepted and have not run.
func (n sums) waiting() int64 { return n.accepted - n.ran }

func (n sums) and(m sums) sums {
	return sums{n.goroutines + m.goroutines, n.begun + m.begun, n.calls + m.calls, n.accepted + m.accepted, n.ran + m.ran,
		n.disordered + m.disordered}
}

// of adds up the tallies of a flood. ran is read first: it only grows, so waiting is never too small.
func (s *site) of(f *flood) (n sums) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tallies {
		if t.flood == f {
			ran := t.ran.Load()
			n = n.and(sums{1, t.begun.Load(), t.calls.Load(), t.accepted.Load(), ran, t.disordered.Load()})
		}
	}
	return n
}

// base is the origin of the times that are kept in atomics.
var base = time.Now()

func now() int64 { return int64(time.Since(base)) }
