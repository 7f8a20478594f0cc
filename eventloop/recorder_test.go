package eventloop_test

// Tests of the flight recorder and of its dumps.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// What a loop does is in the dump, in order, with what it took and who woke it, as text and as a trace; also while a
// callback blocks it.
func TestFlightRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalled := make(chan string, 2) // while it blocks, and when it has returned
		var l *eventloop.Loop
		l = observed(t, eventloop.WithFlightRecorder(4096), eventloop.WithStallThreshold(10*time.Second, func(eventloop.Stall) {
			var b strings.Builder
			require.NoError(t, l.DumpEvents(&b))
			stalled <- b.String()
		}))
		synctest.Wait()
		time.Sleep(time.Second)
		submits := []func(func()) error{
			l.Submit, l.SubmitInternal, l.ScheduleMicrotask,
			func(fn func()) error { _, err := l.ScheduleTimer(time.Second/2, fn); return err },
		}
		for i, submit := range submits {
			require.NoError(t, submit(blockHere(time.Duration(i+1)*time.Millisecond)))
			time.Sleep(time.Second)
		}
		var text bytes.Buffer
		require.NoError(t, l.DumpEvents(&text))
		found := regexp.MustCompile(`(?m)^ *\S+ +(\S+) (task|internal|microtask|timer|sleep.*)$`).FindAllStringSubmatch(text.String(), -1)
		var got []string
		for _, f := range found {
			got = append(got, f[1]+" "+f[2])
		}
		require.Equal(t, []string{
			"1s sleep, woken by task", "1ms task",
			"999ms sleep, woken by internal", "2ms internal",
			"998ms sleep, woken by microtask", "3ms microtask",
			"997ms sleep, woken by timer", "500ms sleep, woken by timer", "4ms timer", "496ms sleep", // which it does now
		}, got, text.String())

		var out bytes.Buffer
		require.NoError(t, l.DumpTrace(&out))
		var parsed struct {
			TraceEvents []struct {
				Name, Ph string
				Ts, Dur  float64
				Pid, Tid uint64
				Args     map[string]string
			}
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &parsed))
		took := map[string]float64{}
		for _, e := range parsed.TraceEvents {
			if e.Ph == "X" && e.Name != "sleep" {
				took[e.Name] += e.Dur
			}
			require.Equal(t, l.ID(), e.Tid)
		}
		require.Equal(t, map[string]float64{"task": 1000, "internal": 2000, "microtask": 3000, "timer": 4000}, took)

		require.NoError(t, l.Submit(blockHere(time.Minute)))
		time.Sleep(30 * time.Second)
		lines := strings.Split(strings.TrimSpace(<-stalled), "\n")
		require.Regexp(t, `1[5-8](\.\d+)?s +0s stall$`, lines[len(lines)-2])
		require.Regexp(t, `1[0-3](\.\d+)?s task$`, lines[len(lines)-1], "the callback that blocks")
		require.NoError(t, l.Shutdown(t.Context()))
		text.Reset()
		require.NoError(t, l.DumpEvents(&text))
		require.Regexp(t, ` 0s end\n$`, text.String())
	})
}

// What happens at the same time stays in its order when the recorder has kept only the last of it.
func TestFlightRecorderInOneMoment(t *testing.T) {
	last := func(n int) (kinds []string) {
		synctest.Test(t, func(t *testing.T) {
			l := observed(t, eventloop.WithFlightRecorder(n))
			require.NoError(t, l.Submit(func() {
				_ = l.ScheduleMicrotask(func() {})
				_ = l.NextTick(func() {})
				_ = l.SubmitInternal(func() {})
				_ = l.Submit(func() {})
				_, _ = l.ScheduleTimer(0, func() {})
			}))
			synctest.Wait()
			var b strings.Builder
			require.NoError(t, l.DumpEvents(&b))
			for i, line := range slices.Collect(strings.Lines(b.String())) {
				if f := strings.Fields(line); i > 0 {
					kinds = append(kinds, strings.Join(f[2:], " "))
				}
			}
		})
		return kinds
	}
	all := last(100)
	require.Greater(t, len(all), 8)
	for n := 1; n <= 8; n++ {
		require.Equal(t, all[len(all)-n-1:], last(n), "and what the loop is doing now")
	}
}

