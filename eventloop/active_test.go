package eventloop_test

// Tests of Active: what it lists, and what it leaves out where there is too much.

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// ofKind returns the activities of one kind.
func ofKind(l *eventloop.Loop, kind string) (as []eventloop.Activity) {
	for _, a := range l.Active() {
		if a.Kind == kind {
			as = append(as, a)
		}
	}
	return as
}

// Whatever keeps a loop alive is told, also while a callback blocks it, and not any more when it is over.
func TestActive(t *testing.T) {
	for _, debug := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := observed(t, eventloop.WithDebug(debug), eventloop.WithMetrics(!debug))
			synctest.Wait()
			require.Empty(t, l.Active(), "an idle loop")
			time.Sleep(time.Second)

			release := make(chan struct{})
			id, err := l.ScheduleTimer(time.Minute, func() {})
			require.NoError(t, err)
			unrefd, err := l.ScheduleTimer(time.Minute, func() {})
			require.NoError(t, err)
			require.NoError(t, l.UnrefTimer(unrefd))
			freeFirst := l.HoldNamed("database")
			time.Sleep(time.Second)
			freeSecond := l.Hold()
			l.Promisify(context.Background(), func(context.Context) (any, error) { <-release; return nil, nil })
			p, resolve, _ := l.NewPromise()
			ch := p.ToChannel()
			require.NoError(t, l.SubmitInternal(func() { <-release }))
			synctest.Wait()
			for range 3 {
				require.NoError(t, l.Submit(func() {}))
			}
			time.Sleep(time.Second)

			check := func(kind string, n int, name, detail string, since time.Duration) {
				t.Helper()
				as := ofKind(l, kind)
				require.Len(t, as, n, "%s: %v", kind, l.Active())
				if n == 0 {
					return
				}
				a := as[0]
				require.Equal(t, name, a.Name, kind)
				require.Contains(t, a.Detail, detail)
				if debug {
					require.Contains(t, a.Detail, "TestActive", "%s: where it was created", kind)
					require.Contains(t, a.Detail, "active_test.go:", kind)
				}
				if since > 0 {
					require.Equal(t, since, time.Since(a.Since), kind)
				}
			}
			known := func(d time.Duration) time.Duration { // in debug mode only
				if debug {
					return d
				}
				return 0
			}
			check("internal", 1, "running", "", time.Second)
			check("task", 1, "", "3 waiting", time.Second)
			check("timer", 1, "#"+itoa(uint64(id)), "due in 58s", known(2*time.Second))
			check("hold", 2, "database", "", 2*time.Second)
			check("worker", 1, "", "", known(time.Second))
			check("promise", 1, "", "pending promise", 0)
			require.Empty(t, ofKind(l, "hold")[1].Name)
			kinds := []string{}
			for _, a := range l.Active() {
				kinds = append(kinds, a.Kind)
			}
			require.Equal(t, []string{"internal", "task", "timer", "hold", "hold", "worker", "promise"}, kinds)

			close(release)
			resolve(nil)
			freeSecond()
			freeSecond()
			<-ch
			synctest.Wait()
			require.Len(t, l.Active(), 2, "%v", l.Active())
			freeFirst()
			require.NoError(t, l.CancelTimer(id))
			require.NoError(t, l.CancelTimer(unrefd))
			synctest.Wait()
			require.Empty(t, l.Active())
			require.Zero(t, l.Notes(), "the ledger has forgotten all of it")
		})
	}
}

func itoa(n uint64) string {
	var b []byte
	for ; n > 0 || len(b) == 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

// Of each kind the oldest is first, with the ages of debug mode and without, also if they began at the same moment, and in
// places that others have left.
func TestActiveOldestFirst(t *testing.T) {
	for _, debug := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := made(t, eventloop.WithDebug(debug), eventloop.WithPoller(func() (eventloop.SystemPoller, error) { return noPoller{}, nil }))
			for kind, begin := range map[string]func(i int) (name string, end func()){
				"timer": func(i int) (string, func()) {
					id, err := l.ScheduleTimer(time.Duration(1+i*37%20)*time.Second, func() {})
					require.NoError(t, err)
					return "#" + itoa(uint64(id)), func() { require.NoError(t, l.CancelTimer(id)) }
				},
				"descriptor": func(i int) (string, func()) {
					fd := 3 + i*37%100
					require.NoError(t, l.RegisterFD(fd, eventloop.EventRead, func(eventloop.IOEvents) {}))
					return fmt.Sprint("fd ", fd), func() { require.NoError(t, l.UnregisterFD(fd)) }
				},
				"hold": func(i int) (string, func()) {
					name := fmt.Sprint("hold ", i)
					return name, l.HoldNamed(name)
				},
			} {
				var want, got []string
				var ends []func()
				for i := range 60 {
					name, end := begin(i)
					want, ends = append(want, name), append(ends, end)
					if j := (i * 7) % len(want); i%3 == 0 {
						ends[j]()
						want, ends = slices.Delete(want, j, j+1), slices.Delete(ends, j, j+1)
					}
				}
				for _, a := range ofKind(l, kind) {
					got = append(got, a.Name)
				}
				require.Equal(t, want, got, "%s, debug: %v", kind, debug)
			}
			require.NoError(t, l.Close())
		})
	}
}

