package threadlet_test

// Tests of what Active and logs say of threadlets.

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

func active(l *eventloop.Loop) (as []eventloop.Activity) {
	for _, a := range l.Active() {
		if a.Kind == "threadlet" {
			as = append(as, a)
		}
	}
	return as
}

func spawnHere(t *testing.T, l *eventloop.Loop, fn func()) {
	t.Helper()
	_, err := threadlet.Go(l, fn)
	require.NoError(t, err)
}

// Active counts the threadlets that have not ended. In debug mode it lists each, with what it does, its age, and where it
// was made, on the loop or elsewhere. So does the error of a Shutdown that waits for them.
func TestActive(t *testing.T) {
	for _, debug := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, err := eventloop.New(eventloop.WithDebug(debug), eventloop.WithMetrics(!debug))
			require.NoError(t, err)
			go func() { _ = l.Run(context.Background()) }()
			require.Empty(t, active(l))
			release := make(chan struct{})
			wait := func() {
				threadlet.Draining()
				_ = threadlet.Do(context.Background(), func(context.Context) error { <-release; return nil })
			}
			spawnHere(t, l, wait)
			time.Sleep(time.Second)
			require.NoError(t, l.Submit(func() { spawnHere(t, l, func() { _ = threadlet.Sleep(time.Hour) }) }))
			time.Sleep(time.Second)
			as := active(l)
			if debug {
				require.Len(t, as, 2)
				require.Equal(t, "#1", as[0].Name)
				require.Contains(t, as[0].Detail, "waits for worker")
				require.Contains(t, as[1].Detail, "waits for sleep")
				require.InDelta(t, 2*time.Second, time.Since(as[0].Since), 10)
				for _, a := range as {
					require.Contains(t, a.Detail, "spawnHere")
				}
			} else {
				require.Len(t, as, 1)
				require.Equal(t, "2 not ended", as[0].Detail)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err = l.Shutdown(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Contains(t, err.Error(), "threadlet")
			close(release)
			<-l.Done()
			require.Empty(t, active(l))
		})
	}
}

func blockHere(d time.Duration) { time.Sleep(d) }

// A threadlet that blocks its loop is reported, with its own stack. One that waits is not. Each is measured by itself.
func TestStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := make(chan eventloop.Stall, 10)
		l, err := eventloop.New(eventloop.WithMetrics(true), eventloop.WithStallThreshold(time.Second, func(s eventloop.Stall) {
			if !s.Ended {
				reports <- s
			}
		}))
		require.NoError(t, err)
		go func() { _ = l.Run(context.Background()) }()
		for range 2 { // the second on a coroutine that was there before
			require.NoError(t, l.Submit(func() {
				spawnHere(t, l, func() { _ = threadlet.Sleep(10 * time.Second) })
				for range 3 {
					spawnHere(t, l, func() { time.Sleep(time.Second / 2) })
				}
				spawnHere(t, l, func() { blockHere(3 * time.Second) })
			}))
			time.Sleep(time.Minute)
			require.Len(t, reports, 1, "what takes half a second each does not take long together")
			s := <-reports
			require.Equal(t, "threadlet", s.Kind)
			require.Contains(t, string(s.Stack), "threadlet_test.blockHere")
			require.NoError(t, l.Submit(func() { blockHere(3 * time.Second) }))
			time.Sleep(time.Minute)
			s = <-reports
			require.Equal(t, "task", s.Kind)
			require.Contains(t, string(s.Stack), "threadlet_test.blockHere", "the loop's own goroutine again")
		}
		m := l.Metrics()
		require.Equal(t, 3*time.Second, m.Callback.Max)
		require.Equal(t, 2*(3*time.Second/2+6*time.Second), m.Callback.Sum())
		require.NoError(t, l.Shutdown(t.Context()))
	})
}

// A threadlet that waits for a lock of package sync, which another holds over a wait, stops the loop. The report says what
// to do.
func TestStallOfALock(t *testing.T) {
	hints := make(chan string, 100)
	l := start(t, eventloop.WithStallThreshold(5*time.Millisecond, func(s eventloop.Stall) { hints <- s.Hint }))
	var m sync.Mutex
	spawnHere(t, l, func() { m.Lock(); _ = threadlet.Sleep(time.Hour) })
	require.NoError(t, do(t, l, func() {}))
	hint := ""
	for attempt := 0; hint == "" && attempt < 50; attempt++ { // on a busy machine it may be slow already before it waits
		second, err := threadlet.Go(l, m.Lock)
		require.NoError(t, err)
		hint = <-hints
		m.Unlock()
		require.NoError(t, second.Join(background))
	}
	require.Contains(t, hint, "threadlet.Mutex")
}

// The log record of a panic names the threadlet.
func TestRecords(t *testing.T) {
	var log bytes.Buffer
	l, err := eventloop.New(eventloop.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))), eventloop.WithDebug(true))
	require.NoError(t, err)
	spawnHere(t, l, func() {})
	spawnHere(t, l, func() { panic("lost temper") })
	require.NoError(t, l.Shutdown(t.Context()))
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(strings.SplitN(log.String(), "\n", 2)[0]), &r))
	require.Equal(t, "threadlet", r["kind"])
	require.EqualValues(t, 2, r["id"])
	require.Contains(t, r["from"], "spawnHere")
}
