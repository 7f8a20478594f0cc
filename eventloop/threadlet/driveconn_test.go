//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Tests of threadlets that switch for ever, beside connections.

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// Pairs that switch for ever keep no other work and no connection waiting, nor the loop from its end.
func TestEndlessPairs(t *testing.T) {
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			unchanged(t)
			l := start(t)
			ended := make(chan error, 2)
			for _, turn := range pair(l) {
				_, err := threadlet.Go(l, func() {
					err := turn()
					for ; err == nil; err = turn() {
					}
					ended <- err
				})
				require.NoError(t, err)
			}
			c := dial(t, listen(t, l, "tcp", echo))
			for range scale(2, 5, 20) {
				_, err := c.Write([]byte("x"))
				require.NoError(t, err)
				_, err = c.Read(make([]byte, 1))
				require.NoError(t, err)
				for what, submit := range map[string]func(func()) error{
					"task": l.Submit, "internal": l.SubmitInternal, "microtask": l.ScheduleMicrotask,
					"timer":     func(fn func()) error { _, err := l.ScheduleTimer(time.Millisecond, fn); return err },
					"threadlet": func(fn func()) error { _, err := threadlet.Go(l, fn); return err },
					"sleeper": func(fn func()) error {
						_, err := threadlet.Go(l, func() { _ = threadlet.Sleep(time.Millisecond); fn() })
						return err
					},
				} {
					ran := make(chan struct{})
					require.NoError(t, submit(func() { close(ran) }), what)
					<-ran
				}
			}
			require.NoError(t, l.Shutdown(background))
			for range 2 {
				require.ErrorIs(t, <-ended, eventloop.ErrLoopTerminated)
			}
		})
	}
}

// An internal task that submits itself for ever keeps neither threadlets nor connections waiting: external tasks alone.
func TestBesideAnEndlessInternalTask(t *testing.T) {
	const rounds, most = 10, 10_000_000
	unchanged(t)
	l := start(t, eventloop.WithOnOverload(func(error) {}))
	near, far := tcpPair(t)
	a, err := threadlet.Wrap(l, near)
	require.NoError(t, err)
	b, err := threadlet.Wrap(l, far)
	require.NoError(t, err)
	ran, played, early := 0, 0, false
	over := make(chan struct{})
	require.NoError(t, do(t, l, func() {
		var again func()
		again = func() {
			if ran++; played < rounds && ran < most {
				_ = l.SubmitInternal(again)
			} else {
				close(over)
			}
		}
		again()
		_ = l.Submit(func() { early = played < rounds && ran < most })
		_, err := threadlet.Go(l, func() { echo(a) })
		require.NoError(t, err)
		_, err = threadlet.Go(l, func() {
			for p := make([]byte, 1); played < rounds && threadlet.Yield() == nil; played++ {
				if _, err := b.Write(p); err != nil {
					return
				}
				if _, err := b.Read(p); err != nil {
					return
				}
			}
		})
		require.NoError(t, err)
	}))
	_ = beat.Receive(t, over, "the end of the internal tasks")
	require.NoError(t, do(t, l, func() {}))
	require.Less(t, ran, most, "internal tasks before %d echoes", rounds)
	require.False(t, early, "an external task has run before the internal ones that waited")
	require.NoError(t, l.Close())
}
