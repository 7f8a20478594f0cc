package flow_test

// Tests of Call.

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

// A call runs on the loop, and its caller hears what it returned, however that ended.
func TestCall(t *testing.T) {
	l, err := eventloop.New(eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
	require.NoError(t, err)
	go l.Run(context.Background())
	ctx := context.Background()
	value, err := flow.Call(ctx, l, func() (int, error) {
		require.True(t, l.OnLoop())
		return flow.Call(ctx, l, func() (int, error) { return 42, nil }) // which would wait for itself
	})
	require.NoError(t, err)
	require.Equal(t, 42, value)
	_, err = flow.Call(ctx, l, func() (int, error) { return 1, errBusy })
	require.ErrorIs(t, err, errBusy)
	nothing, err := flow.Call(ctx, l, func() (error, error) { return nil, nil })
	require.NoError(t, err)
	require.Nil(t, nothing)
	_, err = flow.Call(ctx, l, func() (int, error) { panic(errBusy) })
	require.ErrorIs(t, err, errBusy)
	var fault *eventloop.PanicError
	require.ErrorAs(t, err, &fault)
	_, err = flow.Call(ctx, l, func() (int, error) { runtime.Goexit(); return 0, nil })
	require.ErrorIs(t, err, eventloop.ErrGoexit)
	_, err = flow.Call(ctx, l, func() (int, error) {
		_, err := flow.Call(ctx, l, func() (int, error) { panic(errBusy) })
		require.ErrorAs(t, err, &fault, "on the loop")
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		_, err = flow.Call(cancelled, l, func() (int, error) { t.Error("called"); return 0, nil })
		require.ErrorIs(t, err, context.Canceled)
		return 0, nil
	})
	require.NoError(t, err)
	_, err = flow.Call[int](ctx, l, nil)
	require.ErrorIs(t, err, eventloop.ErrNilCallback)
	require.NoError(t, l.Shutdown(ctx))
	_, err = flow.Call(ctx, l, func() (int, error) { return 42, nil })
	require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
}

// Who calls does not wait longer than its context, and what has not begun then never does; nor for a loop that is closed,
// while one that shuts down still answers.
func TestCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			end  func(l *eventloop.Loop, cancel context.CancelCauseFunc)
			runs bool
			is   error
		}{
			"context":  {func(_ *eventloop.Loop, cancel context.CancelCauseFunc) { cancel(errBusy) }, false, errBusy},
			"close":    {func(l *eventloop.Loop, _ context.CancelCauseFunc) { l.Close() }, false, eventloop.ErrLoopTerminated},
			"shutdown": {func(l *eventloop.Loop, _ context.CancelCauseFunc) { l.Shutdown(context.Background()) }, true, nil},
		} {
			l, err := eventloop.New()
			require.NoError(t, err)
			go l.Run(context.Background())
			require.NoError(t, l.Submit(func() { time.Sleep(time.Hour) }))
			ctx, cancel := context.WithCancelCause(context.Background())
			runs := false
			time.AfterFunc(time.Minute, func() { c.end(l, cancel) })
			_, err = flow.Call(ctx, l, func() (int, error) { runs = true; return 0, nil })
			require.ErrorIs(t, err, c.is, name)
			if name == "context" {
				require.ErrorIs(t, err, context.Canceled)
				require.False(t, errors.Is(err, eventloop.ErrLoopTerminated))
			}
			l.Shutdown(context.Background())
			<-l.Done()
			require.Equal(t, c.runs, runs, name)
			cancel(nil)
		}
	})
}

// A call whose context has ended leaves no task behind: a caller that tries again would fill the queue of a loop that stands still.
func TestCallOfAnEndedContext(t *testing.T) {
	l, err := eventloop.New(eventloop.WithQueueLimit(1))
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		require.ErrorIs(t, flow.Exec(ctx, l, func() error { return nil }), context.Canceled)
	}
	require.Empty(t, l.Active())
}
