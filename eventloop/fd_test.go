package eventloop_test

// Tests of registrations: batches of events, changes within them, and goroutines that register at once.

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// aside is where descriptors begin whose numbers a test chooses; nobody else is given these.
const aside = 300

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

// A microtask of another goroutine goes before the next callback of a batch.
func TestForeignMicrotaskWithinABatch(t *testing.T) {
	for _, s := range seats[2:5] {
		t.Run(s.name, func(t *testing.T) { // whose loop ends with it, and burns no time of the next one
			f := &fakePoller{parks: s.parks}
			l := run(t, f, eventloop.WithFastPathMode(s.mode))
			order := make(chan string, 3)
			calls := 0
			readyTogether(t, l, func() {
				if calls++; calls == 1 {
					accepted := make(chan error)
					go func() { accepted <- l.ScheduleMicrotask(func() { order <- "microtask" }) }()
					if err := <-accepted; err != nil {
						t.Errorf("ScheduleMicrotask: %v", err)
					}
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
	for range 3 { // the first may have been on its way
		if !beat.Wait(called) {
			t.Error("no event while somebody has the lock of the table")
		}
	}
	l.UnlockTable()
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// The first registration wakes a loop that sleeps, for it to begin to watch. A later one lets it sleep on.
func TestRegistrationsLetTheLoopSleep(t *testing.T) {
	first, _ := newPair(t)
	second, far := newPair(t)
	l, ended := running(t, nil)
	rested := func() (ticks uint64) { // of a loop that has come to rest
		eventually(t, func() bool {
			ticks = l.Metrics().Ticks
			time.Sleep(5 * time.Millisecond)
			return asleep(l)() && l.Metrics().Ticks == ticks
		}, "the loop does not come to rest")
		return ticks
	}
	before := rested()
	called := make(chan struct{}, 1)
	read := func(eventloop.IOEvents) {
		receive(second)
		called <- struct{}{}
	}
	require.NoError(t, l.RegisterFD(first, eventloop.EventRead, read))
	eventually(t, func() bool { return l.Metrics().Ticks > before }, "the first registration wakes nobody")
	undisturbed(t, func() error { // by the watch, which may begin late
		before := rested()
		require.NoError(t, l.RegisterFD(second, eventloop.EventRead, read))
		require.NoError(t, l.ModifyFD(first, 0))
		if ticks := rested() - before; ticks != 0 {
			return errors.Join(fmt.Errorf("%d turns", ticks), l.UnregisterFD(second), l.ModifyFD(first, eventloop.EventRead))
		}
		return nil
	})
	send(far, 1)
	<-called
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// Neither does what follows a registration, nor a loop that may end by itself each time that it is about to sleep.
func TestLivenessDoesNotWaitForRegistrations(t *testing.T) {
	near, far := newPair(t)
	l := made(t, eventloop.WithAutoExit(true))
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
	beat.Receive(t, left, "what follows a registration, while somebody has the lock of the table")
	for range 3 {
		rest(l)
		ran := make(chan struct{})
		require.NoError(t, l.Submit(func() { close(ran) }))
		beat.Receive(t, ran, "a task of a loop that may end by itself, while somebody has the lock of the table")
	}
	l.UnlockTable()
	require.NoError(t, l.UnregisterFD(far))
	require.NoError(t, <-ended) // by itself
}