// Many of a kind are told as one; of holds the oldest are told by their names all the same.
func TestActiveTellsManyInOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithDebug(true))
		var free []func()
		for i := range 1000 {
			_, err := l.ScheduleTimer(time.Hour, func() {})
			require.NoError(t, err)
			free = append(free, l.HoldNamed(fmt.Sprint("hold ", i)))
			l.Promisify(t.Context(), func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, nil }).ToChannel()
		}
		free[0]()
		synctest.Wait()
		require.Equal(t, "1000 pending, the next due in 1h0m0s", ofKind(l, "timer")[0].Detail)
		require.Equal(t, "1000 under way", ofKind(l, "worker")[0].Detail)
		require.Equal(t, "1000 that somebody waits for", ofKind(l, "promise")[0].Detail)
		holds := ofKind(l, "hold")
		require.Len(t, holds, 101)
		require.Equal(t, "hold 1", holds[0].Name)
		require.Equal(t, "hold 100", holds[99].Name)
		require.Equal(t, "899 more not released", holds[100].Detail)
		require.Len(t, l.Active(), 104)
	})
}

// Holds that are released in any order leave the others.
func TestHoldsReleasedInAnyOrder(t *testing.T) {
	names := "abcde"
	for first := range names {
		for second := range names {
			l := made(t)
			var free []func()
			for _, name := range names {
				free = append(free, l.HoldNamed(string(name)))
			}
			free[first]()
			free[second]()
			left := map[string]bool{}
			for _, a := range l.Active() {
				left[a.Name] = true
			}
			for i, name := range names {
				require.Equal(t, i != first && i != second, left[string(name)])
			}
			require.Equal(t, len(left), l.Metrics().Holds)
			_ = l.Close()
		}
	}
}

// A Shutdown whose context ends first says what it was waiting for.
func TestShutdownTellsWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, opts := range map[string][]eventloop.Option{"plain": nil, "debug": {eventloop.WithDebug(true)}} {
			l := observed(t, opts...)
			release := make(chan struct{})
			l.HoldNamed("which keeps no loop from its end")
			require.NoError(t, l.Submit(func() { <-release }))
			synctest.Wait()
			require.NoError(t, l.Submit(func() {}))
			l.Promisify(context.Background(), func(context.Context) (any, error) { <-release; return nil, nil })
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			err := l.Shutdown(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			text := err.Error()
			for _, want := range []string{"task running", "task 1 waiting", "worker", "context deadline exceeded"} {
				require.Contains(t, text, want, name)
			}
			require.NotContains(t, text, "hold")
			if name == "debug" {
				require.Contains(t, text, "for 1m0s")
				require.Equal(t, 3, strings.Count(text, "TestShutdownTellsWhatItWaitsFor"), text)
			}
			close(release)
			<-l.Done()
			require.ErrorIs(t, l.Shutdown(t.Context()), eventloop.ErrLoopTerminated)
		}
	})
}

// What Promisify has not started when Close comes is not waited for.
func TestAwaitWorkersThatNeverStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithWorkerLimit(1))
		for range 3 {
			l.Promisify(context.Background(), func(context.Context) (any, error) { time.Sleep(time.Minute); return nil, nil })
		}
		synctest.Wait()
		require.NoError(t, l.Close())
		began := time.Now()
		require.NoError(t, l.AwaitWorkers(t.Context()))
		require.Equal(t, time.Minute, time.Since(began))
	})
}

// What Promisify has started goes on after Close, and can be waited for.
func TestAwaitWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t)
		synctest.Wait()
		require.NoError(t, l.AwaitWorkers(t.Context()), "there never was any")
		require.NoError(t, l.Submit(func() { require.ErrorIs(t, l.AwaitWorkers(t.Context()), eventloop.ErrAwaitOnLoop) }))
		var returned atomic.Int64
		for i := range 3 {
			l.Promisify(context.Background(), func(context.Context) (any, error) {
				time.Sleep(time.Duration(i+1) * time.Minute)
				returned.Add(1)
				return nil, nil
			})
			synctest.Wait()
		}
		require.NoError(t, l.Close())
		<-l.Done()
		require.Equal(t, "3 under way", ofKind(l, "worker")[0].Detail)
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		require.ErrorIs(t, l.AwaitWorkers(ctx), context.DeadlineExceeded)
		require.EqualValues(t, 1, returned.Load())
		require.NoError(t, l.AwaitWorkers(context.Background()))
		require.EqualValues(t, 3, returned.Load())
		require.Empty(t, l.Active())
	})
}

// Every record that a loop logs has its id, which is its own.
func TestIDs(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	ids := map[uint64]bool{}
	for range 3 {
		l := made(t, eventloop.WithLogger(logger), eventloop.WithAutoExit(true), eventloop.WithMicrotaskBudget(1))
		require.False(t, ids[l.ID()])
		ids[l.ID()] = true
		log.Reset()
		require.NoError(t, l.Submit(func() { panic("lost temper") }))
		require.NoError(t, l.Submit(func() {
			l.Promises().Rejected(errWork)
			_ = l.ScheduleMicrotask(func() {})
			_ = l.ScheduleMicrotask(func() {})
		}))
		require.NoError(t, l.Run(context.Background()))
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		require.GreaterOrEqual(t, len(lines), 3, log.String())
		for _, line := range lines {
			require.Contains(t, line, " loop="+itoa(l.ID()), line)
		}
	}
}
