package eventloop_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// aside is where descriptors begin whose numbers a test chooses; nobody else is given these.
const aside = 300

// What ModifyFD takes back is not delivered, although it was collected in the same batch.
func TestModifyTakesBackWithinABatch(t *testing.T) {
	for _, s := range seats[2:5] {
		l := run(t, &fakePoller{parks: s.parks}, eventloop.WithFastPathMode(s.mode))
		first, farOfFirst := newPair(t)
		second, farOfSecond := newPair(t)
		send(farOfFirst, 1)
		send(farOfSecond, 1)
		const both = eventloop.EventRead | eventloop.EventWrite
		got, calls := make(chan eventloop.IOEvents, 2), 0
		register := func(fd, other int) error {
			return l.RegisterFD(fd, both, func(events eventloop.IOEvents) {
				if calls++; calls == 1 {
					if err := l.ModifyFD(other, eventloop.EventRead); err != nil {
						t.Errorf("ModifyFD: %v", err)
					}
				}
				got <- events
				_ = l.UnregisterFD(fd)
			})
		}
		require.NoError(t, onLoop(t, l, func() error { return errors.Join(register(first, second), register(second, first)) }))
		require.Equal(t, both, <-got)
		require.Equal(t, eventloop.EventRead, <-got)
	}
}

// ModifyFD asks the system only for what changes; who may not call it hears so all the same.
func TestModifyWithoutAChange(t *testing.T) {
	const read, write = eventloop.EventRead, eventloop.EventWrite
	near, _ := newPair(t)
	f := &fakePoller{broken: opModify, err: errors.New("no Modify"), every: 4, most: 1}
	l := run(t, f)
	require.ErrorIs(t, l.ModifyFD(near, read), eventloop.ErrFDNotRegistered)
	require.NoError(t, l.RegisterFD(near, read, func(eventloop.IOEvents) {}))
	for _, c := range []struct {
		events eventloop.IOEvents
		asks   int64
	}{{read, 0}, {read, 0}, {read | write, 1}, {read | write, 0}, {0, 1}, {0, 0}, {read, 1}, {read, 0}} {
		before := f.calls[opModify].Load()
		require.NoError(t, l.ModifyFD(near, c.events))
		require.Equal(t, c.asks, f.calls[opModify].Load()-before, "%v", c.events)
	}
	require.ErrorIs(t, l.ModifyFD(near, write), f.err)
	require.NoError(t, l.ModifyFD(near, read), "what failed has changed nothing")
	require.EqualValues(t, 4, f.calls[opModify].Load())
	require.NoError(t, l.ModifyFD(near, write))
	require.EqualValues(t, 5, f.calls[opModify].Load())
	require.NoError(t, l.UnregisterFD(near))
	require.ErrorIs(t, l.ModifyFD(near, read), eventloop.ErrFDNotRegistered)
	require.NoError(t, l.Shutdown(context.Background()))
	require.ErrorIs(t, l.ModifyFD(near, read), eventloop.ErrLoopTerminated)
}

// Each callback of a batch is followed by its microtasks, if that is asked for.
func TestStrictMicrotasksWithinABatch(t *testing.T) {
	for _, s := range seats[2:5] {
		l := run(t, &fakePoller{parks: s.parks},
			eventloop.WithFastPathMode(s.mode), eventloop.WithStrictMicrotaskOrdering(true))
		order := make(chan string, 4)
		readyTogether(t, l, func() {
			order <- "callback"
			if err := l.ScheduleMicrotask(func() { order <- "microtask" }); err != nil {
				t.Errorf("ScheduleMicrotask: %v", err)
			}
		})
		for range 2 {
			require.Equal(t, "callback", <-order)
			require.Equal(t, "microtask", <-order)
		}
	}
}

