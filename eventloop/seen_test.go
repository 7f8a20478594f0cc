package eventloop_test

// Tests of what can be seen of groups, promises and handlers, in metrics and in records.

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/park"
)

// The tasks of a group count among those that have waited for one of its loops, and are timed as those of a loop are.
func TestGroupTasksAreCounted(t *testing.T) {
	const tasks = 640
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 2, eventloop.WithMetrics(true), eventloop.WithMetricsSampling(2))
		result := runs(g, context.Background())
		first, second := holds(t, g.Loop(0)), holds(t, g.Loop(1))
		for range tasks {
			require.NoError(t, g.Submit(func() {}))
		}
		require.Equal(t, tasks, g.Metrics().External.Current)
		first()
		synctest.Wait()
		second()
		synctest.Wait()
		require.Equal(t, tasks, g.Metrics().External.Max)
		for range 40 {
			require.NoError(t, g.Submit(func() { time.Sleep(time.Second) }))
			time.Sleep(2 * time.Second)
		}
		require.EqualValues(t, 2+tasks+40, g.Metrics().Run)
		for i := range g.Len() {
			m := g.Loop(i).Metrics()
			require.InDelta(t, float64(m.Run)/2, m.Callback.Count, 2, "half are timed")
		}
		require.NoError(t, g.Shutdown(context.Background()))
		require.NoError(t, <-result)
	})
}

// The average of a zero Metrics and a loop's is the loop's, so that a sum may begin with none.
func TestMergeIntoNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true))
		require.NoError(t, l.Submit(func() { time.Sleep(time.Second) }))
		time.Sleep(2 * time.Second)
		var sum eventloop.Metrics
		sum.Merge(l.Metrics())
		require.InDelta(t, 0.5, sum.Utilization, 0.01)
		sum.Merge(eventloop.Metrics{})
		require.InDelta(t, 0.5, sum.Utilization, 0.01)
	})
}

// Promises that are pending are counted, and not any more when they have settled, nor at the end; so are pauses.
func TestMetricsOfPromises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t)
		var settle []func(any)
		require.NoError(t, l.Submit(func() {
			for range 7 {
				p, resolve, _ := l.NewPromise()
				settle = append(settle, resolve)
				p.Then(func(v any) (any, error) { return v, nil }, nil)
			}
		}))
		synctest.Wait()
		require.Equal(t, 7, l.Metrics().Promises)
		for _, f := range settle[:5] {
			f(nil)
		}
		synctest.Wait()
		require.Equal(t, 2, l.Metrics().Promises)
		require.NoError(t, l.Shutdown(t.Context()))
		require.Zero(t, l.Metrics().Promises)
	})
	defer park.Calm.Until.Store(0)
	l := observed(t)
	eventually(t, func() bool {
		park.Calm.Until.Store(math.MaxInt64)
		return parkedMetrics(t, l).Pauses > 0
	}, "no pause is counted")
}

// record is one that a loop has logged.
type record map[string]any

func recordsOf(t *testing.T, log *bytes.Buffer) (all []record) {
	t.Helper()
	for line := range strings.Lines(log.String()) {
		var r record
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		all = append(all, r)
	}
	return all
}

// What a loop logs says of whom it speaks, by kind and number, as attributes; in debug mode also where that came from.
func TestRecordsNameWhatTheySpeakOf(t *testing.T) {
	for _, debug := range []bool{false, true} {
		var log bytes.Buffer
		l, err := eventloop.New(eventloop.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))), eventloop.WithMicrotaskBudget(2), eventloop.WithDebug(debug))
		require.NoError(t, err)
		fail := func() { panic("lost temper") }
		var id eventloop.TimerID
		for _, c := range []struct {
			kind    string
			message string
			do      func(done func())
		}{
			{"task", "callback panicked", func(done func()) { require.NoError(t, l.Submit(func() { defer done(); fail() })) }},
			{"internal", "callback panicked", func(done func()) { require.NoError(t, l.SubmitInternal(func() { defer done(); runtime.Goexit() })) }},
			{"microtask", "callback panicked", func(done func()) { require.NoError(t, l.ScheduleMicrotask(func() { defer done(); fail() })) }},
			{"timer", "callback panicked", func(done func()) {
				id, err = l.ScheduleTimer(0, func() { defer done(); fail() })
				require.NoError(t, err)
			}},
			{"promise", "unhandled promise rejection", func(done func()) {
				require.NoError(t, l.Submit(func() { l.Promises().Rejected(errWork); done() }))
			}},
			{"microtask", "loop overloaded", func(done func()) {
				require.NoError(t, l.Submit(func() {
					for range 4 {
						_ = l.ScheduleMicrotask(func() {})
					}
					done()
				}))
			}},
		} {
			if l.State() == eventloop.StateAwake {
				go func() { _ = l.Run(context.Background()) }()
			}
			done := make(chan struct{})
			c.do(func() { close(done) })
			<-done
			parkedMetrics(t, l) // what was to be logged is
			var found record
			for _, r := range recordsOf(t, &log) {
				if r["kind"] == c.kind && r["msg"] == c.message {
					found = r
				}
			}
			require.NotNil(t, found, "%s: %s: %s", c.kind, c.message, log.String())
			require.EqualValues(t, l.ID(), found["loop"])
			if c.kind == "timer" {
				require.EqualValues(t, id, found["id"])
			}
			if debug && c.message == "callback panicked" {
				require.Contains(t, found["from"], "TestRecordsNameWhatTheySpeakOf")
			}
			log.Reset()
		}
		require.NoError(t, l.Shutdown(t.Context()))
	}
}

// A handler that panics is no task: the record says that it was a handler.
func TestRecordsOfHandlers(t *testing.T) {
	var log bytes.Buffer
	l, err := eventloop.New(eventloop.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))),
		eventloop.WithPanicHandler(func(*eventloop.PanicError) { panic("worse") }))
	require.NoError(t, err)
	require.NoError(t, l.Submit(func() { panic("lost temper") }))
	require.NoError(t, l.Shutdown(t.Context()))
	all := recordsOf(t, &log)
	require.Len(t, all, 1)
	require.Equal(t, "handler", all[0]["kind"])
}

// Activities and stalls are logged as groups, with the names of holds.
func TestActivitiesAsAttributes(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	l := made(t)
	defer l.Close()
	defer l.HoldNamed("upload")()
	logger.Info("waits", "for", l.Active()[0], "stall", eventloop.Stall{Loop: 3, Kind: "task", Running: time.Second, Ended: true, From: "from here"})
	r := recordsOf(t, &log)[0]
	held := r["for"].(map[string]any)
	require.Equal(t, "hold", held["kind"])
	require.Equal(t, "upload", held["name"])
	require.NotEmpty(t, held["since"])
	stall := r["stall"].(map[string]any)
	require.EqualValues(t, 3, stall["loop"])
	require.EqualValues(t, time.Second, stall["running"])
	require.Equal(t, true, stall["ended"])
}

// A loop that measures and records does not go round when it has nothing to do.
func TestIdleLoopMeasuresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true), eventloop.WithFlightRecorder(100))
		require.NoError(t, l.Submit(func() {}))
		synctest.Wait()
		before := l.Metrics()
		time.Sleep(time.Hour)
		after := l.Metrics()
		require.Equal(t, [3]uint64{before.Ticks, before.Sleeps, before.Wakes}, [3]uint64{after.Ticks, after.Sleeps, after.Wakes})
	})
}
