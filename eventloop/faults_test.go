package eventloop_test

// Faults of the system under the descriptor code: each call that can fail does, in each way and at each place.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/poller"
)

// place is where a loop sleeps.
type place struct {
	name  string
	mode  eventloop.FastPathMode
	parks bool
}

var places = []place{
	{"Auto", eventloop.FastPathAuto, true},
	{"Auto, without Park", eventloop.FastPathAuto, false}, // as on systems other than Linux
	{"Disabled", eventloop.FastPathDisabled, true},
}

// heard is where the failure of an operation comes out: of which message, if it is logged. Others come out of the call,
// and those of Wait and Park, without which nothing can be served, of Run, too.
var heard = map[operation]string{
	opWait:     "the loop ends",
	opPark:     "the loop ends",
	opWatch:    "descriptors cannot be watched",
	opNotify:   "descriptors cannot be watched",
	opWake:     "could not be woken",
	opReset:    "cannot be forgotten",
	opAddAgain: "not watched any more",
	opClose:    "not closed properly",
}

// life is one life of a loop whose poller fails.
type life struct {
	t     failer
	name  string
	place place
	fake  *fakePoller
	log   *journal
	loop  *eventloop.Loop
	links []*link

	accepted    int64
	ran, faults atomic.Int64
	returned    chan error // what Run returned
	refused     int64      // calls that returned the injected error
}

// link is a pair of sockets of which the near one is registered.
type link struct {
	near, far int
	calls     atomic.Int64 // that found something to read
	gone      atomic.Bool  // UnregisterFD has returned
}

// must ends the life, and fails the test, unless it is so.
func (c *life) must(ok bool, format string, args ...any) {
	if !ok {
		c.t.Errorf("%s: %s; log: %v", c.name, fmt.Sprintf(format, args...), c.log)
		runtime.Goexit()
	}
}

func (c *life) until(is func() bool, format string, args ...any) {
	c.must(reaches(is), format, args...)
}

// ending tells that the loop ends, as it does when it can hear of nothing any more.
func (c *life) ending() bool {
	s := c.loop.State()
	return s == eventloop.StateTerminating || s == eventloop.StateTerminated
}

func (c *life) rest() {
	c.until(func() bool { return asleep(c.loop)() || c.ending() }, "the loop does not rest")
}

// try makes a call up to three times, and tells whether it succeeded. It may fail with the injected error only.
func (c *life) try(op operation, call func() error) bool {
	for range 3 {
		before := c.fake.failed[c.fake.broken].Load()
		err := call()
		if err == nil {
			return true
		}
		if c.ending() && errors.Is(err, eventloop.ErrLoopTerminated) {
			return false
		}
		injected := (c.fake.broken == op || c.fake.broken == opNew) && c.fake.failed[c.fake.broken].Load() == before+1
		c.must(injected && errors.Is(err, c.fake.err), "%v: %v", op, err)
		c.refused++
	}
	return false
}

// register brings a link into being; it is nil if it cannot be registered.
func (c *life) register() *link {
	pair, err := openPair()
	c.must(err == nil, "socketpair: %v", err)
	s := &link{near: pair[0], far: pair[1]}
	ok := c.try(opAdd, func() error {
		return c.loop.RegisterFD(s.near, eventloop.EventRead, func(eventloop.IOEvents) {
			if s.gone.Load() {
				c.t.Errorf("%s: a callback after UnregisterFD", c.name)
			}
			if n, _ := receive(s.near); n > 0 {
				s.calls.Add(1)
			}
		})
	})
	if !ok {
		closeAll(pair[:]...)
		return nil
	}
	c.links = append(c.links, s)
	return s
}

// exchange makes a descriptor ready while the loop sleeps.
func (c *life) exchange(s *link) {
	c.rest()
	before := s.calls.Load()
	c.must(send(s.far, 1), "write")
	c.until(func() bool { return s.calls.Load() > before || c.ending() || c.lost() }, "an event was lost")
}

// lost tells that a descriptor may not be watched any more, because it could not be added again.
func (c *life) lost() bool {
	return c.fake.failed[opAddAgain].Load() > 0
}

func (c *life) exchanges() {
	for _, s := range c.links {
		if !s.gone.Load() {
			c.exchange(s)
		}
	}
}

// work wakes the loop by each kind of producer.
func (c *life) work() {
	for _, submit := range []func(func()) error{c.loop.Submit, c.loop.SubmitInternal} {
		c.rest()
		if err := submit(func() { c.ran.Add(1) }); err == nil {
			c.accepted++
		} else {
			c.must(c.ending(), "Submit: %v", err)
		}
		c.until(func() bool { return c.ran.Load() == c.accepted }, "a task was lost")
	}
	c.rest()
	fired := make(chan struct{})
	if _, err := c.loop.ScheduleTimer(100*time.Microsecond, func() { close(fired) }); err == nil {
		c.until(func() bool {
			select {
			case <-fired:
				return true
			default:
				return c.ending()
			}
		}, "a timer was lost")
	}
}