// A microtask that is accepted while the loop waits for the lock under which it looks up whom to call next of a batch, goes
// before that.
func TestForeignMicrotaskWithinABatch(t *testing.T) {
	for _, s := range seats[2:5] {
		t.Run(s.name, func(t *testing.T) { // whose loop ends with it, and burns no time of the next one
			f := &fakePoller{parks: s.parks}
			l := run(t, f, eventloop.WithFastPathMode(s.mode))
			order := make(chan string, 3)
			held := make(chan struct{})
			hold := func() {
				l.LockLook()
				defer l.UnlockLook()
				close(held)
				for range 1000 { // the loop has nothing else to do than to come to the lock
					runtime.Gosched()
				}
				if err := l.ScheduleMicrotask(func() { order <- "microtask" }); err != nil {
					t.Errorf("ScheduleMicrotask: %v", err)
				}
			}
			calls := 0
			readyTogether(t, l, func() {
				if calls++; calls == 1 {
					go hold()
					<-held
				}
				order <- "callback"
			})
			for _, want := range []string{"callback", "microtask", "callback"} {
				require.Equal(t, want, <-order)
			}
		})
	}
}

// What the callback of a descriptor ends calls no other of its batch.
func TestEndWithinABatch(t *testing.T) {
	for _, s := range seats[2:5] {
		for name, end := range map[string]func(*eventloop.Loop){
			"Close":    func(l *eventloop.Loop) { _ = l.Close() },
			"Shutdown": func(l *eventloop.Loop) { _ = l.Shutdown(context.Background()) },
		} {
			t.Run(s.name+", "+name, func(t *testing.T) {
				l := run(t, &fakePoller{parks: s.parks}, eventloop.WithFastPathMode(s.mode))
				var calls atomic.Int32
				readyTogether(t, l, func() {
					calls.Add(1)
					end(l)
				})
				<-l.Done()
				require.EqualValues(t, 1, calls.Load())
			})
		}
	}
}

// readyTogether registers two descriptors that are ready, and so found in one batch. Each is called once.
func readyTogether(t *testing.T, l *eventloop.Loop, callback func()) {
	t.Helper()
	var all []int
	for range 2 {
		near, far := newPair(t)
		send(far, 1)
		all = append(all, near)
	}
	require.NoError(t, onLoop(t, l, func() (err error) {
		for _, fd := range all {
			err = errors.Join(err, l.RegisterFD(fd, eventloop.EventRead, func(eventloop.IOEvents) {
				_ = l.UnregisterFD(fd)
				callback()
			}))
		}
		return err
	}))
}

// Numbers are registered, made ready, closed, and used again at once, from the callback of a descriptor that is ready
// in the same batch: no event is a predecessor's.
func TestReusedNumbersGetNoEventOfPredecessors(t *testing.T) {
	const numbers = 4
	for _, s := range seats[2:5] {
		f := &fakePoller{parks: s.parks}
		l := run(t, f, eventloop.WithFastPathMode(s.mode))
		driver, _ := newPair(t)
		done := make(chan struct{})
		cycles, calls := scale(100, 10_000, 100_000), 0
		l.SetLastTag(math.MaxUint32 - uint32(cycles)/2) // so that tags wrap on the way

		// Only the loop touches these. A generation's far end sends the generation's byte, or nothing.
		type generation struct {
			number, far, twin int
			ready             bool
		}
		var current [numbers]*generation
		leave := func(g *generation, closeFirst bool) {
			if closeFirst {
				closeAll(g.number)
			}
			if err := l.UnregisterFD(g.number); err != nil {
				t.Errorf("UnregisterFD: %v", err)
			}
			if !closeFirst {
				closeAll(g.number)
			}
			closeAll(g.far)
			if g.twin >= 0 {
				closeAll(g.twin)
			}
		}
		enter := func(i, cycle int) {
			pair, err := openPair()
			g := &generation{number: duplicate(pair[0], aside+i), far: pair[1], twin: -1, ready: cycle%3 != 0}
			closeAll(pair[0])
			if err != nil || g.number != aside+i {
				t.Errorf("the number %d is not free: %v", aside+i, err)
			}
			if g.ready {
				send(g.far, byte(cycle))
			}
			current[i] = g
			err = l.RegisterFD(g.number, eventloop.EventRead, func(events eventloop.IOEvents) {
				calls++
				n, b := receive(g.number)
				if current[i] != g || !g.ready || n != 1 || b != byte(cycle) || events != eventloop.EventRead {
					t.Errorf("cycle %d: called for %b, with %d bytes (%d), current: %v, ready: %v", cycle, events, n, b, current[i] == g, g.ready)
				}
				g.ready = false
			})
			if err != nil {
				t.Errorf("RegisterFD: %v", err)
			}
		}
		cycle, turn := 0, 0
		require.NoError(t, l.RegisterFD(driver, eventloop.EventWrite, func(eventloop.IOEvents) {
			if turn++; turn%4 >= 2 {
				return // the others' turns
			}
			for i := range current {
				if g := current[i]; g != nil {
					if cycle%16 == 0 {
						g.twin = duplicate(g.number, aside+numbers) // a ghost until it is closed
					}
					leave(g, cycle%2 == 0)
					current[i] = nil
				}
				if cycle++; cycle <= cycles {
					enter(i, cycle)
				}
			}
			if cycle > cycles+numbers && l.UnregisterFD(driver) == nil {
				close(done)
			}
		}))
		<-done
		require.NoError(t, l.Shutdown(context.Background()))
		require.Greater(t, calls, cycles/100, "%s: successors get their own events", s.name)
	}
}

