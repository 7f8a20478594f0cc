package eventloop_test

// Every call from every kind of callback, in each phase of a loop's end.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// everything calls all there is to call, odd values included. None of it may block on the loop, or fail in a way of its own.
func everything(l *eventloop.Loop) error {
	var errs []error
	nothing := func() {}
	may := func(err error, also ...error) {
		for _, ok := range append(also, nil, eventloop.ErrLoopTerminated) {
			if errors.Is(err, ok) {
				return
			}
		}
		errs = append(errs, err)
	}
	may(l.Run(context.Background()), eventloop.ErrReentrantRun, eventloop.ErrLoopAlreadyRunning)
	may(l.Submit(nothing))
	may(l.Submit(nil), eventloop.ErrNilCallback)
	may(l.SubmitInternal(nothing))
	may(l.ScheduleMicrotask(nothing))
	may(l.NextTick(nothing))
	for _, delay := range []time.Duration{0, -1, 1 << 62, time.Millisecond} {
		for _, tier := range []eventloop.TimerTier{eventloop.TimerCritical, eventloop.TimerNormal, eventloop.TimerBackground} {
			id, err := l.ScheduleTimerAs(tier, delay, nothing)
			may(err)
			may(l.UnrefTimer(id), eventloop.ErrTimerNotFound)
			may(l.RefTimer(id), eventloop.ErrTimerNotFound)
			if delay != 0 {
				may(l.CancelTimer(id), eventloop.ErrTimerNotFound)
			}
		}
	}
	may(l.CancelTimer(1<<64-1), eventloop.ErrTimerNotFound)
	ignore := func(eventloop.IOEvents) {}
	for _, fd := range []int{-1, 1 << 30} {
		if l.RegisterFD(fd, eventloop.EventRead, ignore) == nil {
			errs = append(errs, fmt.Errorf("descriptor %d was registered", fd))
		}
		may(l.ModifyFD(fd, eventloop.EventWrite), eventloop.ErrFDNotRegistered)
		may(l.UnregisterFD(fd), eventloop.ErrFDNotRegistered)
		may(l.UnregisterFDThen(fd, nothing), eventloop.ErrFDNotRegistered)
	}
	for _, mode := range []eventloop.FastPathMode{eventloop.FastPathForced, eventloop.FastPathAuto} {
		may(l.SetFastPathMode(mode), eventloop.ErrFastPathIncompatible)
	}
	l.CurrentTickTime()
	l.HoldNamed("everything")()
	l.Alive()
	l.Metrics()
	for _, a := range l.Active() {
		_ = a.String()
	}
	if l.DumpEvents(io.Discard) == nil {
		may(l.DumpTrace(io.Discard))
	}
	_ = l.State().String()
	ctx, cancel := context.WithCancel(context.Background())
	p, resolve, reject := l.NewPromise()
	q := l.Promises().All(p, l.Promises().Race(), l.Promisify(ctx, func(ctx context.Context) (any, error) { return nil, nil }))
	q.Finally(func() error { return nil }).Catch(func(error) (any, error) { return nil, nil })
	q.ToChannel()
	reject(nil)
	resolve(p)
	l.Promisify(ctx, nil).Catch(nil)
	l.Promises().Rejected(io.EOF).Catch(func(error) (any, error) { return nil, nil })
	cancel()
	l.Promisify(ctx, func(ctx context.Context) (any, error) { return nil, nil }).Catch(func(error) (any, error) { return nil, nil })
	if l.OnLoop() {
		_, err := q.Await(context.Background())
		may(err, eventloop.ErrAwaitOnLoop)
	}
	return errors.Join(errs...)
}

