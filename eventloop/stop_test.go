package eventloop_test

// Tests of StopGracefully, for a loop and for a group.

import (
	"cmp"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// stoppable is what a Loop and a Group have in common here.
type stoppable interface {
	Run(ctx context.Context) error
	Submit(fn func()) error
	StopGracefully(ctx context.Context, grace time.Duration) error
	Close() error
	Done() <-chan struct{}
}

// A graceful stop lets run what was accepted, for as long as it is given, and closes what has not ended then.
func TestStopGracefully(t *testing.T) {
	kinds := map[string]func(t *testing.T) stoppable{
		"loop": func(t *testing.T) stoppable {
			l, err := eventloop.New()
			require.NoError(t, err)
			return l
		},
		"group": func(t *testing.T) stoppable { return newGroup(t, 1) },
	}
	for kind, make := range kinds {
		for name, c := range map[string]struct {
			takes  time.Duration // each of ten tasks
			cancel time.Duration // the context ends; 0 is never
			inside bool
			ran    int
			ends   time.Duration
			err    error
			run    error
		}{
			"in time":             {time.Second, 0, false, 10, 10 * time.Second, nil, nil},
			"too late":            {10 * time.Second, 0, false, 6, 60 * time.Second, context.DeadlineExceeded, eventloop.ErrLoopTerminated},
			"context ends":        {time.Second, 3500 * time.Millisecond, false, 4, 4 * time.Second, context.Canceled, eventloop.ErrLoopTerminated},
			"in time, on loop":    {time.Second, 0, true, 10, 10 * time.Second, nil, nil},
			"too late, on loop":   {10 * time.Second, 0, true, 6, 60 * time.Second, nil, eventloop.ErrLoopTerminated},
			"context ends inside": {time.Second, 3500 * time.Millisecond, true, 4, 4 * time.Second, nil, eventloop.ErrLoopTerminated},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := make(t)
					ctx, cancel := context.WithCancel(context.Background())
					time.AfterFunc(cmp.Or(c.cancel, 1000*time.Hour), cancel)
					const grace = 59500 * time.Millisecond
					began, ran := time.Now(), 0
					stopped := stopsInside(c.inside, s, ctx, grace)
					for range 10 {
						require.NoError(t, s.Submit(func() { time.Sleep(c.takes); ran++ }))
					}
					ended := runElsewhere(s)
					if !c.inside {
						synctest.Wait()
						go func() { stopped <- s.StopGracefully(ctx, grace) }()
					}
					require.ErrorIs(t, <-stopped, c.err)
					require.ErrorIs(t, <-ended, c.run)
					require.Equal(t, c.ran, ran)
					require.Equal(t, c.ends, time.Since(began))
					require.ErrorIs(t, s.StopGracefully(ctx, grace), eventloop.ErrLoopTerminated)
				}) // which fails if a goroutine stays that waits for ctx or for the grace
			})
		}
	}
}

// runElsewhere runs s elsewhere, and tells what Run returns.
func runElsewhere(s stoppable) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	return ended
}

// stopsInside returns the channel of what a stop returns; inside, a first task of s calls it.
func stopsInside(inside bool, s stoppable, ctx context.Context, grace time.Duration) chan error {
	stopped := make(chan error, 1)
	if inside {
		_ = s.Submit(func() { stopped <- s.StopGracefully(ctx, grace) })
	}
	return stopped
}

// A loop that was never run is stopped likewise, and a graceful stop leaves no goroutine behind.
func TestStopGracefullyUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
		ran := false
		require.NoError(t, l.Submit(func() { ran = true }))
		require.NoError(t, l.StopGracefully(context.Background(), time.Hour))
		require.True(t, ran)
		require.Zero(t, l.Metrics().Workers)
	}) // which fails if a goroutine stays
}
