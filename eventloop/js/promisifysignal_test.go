package js_test

// Promisify of package js under abort signals.

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// A worker under a signal's context: the promise tells why the signal was aborted, however much of the work was done.
func TestPromisifyUnderSignal(t *testing.T) {
	reason := errors.New("enough")
	for _, s := range []struct {
		name string
		make func(w *world) (s *js.AbortSignal, abort func())
		is   []error
	}{
		{"controller", func(w *world) (*js.AbortSignal, func()) {
			c := w.NewAbortController()
			return c.Signal(), func() { c.Abort(nil) }
		}, []error{js.ErrAbort, context.Canceled}},
		{"controller with a reason", func(w *world) (*js.AbortSignal, func()) {
			c := w.NewAbortController()
			return c.Signal(), func() { c.Abort(reason) }
		}, []error{reason}},
		{"timeout", func(w *world) (*js.AbortSignal, func()) {
			return w.timeoutSignal(50), func() {}
		}, []error{js.ErrTimeout, context.DeadlineExceeded}},
		{"any", func(w *world) (*js.AbortSignal, func()) {
			c := w.NewAbortController()
			return w.AnySignal(w.timeoutSignal(60_000), c.Signal()), func() { c.Abort(reason) }
		}, []error{reason}},
	} {
		for _, when := range []string{"before", "queued", "deaf", "hearing"} {
			t.Run(s.name+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, eventloop.WithWorkerLimit(1))
					signal, abort := s.make(w)
					ctx, cancel := signal.Context(context.Background())
					defer cancel()
					free := make(chan struct{})
					work := func(ctx context.Context) (any, error) {
						switch when {
						case "deaf":
							<-free
						case "hearing":
							<-ctx.Done()
							return nil, context.Cause(ctx)
						default:
							w.say("worked")
						}
						return "value", nil
					}
					var failure error
					start := func() {
						w.loop.Promisify(ctx, work).Catch(func(err error) (any, error) { failure = err; return nil, nil })
					}
					w.run(func() {
						if when == "queued" {
							w.loop.Promisify(context.Background(), func(context.Context) (any, error) { <-free; return nil, nil })
						}
						if when != "before" {
							start()
						}
						w.timeout(40, abort)
						w.timeout(100, func() {
							if when == "before" {
								start()
							} else if failure == nil {
								t.Error("the promise is pending although the signal is aborted")
							}
							close(free)
						})
					})
					w.want()
					for _, want := range s.is {
						if !errors.Is(failure, want) {
							t.Errorf("rejected with %v, want %v", failure, want)
						}
					}
				})
			})
		}
	}
}

// A worker whose signal is not aborted is left alone.
func TestPromisifyUnderQuietSignal(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			ctx, cancel := w.timeoutSignal(50).Context(context.Background())
			w.loop.Promisify(ctx, func(ctx context.Context) (any, error) {
				w.busy(30)
				return "value", ctx.Err()
			}).Finally(func() error { cancel(); return nil }).Then(w.value("got "), nil)
			w.timeout(100, w.says("timer"))
		})
		w.want("got value", "timer")
	})
}