// unregister ends a registration. A failure that says that there was nothing to end is none.
func (c *life) unregister(s *link) {
	c.rest()
	before := c.refused
	c.try(opRemove, func() error {
		err := c.loop.UnregisterFD(s.near)
		if c.refused > before && errors.Is(err, eventloop.ErrFDNotRegistered) {
			return nil // the registration has ended all the same
		}
		return err
	})
	c.must(c.refused == before || !poller.Gone(c.fake.err), "UnregisterFD returns that there is nothing to end")
	s.gone.Store(true)
}

// leaveGhost leaves a ghost: a descriptor that is closed, and ready under a duplicate.
func (c *life) leaveGhost() {
	s := c.register()
	if s == nil || c.ending() {
		return
	}
	c.rest()
	resets := c.fake.calls[opReset].Load()
	twin := duplicate(s.near, 0)
	c.must(twin >= 0, "dup")
	defer closeAll(twin)
	closeAll(s.near)
	c.unregister(s)
	s.near = -1
	c.must(send(s.far, 1), "write")
	if haveGhosts {
		c.until(func() bool { return c.fake.calls[opReset].Load() > resets || c.ending() }, "a ghost was not laid")
	}
	c.exchanges()
	c.bounded() // also when it cannot be laid
}

// bounded expects the loop not to go round and round.
func (c *life) bounded() {
	c.rest()
	spins := c.fake.spins()
	c.must(spins == "", "%s", spins)
}

func (c *life) live() {
	f := c.fake
	var err error
	for range 3 {
		if c.loop, err = eventloop.New(eventloop.WithFastPathMode(c.place.mode), eventloop.WithPoller(f.open),
			eventloop.WithLogger(slog.New(c.log)), eventloop.WithPanicHandler(func(*eventloop.PanicError) { c.faults.Add(1) })); err == nil {
			break
		}
		c.must(f.broken == opNew && errors.Is(err, f.err), "New: %v", err)
		c.refused++
	}
	c.must(err == nil, "New: %v", err)
	defer c.loop.Close()
	f.loop = c.loop
	c.returned = make(chan error, 1)
	go func() { c.returned <- c.loop.Run(context.Background()) }()
	defer func() {
		for _, s := range c.links {
			if closeAll(s.far); s.near >= 0 {
				closeAll(s.near)
			}
		}
	}()

	for range 3 {
		c.register()
	}
	c.exchanges()
	c.work()
	modify := func(s *link, events eventloop.IOEvents) bool {
		return c.try(opModify, func() error { return c.loop.ModifyFD(s.near, events) })
	}
	for _, s := range c.links {
		c.must(!modify(s, 0) || modify(s, eventloop.EventRead) || f.every == 1 || c.ending(), "ModifyFD does not recover")
	}
	c.tour()
	for range 3 {
		c.leaveGhost()
	}
	c.work()
	for _, s := range c.links {
		if !s.gone.Load() {
			c.unregister(s)
			send(s.far, 1) // if it was not removed, it is a ghost
		}
	}
	c.bounded()
	c.end()
}

// tour leads through all places to sleep in.
func (c *life) tour() {
	if c.place.mode == eventloop.FastPathAuto && c.place.parks {
		for i := 0; i < 4*eventloop.MoveAfter && c.fake.calls[opPark].Load() == 0; i++ {
			c.exchanges()
		}
		for range eventloop.MoveAfter {
			c.work()
		}
	}
	for _, mode := range []eventloop.FastPathMode{eventloop.FastPathDisabled, eventloop.FastPathAuto, eventloop.FastPathDisabled,
		eventloop.FastPathAuto, c.place.mode} {
		c.rest()
		c.try(opNew, func() error { return c.loop.SetFastPathMode(mode) })
		c.exchanges()
		c.work()
	}
}