// The first registration, and the first change of mode, make the poller while the loop is being woken from everywhere:
// nobody uses it before it is there, and nothing is lost.
func TestPollerIsMadeUnderFire(t *testing.T) {
	needDescriptors(t)
	for range scale(20, 500, 10_000) {
		l, err := eventloop.New()
		require.NoError(t, err)
		pair, err := openPair()
		require.NoError(t, err)
		near, far := pair[0], pair[1]
		send(far, 1)
		go l.Run(context.Background())
		const each = 20
		var ran, called atomic.Int64
		count := func() { ran.Add(1) }
		var all sync.WaitGroup
		for _, call := range []func() error{
			func() error { return l.Submit(count) },
			func() error { return l.SubmitInternal(count) },
			func() error { _, err := l.ScheduleTimer(0, count); return err },
		} {
			all.Go(func() {
				for range each {
					require.NoError(t, call())
					runtime.Gosched()
				}
			})
		}
		all.Go(func() { require.NoError(t, l.SetFastPathMode(eventloop.FastPathDisabled)) })
		all.Go(func() {
			require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {
				if n, _ := receive(near); n > 0 {
					called.Add(1)
				}
			}))
		})
		all.Wait()
		eventually(t, func() bool { return ran.Load() == 3*each && called.Load() == 1 },
			"%d of %d functions ran, and %d of 1 event came", ran.Load(), 3*each, called.Load())
		require.NoError(t, l.Shutdown(context.Background()))
		closeAll(near, far)
	}
}

// However many ghosts there are, they are laid, if not at first: more than the poller reports at once come in turn.
func TestManyGhosts(t *testing.T) {
	if !haveGhosts {
		t.Skip("no descriptor is reported that was closed")
	}
	amounts := []int{1, 300, 600, 2000}
	if testing.Short() {
		amounts = amounts[:2]
	}
	for _, n := range amounts {
		for _, s := range seats[2:5] {
			f := &fakePoller{parks: s.parks, broken: opReset, err: errors.New("no Reset"), every: 1, most: 20}
			l := run(t, f, eventloop.WithFastPathMode(s.mode))
			exchange := echo(t, l) // or else there would be nothing to watch
			near, far := -1, -1
			ghosts := make([]int, n)
			inside, busy := make(chan struct{}), make(chan struct{})
			require.NoError(t, l.Submit(func() { close(inside); <-busy })) // until they are ghosts
			<-inside
			for i := range ghosts {
				if i%50 == 0 { // the system bounds how often one thing may be watched
					near, far = newPair(t)
					send(far, 1)
				}
				ghosts[i] = duplicate(near, aside)
				require.NoError(t, l.RegisterFD(ghosts[i], eventloop.EventRead, func(eventloop.IOEvents) { t.Error("a ghost was called") }))
			}
			closeAll(ghosts...)
			for _, fd := range ghosts {
				require.NoError(t, l.UnregisterFD(fd))
			}
			close(busy)
			eventually(t, func() bool { return f.calls[opReset].Load() > f.most }, "%s: %d ghosts are not laid", s.name, n)
			require.LessOrEqual(t, f.calls[opReset].Load(), f.asks(), "a Reset that fails is not tried again within a batch")
			quiet(t, f, "ghosts")
			exchange()
		}
	}
}

