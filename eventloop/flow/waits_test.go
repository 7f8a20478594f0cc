package flow_test

// Tests of every kind of wait and every kind of its end: what who waits hears, and what is left behind.

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/garbage"
)

// waits begin a wait each, and return a channel of its error. One that is long lasts an hour, or until gate is closed.
var waits = map[string]func(ctx context.Context, l *eventloop.Loop, gate <-chan struct{}, long bool) <-chan error{
	"Sleep": func(ctx context.Context, l *eventloop.Loop, _ <-chan struct{}, long bool) <-chan error {
		return errorOf(flow.Sleep(ctx, l, lasts(long)))
	},
	"pause of Retry": func(ctx context.Context, l *eventloop.Loop, _ <-chan struct{}, long bool) <-chan error {
		return errorOf(flow.Retry(ctx, l, flow.Backoff{First: lasts(long)}, func(_ context.Context, attempt int) (any, error) {
			if attempt == 1 {
				return nil, errBusy
			}
			return nil, nil
		}).Untyped())
	},
	"attempt of Retry": func(ctx context.Context, l *eventloop.Loop, gate <-chan struct{}, long bool) <-chan error {
		return errorOf(flow.Retry(ctx, l, flow.Backoff{}, func(context.Context, int) (any, error) { return nil, passes(gate, long) }).Untyped())
	},
	"Promisify": func(ctx context.Context, l *eventloop.Loop, gate <-chan struct{}, long bool) <-chan error {
		return errorOf(l.Promisify(ctx, func(context.Context) (any, error) { return nil, passes(gate, long) }))
	},
	"Work": func(ctx context.Context, l *eventloop.Loop, gate <-chan struct{}, long bool) <-chan error {
		p, settle := l.NewWorkPromise()
		if err := l.Work(ctx, func(context.Context) (any, error) { return nil, passes(gate, long) }, settle); err != nil {
			return errorOf(l.Promises().Rejected(err))
		}
		return errorOf(p)
	},
	"threadlet.Do": func(ctx context.Context, l *eventloop.Loop, gate <-chan struct{}, long bool) <-chan error {
		ended := make(chan error, 1)
		_, err := threadlet.Go(l, func() {
			err := eventloop.ErrLoopTerminated // Close ends a threadlet that waits
			defer func() { ended <- err }()
			err = threadlet.Do(ctx, func(context.Context) error { return passes(gate, long) })
		})
		if err != nil {
			ended <- err
		}
		return ended
	},
	"Call": func(ctx context.Context, l *eventloop.Loop, gate <-chan struct{}, long bool) <-chan error {
		ended := make(chan error, 1)
		go func() { ended <- flow.Exec(ctx, l, func() error { return passes(gate, long) }) }()
		return ended
	},
}

func lasts(long bool) time.Duration {
	if long {
		return time.Hour
	}
	return time.Second
}

func passes(gate <-chan struct{}, long bool) error {
	if long {
		<-gate
	}
	return nil
}

func errorOf(p *eventloop.Promise) <-chan error {
	ended, settled := make(chan error, 1), p.ToChannel()
	go func() { ended <- (<-settled).Err }()
	return ended
}

// A wait that its context ends is the last thing that keeps an auto-exit loop alive. Who waits hears of the context, and not of
// the end of the loop.
func TestCancelledWaitsTell(t *testing.T) {
	for name, begin := range waits {
		if name == "Call" { // it is the loop's callback that it waits for
			continue
		}
		t.Run(name, func(t *testing.T) {
			for range 300 {
				synctest.Test(t, func(t *testing.T) {
					l, err := eventloop.New(eventloop.WithAutoExit(true))
					require.NoError(t, err)
					ctx, cancel := context.WithCancelCause(context.Background())
					gate := make(chan struct{})
					ended := begin(ctx, l, gate, true)
					go l.Run(context.Background())
					synctest.Wait()
					cancel(errBusy)
					err = <-ended
					if name == "threadlet.Do" && errors.Is(err, context.Canceled) { // of its own context, which has no cause
						err = errBusy
					}
					require.ErrorIs(t, err, errBusy)
					close(gate)
					<-l.Done()
				})
			}
		})
	}
}

// countingContext counts who waits for its end.
type countingContext struct {
	context.Context
	done    chan struct{}
	waiting atomic.Int32
}

func (c *countingContext) Done() <-chan struct{} { return c.done }

func (c *countingContext) AfterFunc(func()) (stop func() bool) {
	c.waiting.Add(1)
	return func() bool { c.waiting.Add(-1); return true }
}

// Whatever ends a wait, its context and its loop, which may live for long, have forgotten it.
func TestWaitsLeaveNothing(t *testing.T) {
	batches, each := 100, 1000
	if os.Getenv("TURNLOOP_SOAK") == "" {
		batches, each = 10, 500
	}
	for name, begin := range waits {
		for _, ends := range []string{"by itself", "its context", "shutdown", "close"} {
			t.Run(name+"/"+ends, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx := &countingContext{Context: context.Background(), done: make(chan struct{})}
					var l *eventloop.Loop
					batch := func() {
						if l == nil {
							l = must(eventloop.New())
							go l.Run(context.Background())
						}
						gate := make(chan struct{})
						mine, cancel := context.WithCancel(ctx)
						defer cancel()
						var ended []<-chan error
						for i := range each {
							c := context.Context(ctx)
							if i%2 == 0 || ends == "its context" {
								c = mine
							}
							ended = append(ended, begin(c, l, gate, ends != "by itself"))
						}
						synctest.Wait()
						switch ends {
						case "its context":
							cancel()
						case "shutdown":
							time.AfterFunc(time.Second, func() { close(gate) }) // it waits for what runs
							require.NoError(t, l.Shutdown(context.Background()))
							time.Sleep(2 * time.Second)
						case "close":
							require.NoError(t, l.Close())
						}
						if ends == "its context" || ends == "close" {
							synctest.Wait()
							close(gate)
						}
						for _, ch := range ended {
							<-ch
						}
						if ends == "shutdown" || ends == "close" {
							<-l.Done()
							l = nil
						}
						synctest.Wait()
					}
					batch()
					var grown int64
					for range 3 { // what the runtime needs for more goroutines at once than before is no leak
						before := garbage.Heap()
						for range batches {
							batch()
						}
						if grown = int64(garbage.Heap()) - int64(before); grown < int64(16*batches*each) {
							break
						}
					}
					timers := 0
					if l != nil {
						timers = l.Metrics().Timers
						require.NoError(t, l.Shutdown(context.Background()))
					}
					require.Zero(t, ctx.waiting.Load())
					require.LessOrEqual(t, timers, 1, "of the pool of coroutines")
					require.Less(t, grown, int64(16*batches*each), "less than two words for each")
				})
			})
		}
	}
}