func (c *life) end() {
	f := c.fake
	failed := c.ending()
	ctx, cancel := beat.Context(context.Background())
	defer cancel()
	err := c.loop.Shutdown(ctx)
	if failed {
		c.must(errors.Is(err, eventloop.ErrLoopTerminated), "Shutdown of a loop that has ended by itself: %v", err)
	} else {
		c.must(err == nil || f.broken == opWait || f.broken == opPark, "Shutdown: %v", err)
	}
	<-c.loop.Done()
	c.must(c.ran.Load() == c.accepted, "%d of %d tasks ran", c.ran.Load(), c.accepted)
	c.must(f.closed == (f.real != nil), "the poller was not closed")
	c.must(len(f.breaches) == 0, "%q", f.breaches)
	if c.log.then == nil { // or else Run's goroutine may have ended
		err := <-c.returned
		if f.failed[opWait].Load()+f.failed[opPark].Load() > 0 {
			c.must(errors.Is(err, f.err), "Run: %v", err)
		} else {
			c.must(err == nil, "Run: %v", err)
		}
	}

	n := f.failed[f.broken].Load()
	if f.err == nil {
		c.must(c.log.count() == 0, "without a fault something is logged")
		return
	}
	c.must(n > 0 || !c.certain(), "the fault did not happen")
	switch message := heard[f.broken]; {
	case n == 0, (f.broken == opRemove || f.broken == opAddAgain) && poller.Gone(f.err): // nothing is amiss
	case message != "":
		c.until(func() bool { return c.log.count(message, f.err.Error()) > 0 }, "it was not logged: %s", message)
	default:
		c.must(c.refused == n, "%d errors came out of %d", c.refused, n)
	}
}

// certain tells whether the life leads through the fault.
func (c *life) certain() bool {
	f := c.fake
	switch {
	case f.broken == opPark:
		return c.place.mode == eventloop.FastPathAuto && f.parks && f.parker != nil
	case f.broken == opReset, f.broken == opAddAgain:
		return haveGhosts
	case f.broken == opNotify, f.broken == opWatch:
		return f.every < 3 || c.place.mode == eventloop.FastPathAuto
	}
	return true
}

// newLife prepares a life; every is 0 for one without faults.
func newLife(t failer, p place, broken operation, err error, every int64, then func()) *life {
	f := &fakePoller{parks: p.parks, broken: broken, err: err, every: max(every, 1)}
	switch broken {
	case opNew:
		f.most = 2 // and then there is one
	case opWake:
		f.most = 4 // bounds how long the loop tries
	}
	return &life{t: t, place: p, fake: f, log: &journal{then: then},
		name: fmt.Sprintf("%s, each %d. %v fails: %v", p.name, every, broken, err)}
}

// once has what is made once per process made.
var once sync.Once

// together lives lives at the same time, and expects them to leave nothing behind.
func together(t *testing.T, lives ...*life) {
	once.Do(func() {
		var first sync.WaitGroup
		first.Go(newLife(t, places[0], 0, nil, 0, nil).live)
		first.Wait()
	})
	descriptors, goroutines := openDescriptors(), beat.Goroutines()
	var all sync.WaitGroup
	for _, c := range lives {
		all.Go(c.live)
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	eventually(t, func() bool { return beat.Goroutines() <= goroutines }, "%s, and others: goroutines leak", lives[0].name)
	require.LessOrEqual(t, openDescriptors(), descriptors, "%s, and others: descriptors leak", lives[0].name)
}

// In a short run each operation fails in one of these ways, and another one next time.
func TestFaults(t *testing.T) {
	needDescriptors(t)
	for _, p := range places {
		together(t, newLife(t, p, 0, nil, 0, nil))
		var lives []*life
		for op := range operations {
			var ways []*life
			for k := int64(1); k <= 3 && (k == 1 || op != opNew && op != opClose); k++ {
				for i, err := range errnos {
					if k > 1 && i > 2 {
						continue // with which error makes little difference to when
					}
					ways = append(ways, newLife(t, p, op, err, k, nil))
				}
			}
			if !testing.Short() {
				together(t, ways...)
				continue
			}
			if lives = append(lives, ways[rand.IntN(len(ways))]); op == operations-1 {
				together(t, lives...)
			}
		}
	}
}

// A logger that panics, or ends its goroutine, does no harm wherever descriptors are the matter. A short run chooses.
func TestFaultsWithABrokenLogger(t *testing.T) {
	needDescriptors(t)
	for _, p := range places {
		var lives []*life
		ops := []operation{opAddAgain, opWait, opPark, opWatch, opNotify, opWake, opReset, opClose}
		if testing.Short() {
			rand.Shuffle(len(ops), func(i, k int) { ops[i], ops[k] = ops[k], ops[i] })
			ops = ops[:4]
		}
		for _, op := range ops {
			thens := []func(){func() { panic("the logger is broken") }, runtime.Goexit}
			if testing.Short() {
				i := rand.IntN(len(thens))
				thens = thens[i : i+1]
			}
			for _, then := range thens {
				lives = append(lives, newLife(t, p, op, errnos[0], 1, then))
				if op != opClose && !testing.Short() {
					lives = append(lives, newLife(t, p, op, errnos[0], 2, then))
				}
			}
		}
		together(t, lives...)
	}
}

// A fault that never happens fails its life: nothing has been tested.
func TestFaultsThatNeverHappen(t *testing.T) {
	needDescriptors(t)
	var said failures
	together(t, newLife(&said, places[0], opAdd, errnos[0], 1<<40, nil))
	require.Len(t, said, 1)
	require.Contains(t, said[0], "the fault did not happen")
}
