package eventloop_test

// Tests of an ending loop that waits for its workers.

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// A loop that slept in the poller, and ends with a worker under way, rests on its channel: the worker's outcome wakes it there.
func TestRestBehindThePoller(t *testing.T) {
	near, _ := newPair(t)
	l := made(t, eventloop.WithFastPathMode(eventloop.FastPathDisabled))
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {}))
	release, ran := make(chan struct{}), make(chan error, 1)
	l.Promisify(context.Background(), func(context.Context) (any, error) { <-release; return nil, nil })
	go func() { ran <- l.Run(context.Background()) }()
	beat.Eventually(t, func() bool { return l.State() == eventloop.StateSleeping }, "the sleep in the poller")
	go func() { _ = l.Shutdown(context.Background()) }()
	beat.Eventually(t, func() bool { return l.State() == eventloop.StateTerminating }, "the end's begin")
	time.Sleep(30 * time.Millisecond) // so that it rests; before that the outcome needs no wake-up
	close(release)
	require.NoError(t, beat.Receive(t, ran, "the end"))
}