// corners are the kinds of callbacks; begin has the loop call fn from one.
var corners = map[string]func(t *testing.T, l *eventloop.Loop, fn func()) error{
	"external":  func(_ *testing.T, l *eventloop.Loop, fn func()) error { return l.Submit(fn) },
	"internal":  func(_ *testing.T, l *eventloop.Loop, fn func()) error { return l.SubmitInternal(fn) },
	"microtask": func(_ *testing.T, l *eventloop.Loop, fn func()) error { return l.ScheduleMicrotask(fn) },
	"tick":      func(_ *testing.T, l *eventloop.Loop, fn func()) error { return l.NextTick(fn) },
	"timer":     func(_ *testing.T, l *eventloop.Loop, fn func()) error { _, err := l.ScheduleTimer(0, fn); return err },
	"background": func(_ *testing.T, l *eventloop.Loop, fn func()) error {
		_, err := l.ScheduleTimerAs(eventloop.TimerBackground, 0, fn)
		return err
	},
	"handler": func(_ *testing.T, l *eventloop.Loop, fn func()) error {
		l.Promises().Resolved(nil).Finally(func() error { fn(); return nil })
		return nil
	},
	"handler at the end": func(_ *testing.T, l *eventloop.Loop, fn func()) error {
		p, _, _ := l.NewPromise()
		p.Catch(func(error) (any, error) { fn(); return nil, nil })
		return l.Submit(func() { _ = l.Shutdown(context.Background()) })
	},
	"unhandled": func(_ *testing.T, l *eventloop.Loop, fn func()) error {
		return l.Submit(func() { l.Promises().Rejected(fired{fn}) })
	},
	"panic": func(_ *testing.T, l *eventloop.Loop, fn func()) error { return l.Submit(func() { panic(fired{fn}) }) },
	"goexit": func(_ *testing.T, l *eventloop.Loop, fn func()) error {
		return l.Submit(func() { defer runtime.Goexit(); fn() })
	},
	"worker": func(_ *testing.T, l *eventloop.Loop, fn func()) error {
		l.Promisify(context.Background(), func(context.Context) (any, error) { fn(); return nil, nil })
		return nil
	},
	"descriptor": func(t *testing.T, l *eventloop.Loop, fn func()) error {
		near, _ := newPair(t)
		return l.RegisterFD(near, eventloop.EventWrite, func(eventloop.IOEvents) { _ = l.UnregisterFD(near); fn() })
	},
	"unregistered": func(t *testing.T, l *eventloop.Loop, fn func()) error {
		near, _ := newPair(t)
		return errors.Join(l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {}), l.UnregisterFDThen(near, fn))
	},
}

// fired is an error whose report calls back.
type fired struct{ fn func() }

func (fired) Error() string { return "fired" }

// moments are what is done first in the callback.
var moments = map[string]func(l *eventloop.Loop) error{
	"living":   func(*eventloop.Loop) error { return nil },
	"shutdown": func(l *eventloop.Loop) error { return l.Shutdown(context.Background()) },
	"close":    (*eventloop.Loop).Close,
	"both":     func(l *eventloop.Loop) error { return errors.Join(l.Shutdown(context.Background()), l.Close()) },
}

// Whatever a callback calls, whenever: nothing blocks, and the end comes.
func TestEverythingFromEverywhere(t *testing.T) {
	for place, begin := range corners {
		for phase, enter := range moments {
			for _, auto := range []bool{false, true} {
				if (place == "descriptor" || place == "unregistered") && runtime.GOOS == "windows" {
					continue
				}
				if place == "worker" && phase != "living" && phase != "close" {
					continue // a function of Promisify must not wait for Shutdown, which waits for it
				}
				name := fmt.Sprintf("%s, %s, %t", place, phase, auto)
				called := make(chan error, 1)
				var l *eventloop.Loop
				fn := func() {
					err := enter(l)
					if place == "handler at the end" {
						err = nil // it was asked for before
					}
					called <- errors.Join(err, everything(l), everything(l))
				}
				back := func(err error) {
					if f := (fired{}); errors.As(err, &f) {
						f.fn()
					}
				}
				opts := []eventloop.Option{eventloop.WithAutoExit(auto)}
				if auto {
					opts = append(opts, eventloop.WithMetrics(true), eventloop.WithDebug(true), eventloop.WithFlightRecorder(64),
						eventloop.WithStallThreshold(time.Minute, func(eventloop.Stall) {}))
				}
				l, err := eventloop.New(append(opts, eventloop.WithLogger(slog.New(&journal{})), eventloop.WithWorkerLimit(1),
					eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) { back(err) }),
					eventloop.WithPanicHandler(func(e *eventloop.PanicError) { back(e) }))...)
				require.NoError(t, err)
				release := l.Hold()
				go func() { _ = l.Run(context.Background()) }()
				require.NoError(t, onLoop(t, l, func() error { return nil })) // or a worker would get to run it
				require.NoError(t, begin(t, l, fn), name)
				release()
				require.NoError(t, beat.Receive(t, called, name+": the callback is called, and returns"), name)
				if phase == "living" && !auto && place != "handler at the end" {
					go func() { _ = l.Shutdown(context.Background()) }()
				}
				beat.Receive(t, l.Done(), name+": the end")
				require.NoError(t, everything(l), "%s: after the end", name)
			}
		}
	}
}