// Two that are always ready unregister each other, and register each other anew: each batch has an event that is nobody's,
// and the loop does not remember all of them.
func TestStraysAreNotKept(t *testing.T) {
	for _, s := range seats[2:5] {
		l := run(t, &fakePoller{parks: s.parks}, eventloop.WithFastPathMode(s.mode))
		var fds [2]int
		for i := range fds {
			near, far := newPair(t)
			send(far, 1)
			fds[i] = near
		}
		calls, most, enough := 0, 0, make(chan struct{})
		var register func(i int) error
		register = func(i int) error {
			return l.RegisterFD(fds[i], eventloop.EventRead, func(eventloop.IOEvents) {
				if calls++; calls == 3*eventloop.MostEarlier {
					close(enough)
				}
				most = max(most, l.Earlier())
				other := 1 - i
				if err := errors.Join(l.UnregisterFD(fds[other]), register(other)); err != nil {
					t.Error(err)
				}
			})
		}
		require.NoError(t, onLoop(t, l, func() error { return errors.Join(register(0), register(1)) }))
		<-enough
		require.NoError(t, onLoop(t, l, func() error { return errors.Join(l.UnregisterFD(fds[0]), l.UnregisterFD(fds[1])) }))
		require.LessOrEqual(t, most, eventloop.MostEarlier+300, "%s", s.name) // and a batch
	}
}

// A wake-up is under way to the poller when the loop, up for another reason, ends and its numbers are used again: the
// new owners do not get it.
func TestLateWakeMissesNewOwners(t *testing.T) {
	near, far := newPair(t)
	f := &fakePoller{}
	var armed atomic.Bool
	late, begun := make(chan struct{}), make(chan struct{})
	f.waking = func() {
		if armed.Swap(false) {
			close(begun)
			<-late
		}
	}
	l := run(t, f, eventloop.WithFastPathMode(eventloop.FastPathDisabled))
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) { l.Close() }))
	require.NoError(t, l.Submit(func() { armed.Store(true) }))
	eventually(t, func() bool { return armed.Load() && asleep(l)() }, "the loop sleeps")
	var waker sync.WaitGroup
	waker.Go(func() { _ = l.Submit(func() {}) })
	<-begun
	send(far, 1)
	<-l.Done()
	var fresh []int
	for range 8 {
		pair, err := openPair()
		require.NoError(t, err)
		fresh = append(fresh, pair[:]...)
	}
	close(late)
	waker.Wait()
	for _, fd := range fresh {
		n, _ := receive(fd)
		require.Zero(t, n, "bytes came that nobody sent")
	}
	closeAll(fresh...)
}

