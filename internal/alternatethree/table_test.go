//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package alternatethree_test

// The table of descriptors and the dispatch, on events that the test makes up.

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

const read, write = loopapi.EventRead, loopapi.EventWrite

// calls notes who is called, in order. Only the loop writes; the test reads after sync.
type calls struct {
	t    *testing.T
	l    *alternatethree.Loop
	p    *fakePoller
	seen []string
}

func newCalls(t *testing.T) *calls {
	c := &calls{t: t, p: newFake()}
	c.l, _ = newOn(t, c.p)
	beat.Receive(t, c.p.asleep, "the loop to sleep")
	return c
}

// register has then run in the callback of fd, if there is one.
func (c *calls) register(fd int, name string, then func(events loopapi.IOEvents)) {
	c.t.Helper()
	must(c.t, c.l.RegisterFD(fd, read, func(events loopapi.IOEvents) {
		c.seen = append(c.seen, name)
		if then != nil {
			then(events)
		}
	}))
}

// ready makes the descriptors ready in one batch.
func (c *calls) ready(fds ...int) {
	c.t.Helper()
	var events []poller.Event
	for _, fd := range fds {
		events = append(events, poller.Event{FD: fd, Tag: c.p.tag(fd), Events: read})
	}
	c.fire(events...)
}

// fire delivers events and waits until the loop has dealt with them.
func (c *calls) fire(events ...poller.Event) {
	c.t.Helper()
	c.p.feed <- events
	beat.Receive(c.t, c.p.asleep, "the loop to sleep after the events")
}

// want compares, and begins anew.
func (c *calls) want(what string, names ...string) {
	c.t.Helper()
	if !slices.Equal(c.seen, names) {
		c.t.Errorf("%s: called %v, want %v", what, c.seen, names)
	}
	c.seen = nil
}

func TestRegistrationDoesNotDisturbTheSleep(t *testing.T) {
	c := newCalls(t)
	c.register(7, "7", nil)
	must(t, c.l.ModifyFD(7, write))
	must(t, c.l.UnregisterFD(7))
	if s := c.l.State(); s != loopapi.StateSleeping || c.p.count("Wake") != 0 {
		t.Errorf("after three calls from another goroutine the state is %v, with %d wake-ups", s, c.p.count("Wake"))
	}
}

// TestErrorsSayWhatWasAttempted looks at every error of the system that registration can meet.
func TestErrorsSayWhatWasAttempted(t *testing.T) {
	c := newCalls(t)
	c.register(7, "7", nil)
	for _, row := range []struct {
		method, text string
		call         func() error
	}{
		{"Add", "register descriptor 9", func() error { return c.l.RegisterFD(9, read, func(loopapi.IOEvents) {}) }},
		{"Modify", "modify descriptor 7", func() error { return c.l.ModifyFD(7, write) }},
		{"Remove", "unregister descriptor 7", func() error { return c.l.UnregisterFD(7) }},
	} {
		c.p.failing(row.method, errInjected, 1)
		if err := row.call(); !errors.Is(err, errInjected) || !strings.Contains(err.Error(), row.text) {
			t.Errorf("a failing %s returned %v, want %q and the system's error", row.method, err, row.text)
		}
		if row.method == "Modify" {
			c.ready(7)
			c.want("a registration whose change failed", "7")
		}
	}
	for _, err := range []error{c.l.ModifyFD(7, read), c.l.UnregisterFD(7), c.l.ModifyFD(9, read)} {
		if !errors.Is(err, loopapi.ErrFDNotRegistered) || !strings.Contains(err.Error(), "descriptor") {
			t.Errorf("an unknown descriptor returned %v", err)
		}
	}
	c.register(7, "7", nil)
	if err := c.l.RegisterFD(7, read, func(loopapi.IOEvents) {}); !errors.Is(err, loopapi.ErrFDAlreadyRegistered) {
		t.Errorf("the second registration returned %v", err)
	}
}
