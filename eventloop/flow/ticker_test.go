package flow_test

// Tests of Every and Repeat.

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

// An interval keeps to its grid; what passes while it runs, or while the loop does something else, is left out, and
// neither a panic nor a Goexit ends it.
func TestEvery(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		takes  map[int]time.Duration // by run
		faulty func()
		busy   time.Duration // another callback, from 1.5 s on
		want   []time.Duration
	}{
		"idle":     {want: []time.Duration{second, 2 * second, 3 * second, 4 * second, 5 * second}},
		"slow":     {takes: map[int]time.Duration{0: 2500 * time.Millisecond}, want: []time.Duration{second, 4 * second, 5 * second}},
		"periods":  {takes: map[int]time.Duration{0: 2 * second}, want: []time.Duration{second, 4 * second, 5 * second}},
		"panics":   {faulty: func() { panic("no") }, want: []time.Duration{second, 2 * second, 3 * second, 4 * second, 5 * second}},
		"exits":    {faulty: runtime.Goexit, want: []time.Duration{second, 2 * second, 3 * second, 4 * second, 5 * second}},
		"neighbor": {busy: 2 * second, want: []time.Duration{second, 3500 * time.Millisecond, 4 * second, 5 * second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
				require.NoError(t, err)
				began := time.Now()
				var runs []time.Duration
				var ticker *flow.Ticker
				ticker, err = flow.Every(l, second, func() {
					n := len(runs)
					runs = append(runs, time.Since(began))
					time.Sleep(c.takes[n])
					if runs[n] == 5*second {
						ticker.Stop()
					}
					if c.faulty != nil {
						c.faulty()
					}
				})
				require.NoError(t, err)
				if c.busy > 0 {
					_, err := l.ScheduleTimer(1500*time.Millisecond, func() { time.Sleep(c.busy) })
					require.NoError(t, err)
				}
				go l.Run(context.Background())
				<-l.Done() // auto-exit: a stopped interval keeps nothing alive
				require.Equal(t, c.want, runs)
				require.Equal(t, 5*second, time.Since(began))
				ticker.Stop()
			})
		})
	}
}

// A schedule of the wall clock runs at its times, never before, until it is at its end.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithAutoExit(true))
		require.NoError(t, err)
		var days []string
		_, err = flow.Repeat(l, func(now time.Time) time.Time {
			at := time.Date(now.Year(), now.Month(), now.Day(), 3, 30, 0, 0, time.UTC)
			switch {
			case len(days) == 3:
				return time.Time{}
			case !at.After(now):
				return at.AddDate(0, 0, 1)
			}
			return at
		}, func() { days = append(days, time.Now().UTC().Format("02 15:04")) })
		require.NoError(t, err)
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []string{"01 03:30", "02 03:30", "03 03:30"}, days)
	})
}

// A panic of next is reported, and is the end: nothing keeps the loop alive.
func TestRepeatWhoseNextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics, asked, runs := 0, 0, 0
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithPanicHandler(func(*eventloop.PanicError) { panics++ }))
		require.NoError(t, err)
		_, err = flow.Repeat(l, func(now time.Time) time.Time {
			if asked++; asked == 3 {
				panic("no")
			}
			return now.Add(time.Second)
		}, func() { runs++ })
		require.NoError(t, err)
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []int{1, 3, 2}, []int{panics, asked, runs})
	})
}

// oddTimers are a loop's, with another ScheduleTimer.
type oddTimers struct {
	*eventloop.Loop
	schedule func(time.Duration, func()) (eventloop.TimerID, error)
}

func (o oddTimers) ScheduleTimer(d time.Duration, fn func()) (eventloop.TimerID, error) {
	return o.schedule(d, fn)
}

// A timer that rings before the time of the wall clock, since that was set back, is none: the time is waited for again.
func TestRepeatIsNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithAutoExit(true))
		require.NoError(t, err)
		began, rings := time.Now(), 0
		var ran []time.Duration
		early := oddTimers{l, func(d time.Duration, fn func()) (eventloop.TimerID, error) {
			if rings++; rings == 1 {
				d /= 2
			}
			return l.ScheduleTimer(d, fn)
		}}
		_, err = flow.RepeatOn(early, func(time.Time) (at time.Time) {
			if len(ran) == 0 {
				at = began.Add(time.Hour)
			}
			return at
		}, func() { ran = append(ran, time.Since(began)) })
		require.NoError(t, err)
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []time.Duration{time.Hour}, ran)
		require.Equal(t, 2, rings)
	})
}

