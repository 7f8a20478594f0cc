package eventloop_test

// Methods of users' errors, which may do anything: who reads a text makes it, and no answer waits for one.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// wild is an error whose methods do something else than to answer.
type wild struct{ do func(error) }

func (w *wild) Error() string    { w.do(w); return "tame" }
func (w *wild) Is(error) bool    { w.do(w); return false }
func (w *wild) As(any) bool      { w.do(w); return false }
func (w *wild) Unwrap() error    { w.do(w); return nil }
func (w *wild) GoString() string { w.do(w); return "tame" }

// endsWith is a context with an error of its own.
type endsWith struct {
	context.Context
	err error
}

func (c endsWith) Err() error {
	if c.Context.Err() != nil {
		return c.err
	}
	return nil
}

// Row 85: in each place where a user's error goes through the loop, and for each thing that its methods may do, the answer comes,
// it is the right one, and the loop ends.
func TestWildErrors(t *testing.T) {
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		return ctx
	}
	// ending is a context that ends with cause while whoever has it waits.
	ending := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		return ctx
	}
	waits := func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	outcome := func(p *eventloop.Promise) error {
		_, err := p.Await(context.Background())
		return err
	}
	onLoop := func(l *eventloop.Loop, fn func() error) error {
		answer := make(chan error, 1)
		if err := l.Submit(func() { answer <- fn() }); err != nil {
			return err
		}
		return <-answer
	}
	inThreadlet := func(l *eventloop.Loop, fn func() error) error {
		answer := make(chan error, 1)
		if _, err := threadlet.Go(l, func() { answer <- fn() }); err != nil {
			return err
		}
		return <-answer
	}
	places := map[string]struct {
		call func(l *eventloop.Loop, w error) error
		want error // beside w
	}{
		"Promisify, ended":  {func(l *eventloop.Loop, w error) error { return outcome(l.Promisify(ended(w), waits)) }, context.Canceled},
		"Promisify, ending": {func(l *eventloop.Loop, w error) error { return outcome(l.Promisify(ending(w), waits)) }, context.Canceled},
		"Promisify that fails": {func(l *eventloop.Loop, w error) error {
			return outcome(l.Promisify(context.Background(), func(context.Context) (any, error) { return nil, w }))
		}, nil},
		"Promisify that panics": {func(l *eventloop.Loop, w error) error {
			return outcome(l.Promisify(context.Background(), func(context.Context) (any, error) { panic(w) }))
		}, nil},
		"a context's own error": {func(l *eventloop.Loop, w error) error {
			return outcome(l.Promisify(endsWith{ending(nil), w}, waits))
		}, nil},
		"a rejection": {func(l *eventloop.Loop, w error) error { return outcome(l.Promises().Rejected(w)) }, nil},
		"a handler": {func(l *eventloop.Loop, w error) error {
			return outcome(l.Promises().Resolved(1).Then(func(any) (any, error) { return nil, w }, nil))
		}, nil},
		"a handler that panics": {func(l *eventloop.Loop, w error) error {
			return outcome(l.Promises().Resolved(1).Then(func(any) (any, error) { panic(w) }, nil))
		}, nil},
		"Any": {func(l *eventloop.Loop, w error) error { return outcome(l.Promises().Any(l.Promises().Rejected(w))) }, nil},
		"another loop": {func(l *eventloop.Loop, w error) error {
			other, err := eventloop.New(eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) {}))
			if err != nil {
				return err
			}
			go other.Run(context.Background())
			defer other.Shutdown(context.Background())
			p := other.Promises().Rejected(w)
			return outcome(l.Promises().Resolved(p))
		}, nil},
		"typed": {func(l *eventloop.Loop, w error) error {
			_, err := promise.Rejected[int](l.Promises(), w).Await(context.Background())
			return err
		}, nil},
		"a panic": {func(l *eventloop.Loop, w error) error {
			return errors.Join(l.Submit(func() { panic(w) }), w)
		}, nil},
		"an unhandled rejection": {func(l *eventloop.Loop, w error) error {
			return onLoop(l, func() error { l.Promises().Rejected(w); return w })
		}, nil},
		"an unhandled rejection at the end": {func(l *eventloop.Loop, w error) error {
			return onLoop(l, func() error { l.Shutdown(context.Background()); l.Promises().Rejected(w); return w })
		}, nil},
		"Shutdown": {func(l *eventloop.Loop, w error) error {
			release := make(chan struct{})
			defer close(release)
			_ = l.Submit(func() { <-release })
			return l.Shutdown(endsWith{ended(nil), w})
		}, nil},
		"Await": {func(l *eventloop.Loop, w error) error {
			p, _, _ := l.NewPromise()
			_, err := p.Await(endsWith{ending(nil), w})
			return err
		}, nil},
		"Sleep, ended":  {func(l *eventloop.Loop, w error) error { return outcome(flow.Sleep(ended(w), l, time.Hour)) }, context.Canceled},
		"Sleep, ending": {func(l *eventloop.Loop, w error) error { return outcome(flow.Sleep(ending(w), l, time.Hour)) }, context.Canceled},
		"Call, ended": {func(l *eventloop.Loop, w error) error {
			return flow.Exec(ended(w), l, func() error { return nil })
		}, context.Canceled},
		"Call, ending": {func(l *eventloop.Loop, w error) error {
			return flow.Exec(ending(w), l, func() error { time.Sleep(time.Hour); return nil })
		}, context.Canceled},
		"Call that fails": {func(l *eventloop.Loop, w error) error {
			return flow.Exec(context.Background(), l, func() error { return w })
		}, nil},
		"Call that panics": {func(l *eventloop.Loop, w error) error {
			return flow.Exec(context.Background(), l, func() error { panic(w) })
		}, nil},
		"Retry, ending": {func(l *eventloop.Loop, w error) error {
			return outcome(flow.Retry(ending(w), l, flow.Backoff{First: time.Hour}, func(context.Context, int) (any, error) {
				return nil, io.EOF
			}).Untyped())
		}, context.Canceled},
		"Retry of what panics": {func(l *eventloop.Loop, w error) error {
			return outcome(flow.Retry(context.Background(), l, flow.Backoff{Attempts: 2}, func(context.Context, int) (any, error) { panic(w) }).Untyped())
		}, nil},
		"Do, ending": {func(l *eventloop.Loop, w error) error {
			return inThreadlet(l, func() error {
				return threadlet.Do(ending(w), func(ctx context.Context) error { _, err := waits(ctx); return err })
			})
		}, context.Canceled},
		"Do that fails": {func(l *eventloop.Loop, w error) error {
			return inThreadlet(l, func() error {
				return threadlet.Do(context.Background(), func(context.Context) error { return w })
			})
		}, nil},
		"Join": {func(l *eventloop.Loop, w error) error {
			tl, err := threadlet.Go(l, func() { panic(w) })
			if err != nil {
				return err
			}
			return tl.Join(context.Background())
		}, nil},
		"a signal": {func(l *eventloop.Loop, w error) error {
			j, err := js.New(l)
			if err != nil {
				return err
			}
			c := j.NewAbortController()
			ctx, cancel := j.AnySignal(c.Signal()).Context(context.Background())
			defer cancel()
			time.AfterFunc(time.Second, func() { _ = c.Abort(w) })
			return outcome(l.Promisify(ctx, waits))
		}, context.Canceled},
		"a signal of a context": {func(l *eventloop.Loop, w error) error {
			j, err := js.New(l)
			if err != nil {
				return err
			}
			aborted := make(chan error, 1)
			j.SignalFromContext(ending(w)).OnAbort(func(reason error) { aborted <- reason })
			return <-aborted
		}, nil},
		"a listener that panics": {func(l *eventloop.Loop, w error) error {
			j, err := js.New(l)
			if err != nil {
				return err
			}
			c := j.NewAbortController()
			c.Signal().OnAbort(func(reason error) { panic(reason) })
			return errors.Join(onLoop(l, func() error { return c.Abort(w) }), w)
		}, nil},
	}
	for does, do := range map[string]func(release <-chan struct{}) func(error){
		"panics with itself": func(<-chan struct{}) func(error) { return func(w error) { panic(w) } },
		"blocks":             func(release <-chan struct{}) func(error) { return func(error) { <-release } },
		"exits":              func(<-chan struct{}) func(error) { return func(error) { runtime.Goexit() } },
	} {
		for place, c := range places {
			for _, handlers := range []bool{true, false} {
				if !handlers && does == "blocks" {
					continue // the loop waits for its logger as for any callback
				}
				t.Run(fmt.Sprint(place, "/", does, "/handlers=", handlers), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						release := make(chan struct{})
						opts := []eventloop.Option{eventloop.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))}
						if handlers {
							opts = append(opts, eventloop.WithPanicHandler(func(*eventloop.PanicError) {}),
								eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) {}))
						}
						l := made(t, opts...)
						go l.Run(context.Background())
						w := &wild{do: do(release)}
						got := c.call(l, w)
						require.True(t, wraps(got, w) && (c.want == nil || wraps(got, c.want)), "%T", got)
						synctest.Wait() // what was rejected is reported before the end begins
						if place == "an unhandled rejection at the end" {
							close(release) // it is compared on the loop, which waits for that, too
						} else {
							defer close(release)
						}
						_ = l.Shutdown(context.Background())
						<-l.Done()
					})
				})
			}
		}
	}
}

// wraps is errors.Is without the methods of a wild error.
func wraps(err, target error) bool {
	switch e := err.(type) {
	case *wild:
		return e == target
	case interface{ Unwrap() error }:
		return err == target || wraps(e.Unwrap(), target)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if wraps(inner, target) {
				return true
			}
		}
	}
	return err == target
}
