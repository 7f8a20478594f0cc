package threadlet_test

// What Threadlets returns, and the report of a deadlock.

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

func TestThreadlets(t *testing.T) {
	l := start(t)
	ch := threadlet.NewChan[int](l, 0)
	waiter, err := threadlet.Go(l, func() { receiveHere(ch) })
	require.NoError(t, err)
	require.NoError(t, do(t, l, func() {}))
	for range 2 { // asking changes nothing
		infos := threadlet.Threadlets(l)
		require.Len(t, infos, 1)
		require.Same(t, waiter, infos[0].Threadlet)
		require.Equal(t, "waiting", infos[0].State)
		require.Equal(t, "chan receive", infos[0].Reason)
		require.WithinDuration(t, time.Now(), infos[0].Since, time.Hour)
		require.Contains(t, string(infos[0].Stack), "receiveHere")
		require.Contains(t, infos[0].String(), "threadlet 1: waiting chan receive\n")
	}
	require.NoError(t, do(t, l, func() {
		infos := threadlet.Threadlets(l)
		if len(infos) != 2 || infos[1].State != "running" || !bytes.Contains(infos[1].Stack, []byte("TestThreadlets")) {
			t.Errorf("%+v", infos)
		}
		if err := ch.Send(1); err != nil {
			t.Error(err)
		}
	}))
	require.NoError(t, waiter.Join(background))
	require.Empty(t, threadlet.Threadlets(l))
	require.NoError(t, l.Shutdown(background))
	require.Empty(t, threadlet.Threadlets(l))
	idle, err := eventloop.New()
	require.NoError(t, err)
	require.Empty(t, threadlet.Threadlets(idle))
	require.NoError(t, idle.Close())
}

//go:noinline
func receiveHere(ch *threadlet.Chan[int]) { _, _ = ch.Receive() }

// A threadlet that waits resumes the next one on its own coroutine. If the next one calls Threadlets, the stack of the first
// is in the answer all the same.
func TestThreadletsOfTheDriven(t *testing.T) {
	l := start(t)
	ch, quit := threadlet.NewChan[int](l, 0), threadlet.NewChan[int](l, 0)
	var infos []threadlet.Info
	driven, err := threadlet.Go(l, func() {
		_, _ = ch.Receive()
		infos = threadlet.Threadlets(l)
		infos = threadlet.Threadlets(l)
	})
	require.NoError(t, err)
	driver, err := threadlet.Go(l, func() {
		_ = ch.Send(1)
		receiveHere(quit)
	})
	require.NoError(t, err)
	require.NoError(t, driven.Join(background))
	require.NoError(t, do(t, l, func() { _ = quit.Send(1) }))
	require.NoError(t, driver.Join(background))
	require.Len(t, infos, 2)
	require.Equal(t, "running", infos[0].State)
	require.Equal(t, "waiting", infos[1].State)
	require.Contains(t, string(infos[1].Stack), "receiveHere")
}
