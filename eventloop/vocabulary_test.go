package eventloop_test

// Tests of the texts of errors and modes.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// Errors of the loop that tell of an attempt tell once whose they are, and are found by errors.Is.
func TestErrorTexts(t *testing.T) {
	near, _ := newPair(t)
	other, _ := newPair(t)
	ignore := func(eventloop.IOEvents) {}
	l, err := eventloop.New()
	require.NoError(t, err)
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, ignore))
	f := &fakePoller{broken: opAdd, err: errors.New("no room"), every: 1}
	full := made(t, eventloop.WithPoller(f.open))
	defer full.Close()
	over, err := eventloop.New()
	require.NoError(t, err)
	require.NoError(t, over.Close())
	_, nilHandler := eventloop.New(eventloop.WithOnOverload(nil))
	lost := &fakePoller{broken: opWait, err: eventloop.ErrPollerClosed, every: 1}
	alone, err := eventloop.New(eventloop.WithPoller(lost.open), eventloop.WithFastPathMode(eventloop.FastPathDisabled),
		eventloop.WithLogger(slog.New(&journal{})))
	require.NoError(t, err)
	for _, c := range []struct {
		err, is error
		want    string
	}{
		{l.RegisterFD(near, 0, ignore), eventloop.ErrFDAlreadyRegistered,
			fmt.Sprintf("eventloop: register descriptor %d: descriptor already registered", near)},
		{l.ModifyFD(other, 0), eventloop.ErrFDNotRegistered,
			fmt.Sprintf("eventloop: modify descriptor %d: descriptor not registered", other)},
		{l.UnregisterFD(other), eventloop.ErrFDNotRegistered,
			fmt.Sprintf("eventloop: unregister descriptor %d: descriptor not registered", other)},
		{over.UnregisterFDThen(near, func() {}), eventloop.ErrLoopTerminated,
			fmt.Sprintf("eventloop: unregister descriptor %d: terminated", near)},
		{l.SetFastPathMode(eventloop.FastPathForced), eventloop.ErrFastPathIncompatible,
			"eventloop: fast path mode 1: forced fast path and registered descriptors exclude each other"},
		{l.SetFastPathMode(3), nil, "eventloop: fast path mode 3: no such mode"},
		{full.RegisterFD(near, 0, ignore), f.err, fmt.Sprintf("eventloop: register descriptor %d: Add: no room", near)},
		{nilHandler, eventloop.ErrNilCallback, "eventloop: WithOnOverload: nil callback"},
		{alone.Run(context.Background()), eventloop.ErrPollerClosed, "eventloop: wait for descriptors: poller closed"},
		{over.Submit(func() {}), eventloop.ErrLoopTerminated, "eventloop: terminated"},
	} {
		require.EqualError(t, c.err, c.want)
		if c.is != nil {
			require.ErrorIs(t, c.err, c.is)
		}
	}
	require.NoError(t, l.Close())
}

// Modes print as words.
func TestModesPrint(t *testing.T) {
	for mode, want := range map[eventloop.FastPathMode]string{
		eventloop.FastPathAuto: "auto", eventloop.FastPathForced: "forced", eventloop.FastPathDisabled: "disabled",
		3: "FastPathMode(3)", -1: "FastPathMode(-1)",
	} {
		require.Equal(t, want, fmt.Sprint(mode))
	}
}