// Why there is no further timer is reported, unless it is the end of the loop.
func TestRepeatTellsWhyItEnds(t *testing.T) {
	for _, why := range []error{errBusy, eventloop.ErrLoopTerminated} {
		synctest.Test(t, func(t *testing.T) {
			var reported []any
			l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithPanicHandler(func(p *eventloop.PanicError) { reported = append(reported, p.Value) }))
			require.NoError(t, err)
			runs := 0
			failing := oddTimers{l, func(d time.Duration, fn func()) (eventloop.TimerID, error) {
				if runs == 2 {
					return 0, why
				}
				return l.ScheduleTimer(d, fn)
			}}
			_, err = flow.RepeatOn(failing, func(now time.Time) time.Time { return now.Add(time.Second) }, func() { runs++ })
			require.NoError(t, err)
			require.NoError(t, l.Run(context.Background()))
			require.Equal(t, 2, runs)
			if why == errBusy {
				require.Equal(t, []any{why}, reported)
			} else {
				require.Empty(t, reported)
			}
		})
	}
}

// A ticker that is unreferenced, before its first time or between two, by itself or by another goroutine, lets an auto-exit loop
// end; one that is referenced again does not.
func TestTickerUnref(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l *eventloop.Loop, ticker *flow.Ticker)
		runs   int
	}{
		"at once": {func(_ *eventloop.Loop, ticker *flow.Ticker) { ticker.Unref() }, 3},
		"later":   {func(_ *eventloop.Loop, ticker *flow.Ticker) { time.AfterFunc(1500*time.Millisecond, ticker.Unref) }, 3},
		"and ref": {func(_ *eventloop.Loop, ticker *flow.Ticker) { ticker.Unref(); ticker.Ref() }, 10},
		"ref after a time": {func(_ *eventloop.Loop, ticker *flow.Ticker) {
			ticker.Unref()
			time.AfterFunc(1500*time.Millisecond, ticker.Ref)
		}, 10},
		"on the loop": {func(l *eventloop.Loop, ticker *flow.Ticker) {
			_, _ = l.ScheduleTimer(time.Second, ticker.Unref) // behind the ticker, and before its next time
		}, 3},
		"after a stop": {func(_ *eventloop.Loop, ticker *flow.Ticker) { ticker.Stop(); ticker.Unref(); ticker.Ref() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := eventloop.New(eventloop.WithAutoExit(true))
				require.NoError(t, err)
				runs := 0
				var ticker *flow.Ticker
				ticker, err = flow.Every(l, time.Second, func() {
					if runs++; runs == 10 {
						ticker.Stop()
					}
				})
				require.NoError(t, err)
				_, err = l.ScheduleTimer(3500*time.Millisecond, func() {}) // what keeps the loop alive otherwise
				require.NoError(t, err)
				c.change(l, ticker)
				require.NoError(t, l.Run(context.Background()))
				require.Equal(t, c.runs, runs)
			})
		})
	}
}

// Stop ends it from anywhere, also before its first time, from next, and as often as one likes; a run that has begun goes on.
func TestRepeatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
		go l.Run(context.Background())
		runs := 0
		ticker, err := flow.Every(l, time.Second, func() { runs++ })
		require.NoError(t, err)
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		ticker.Stop()
		ticker.Stop()
		require.Zero(t, l.Metrics().Timers)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 2, runs)

		ticker, err = flow.Every(l, time.Second, func() { runs++ })
		require.NoError(t, err)
		ticker.Stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 2, runs)

		asked := 0
		require.NoError(t, l.Submit(func() {
			var ticker *flow.Ticker
			ticker, err = flow.Repeat(l, func(now time.Time) time.Time {
				if asked++; asked > 1 {
					ticker.Stop()
				}
				return now.Add(time.Second)
			}, func() { runs++ })
			require.NoError(t, err)
		}))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 3, runs)
		require.Zero(t, l.Metrics().Timers)
		require.NoError(t, l.Shutdown(context.Background()))

		_, err = flow.Every(l, time.Second, func() {})
		require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
	})
}

func TestRepeatRefuses(t *testing.T) {
	l, err := eventloop.New()
	require.NoError(t, err)
	defer l.Close()
	_, err = flow.Every(l, 0, func() {})
	require.EqualError(t, err, "flow: Every(0s): the period must be positive")
	_, err = flow.Every(l, -1, func() {})
	require.Error(t, err)
	_, err = flow.Every(l, 1, nil)
	require.ErrorIs(t, err, eventloop.ErrNilCallback)
	_, err = flow.Repeat(l, nil, func() {})
	require.ErrorIs(t, err, eventloop.ErrNilCallback)
	ticker, err := flow.Repeat(l, func(time.Time) time.Time { return time.Time{} }, func() {})
	require.NoError(t, err)
	ticker.Stop()
	require.Zero(t, l.Metrics().Timers)
}