// A callback that is quicker than the clock has a duration in the trace, which is zero: Perfetto does not show it without.
func TestTraceOfWhatTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithFlightRecorder(100))
		require.NoError(t, l.Submit(func() {}))
		synctest.Wait()
		var out bytes.Buffer
		require.NoError(t, l.DumpTrace(&out))
		var parsed struct {
			TraceEvents []struct {
				Name, Ph string
				Dur      *float64
			}
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &parsed))
		tasks := 0
		for _, e := range parsed.TraceEvents {
			require.Equal(t, e.Ph == "X", e.Dur != nil, out.String())
			if e.Name == "task" {
				tasks++
				require.Zero(t, *e.Dur)
			}
		}
		require.Equal(t, 1, tasks)
	})
}

// A recorder that is off, or that has missed what the loop has done, says so.
func TestFlightRecorderTestsItself(t *testing.T) {
	l := observed(t)
	require.ErrorContains(t, l.DumpEvents(new(bytes.Buffer)), "WithFlightRecorder")
	require.ErrorContains(t, l.DumpTrace(new(bytes.Buffer)), "WithFlightRecorder")

	l = observed(t, eventloop.WithFlightRecorder(100))
	parkedMetrics(t, l)
	require.NoError(t, l.DumpEvents(new(bytes.Buffer)))
	l.ForgetRecorded()
	var b bytes.Buffer
	require.ErrorContains(t, l.DumpEvents(&b), "has not recorded")
	require.NotZero(t, b.Len(), "what there is is written all the same")
	require.ErrorContains(t, l.DumpTrace(&b), "has not recorded")

	failed := errors.New("disk full")
	require.ErrorIs(t, l.DumpEvents(failing{failed}), failed)
	require.ErrorIs(t, l.DumpTrace(failing{failed}), failed)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// While a trace is written, it has the phases of each loop as regions, also of one whose callbacks fail; otherwise nothing.
func TestTraceRegions(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("somebody traces these tests")
	}
	l := observed(t, eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
	parkedMetrics(t, l)
	var b bytes.Buffer
	require.NoError(t, trace.Start(&b))
	require.NoError(t, l.Submit(func() { panic("lost temper") }))
	parkedMetrics(t, l)
	parkedMetrics(t, l)
	trace.Stop()
	for _, phase := range []string{"timers", "internal", "tasks", "microtasks", "sleep", "descriptors"} {
		require.Contains(t, b.String(), fmt.Sprintf("loop %d: %s", l.ID(), phase))
	}
	parkedMetrics(t, l)
	parkedMetrics(t, l)
	require.False(t, l.Tracing(), "when the trace is over")
}

// The goroutine of a loop has the loop's id in profiles, beside the labels of Run's context, which it has again afterwards.
func TestProfileLabels(t *testing.T) {
	l := made(t)
	profile := func() string {
		var b bytes.Buffer
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
		return b.String()
	}
	after, done := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(done)
		ctx := pprof.WithLabels(context.Background(), pprof.Labels("service", "billing"))
		_ = l.Run(ctx)
		after <- profile()
	}()
	label := fmt.Sprintf(`"loop":"%d"`, l.ID())
	during := make(chan string, 1)
	require.NoError(t, l.Submit(func() { during <- profile() }))
	require.Regexp(t, `# labels: \{`+label+`, "service":"billing"\}`, <-during)
	require.NoError(t, l.Shutdown(t.Context()))
	text := <-after
	<-done
	require.NotContains(t, text, label)
	require.Contains(t, text, `# labels: {"service":"billing"}`)

	never, err := eventloop.New() // Shutdown runs what was accepted
	require.NoError(t, err)
	require.NoError(t, never.Submit(func() { during <- profile() }))
	require.NoError(t, never.Shutdown(t.Context()))
	require.Contains(t, <-during, fmt.Sprintf(`# labels: {"loop":"%d"}`, never.ID()))
}