// Whoever calls while a loop ends, and whatever: nobody who gets the loop's numbers next gets its wake-ups, too.
func TestWakesMissNewOwners(t *testing.T) {
	needDescriptors(t)
	for round := range scale(15, 300, 5000) {
		s := seats[2+round%4]
		l, err := eventloop.New(eventloop.WithFastPathMode(s.mode))
		require.NoError(t, err)
		go l.Run(context.Background())
		pair, err := openPair()
		require.NoError(t, err)
		bell := make(chan struct{}, 1)
		require.NoError(t, l.RegisterFD(pair[0], eventloop.EventRead, func(eventloop.IOEvents) {
			receive(pair[0])
			bell <- struct{}{}
		}))
		if s.exchange { // until it is parked
			for range 3 * eventloop.Enough {
				for !asleep(l)() {
					runtime.Gosched()
				}
				send(pair[1], 1)
				<-bell
			}
		}
		other, err := openPair()
		require.NoError(t, err)
		var storm sync.WaitGroup
		var over atomic.Bool
		for _, call := range []func(i int){
			func(int) { _ = l.Submit(func() {}) },
			func(int) {
				_ = l.RegisterFD(other[0], eventloop.EventRead, func(eventloop.IOEvents) {})
				_ = l.UnregisterFD(other[0])
			},
			func(i int) { _ = l.SetFastPathMode(eventloop.FastPathMode(i % 2 * 2)) },
			func(int) { _, _ = l.ScheduleTimer(0, func() {}) },
		} {
			storm.Go(func() {
				for i := 0; !over.Load(); i++ {
					call(i)
					runtime.Gosched()
				}
			})
		}
		if round%8 < 4 {
			_ = l.Close()
		} else {
			_ = l.Shutdown(context.Background())
		}
		<-l.Done()
		for range 8 {
			var fresh [][2]int
			for range 4 {
				pair, err := openPair()
				require.NoError(t, err)
				fresh = append(fresh, pair)
			}
			runtime.Gosched()
			for _, pair := range fresh {
				for _, fd := range pair {
					if n, _ := receive(fd); n > 0 {
						t.Errorf("round %d, %s: %d bytes came that nobody sent", round, s.name, n)
					}
				}
			}
			for _, pair := range fresh {
				closeAll(pair[:]...)
			}
		}
		over.Store(true)
		storm.Wait()
		closeAll(pair[0], pair[1], other[0], other[1])
		if t.Failed() {
			return
		}
	}
}

// Events do not wait for who registers, which may be many, and take long.
func TestEventsDoNotWaitForRegistrations(t *testing.T) {
	near, _ := newPair(t)
	l, ended := running(t, nil)
	called := make(chan struct{}, 1)
	require.NoError(t, l.RegisterFD(near, eventloop.EventWrite, func(eventloop.IOEvents) {
		select {
		case called <- struct{}{}:
		default:
		}
	}))
	<-called
	l.LockTable()
	late := time.After(patience)
	for range 3 { // the first may have been on its way
		select {
		case <-called:
		case <-late:
			t.Error("no event while somebody has the lock of the table")
		}
	}
	l.UnlockTable()
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// Neither does what follows a registration, nor a loop that may end by itself each time that it is about to sleep.
func TestLivenessDoesNotWaitForRegistrations(t *testing.T) {
	near, far := newPair(t)
	l, err := eventloop.New(eventloop.WithAutoExit(true))
	require.NoError(t, err)
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {}))
	require.NoError(t, l.RegisterFD(far, eventloop.EventRead, func(eventloop.IOEvents) {}))
	ended := make(chan error, 1)
	go func() { ended <- l.Run(context.Background()) }()
	left := make(chan struct{})
	require.NoError(t, onLoop(t, l, func() error { // the loop gets to it with the table locked
		unregistered := make(chan error)
		go func() { unregistered <- l.UnregisterFDThen(near, func() { close(left) }) }()
		err := <-unregistered
		l.LockTable()
		return err
	}))
	select {
	case <-left:
	case <-time.After(patience):
		t.Error("what follows a registration waits for the lock of the table")
	}
	for range 3 {
		for l.State() != eventloop.StateSleeping {
			runtime.Gosched()
		}
		ran := make(chan struct{})
		require.NoError(t, l.Submit(func() { close(ran) }))
		select {
		case <-ran:
		case <-time.After(patience):
			t.Fatal("a loop that may end by itself waits for the lock of the table")
		}
	}
	l.UnlockTable()
	require.NoError(t, l.UnregisterFD(far))
	require.NoError(t, <-ended) // by itself
}
