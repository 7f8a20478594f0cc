//go:build unix

package flow_test

// Tests of RunUntil and signals.

import (
	"context"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/internal/beat"
)

// Where a signal has begun the stop, a second one of either kind ends it at once; where something else has, signals are none of its
// business.
func TestSecondSignalCloses(t *testing.T) {
	for name, c := range map[string]struct {
		stop   func(cancel func())
		second syscall.Signal
		closes bool
	}{
		"interrupted twice":        {func(func()) { raise(t, syscall.SIGINT) }, syscall.SIGINT, true},
		"interrupt and terminate":  {func(func()) { raise(t, syscall.SIGINT) }, syscall.SIGTERM, true},
		"cancelled and terminated": {func(cancel func()) { cancel() }, syscall.SIGTERM, false},
	} {
		t.Run(name, func(t *testing.T) {
			watch := make(chan struct{}) // catches what RunUntil does not
			others, release := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer release()
			context.AfterFunc(others, func() { close(watch) })
			l, err := eventloop.New()
			require.NoError(t, err)
			gate := make(chan struct{})
			finished := l.Promisify(context.Background(), func(context.Context) (any, error) { <-gate; return nil, nil }).ToChannel()
			parent, cancel := context.WithCancel(context.Background())
			defer cancel()
			ctx, stop := signal.NotifyContext(parent, syscall.SIGINT)
			defer stop()
			mine, leave := context.WithCancel(ctx) // of it, and not it itself
			defer leave()
			ended := make(chan error, 1)
			go func() { ended <- flow.RunUntil(mine, l, time.Hour) }()
			begun := make(chan struct{})
			require.NoError(t, l.Submit(func() { close(begun) }))
			await(t, begun)
			c.stop(cancel)
			await(t, mine.Done())
			for range beat.Beats { // until the stop has begun
				if l.Submit(func() {}) != nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			raise(t, c.second)
			if !c.closes {
				await(t, watch)
				close(gate)
			}
			over, rest := beat.After(beat.Beats)
			defer rest()
			select {
			case err = <-ended:
			case <-over:
				t.Fatal("it waits for what it has to close")
			}
			if c.closes {
				require.ErrorIs(t, err, context.Canceled)
				require.Contains(t, err.Error(), "worker 1 under way") // and perhaps the last task
				require.Equal(t, eventloop.ErrLoopTerminated, (<-finished).Err)
				close(gate)
			} else {
				require.NoError(t, err)
				require.NoError(t, (<-finished).Err)
			}
		})
	}
}

func raise(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, syscall.Kill(syscall.Getpid(), s))
}

func await(t *testing.T, ch <-chan struct{}) {
	t.Helper()
	over, rest := beat.After(beat.Beats)
	defer rest()
	select {
	case <-ch:
	case <-over:
		t.Fatal("nothing comes")
	}
}
