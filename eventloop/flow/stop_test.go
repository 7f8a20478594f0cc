package flow_test

// Tests of StopGracefully, for a loop and for a group.

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// stoppable is what a Loop and a Group have in common here.
type stoppable interface {
	flow.Runner
	Submit(fn func()) error
}

// A graceful stop lets run what was accepted, for as long as it is given, and closes what has not ended then.
func TestStopGracefully(t *testing.T) {
	kinds := map[string]func(t *testing.T) stoppable{
		"loop": func(t *testing.T) stoppable {
			l, err := eventloop.New()
			require.NoError(t, err)
			return l
		},
		"group": func(t *testing.T) stoppable { return must(eventloop.NewGroup(1)) },
	}
	for kind, make := range kinds {
		for name, c := range map[string]struct {
			takes  time.Duration // each of ten tasks
			cancel time.Duration // the context ends; 0 is never
			inside bool
			ran    int
			ends   time.Duration
			err    error
			run    error
		}{
			"in time":             {time.Second, 0, false, 10, 10 * time.Second, nil, nil},
			"too late":            {10 * time.Second, 0, false, 6, 60 * time.Second, context.DeadlineExceeded, eventloop.ErrLoopTerminated},
			"context ends":        {time.Second, 3500 * time.Millisecond, false, 4, 4 * time.Second, context.Canceled, eventloop.ErrLoopTerminated},
			"in time, on loop":    {time.Second, 0, true, 10, 10 * time.Second, nil, nil},
			"too late, on loop":   {10 * time.Second, 0, true, 6, 60 * time.Second, nil, eventloop.ErrLoopTerminated},
			"context ends inside": {time.Second, 3500 * time.Millisecond, true, 4, 4 * time.Second, nil, eventloop.ErrLoopTerminated},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := make(t)
					ctx, cancel := context.WithCancel(context.Background())
					time.AfterFunc(cmp.Or(c.cancel, 1000*time.Hour), cancel)
					const grace = 59500 * time.Millisecond
					began, ran := time.Now(), 0
					stopped := stopsInside(c.inside, s, ctx, grace)
					for range 10 {
						require.NoError(t, s.Submit(func() { time.Sleep(c.takes); ran++ }))
					}
					ended := runElsewhere(s)
					if !c.inside {
						synctest.Wait()
						go func() { stopped <- flow.StopGracefully(ctx, s, grace) }()
					}
					require.ErrorIs(t, <-stopped, c.err)
					if c.err != nil {
						require.ErrorIs(t, s.Close(), eventloop.ErrLoopTerminated, "it was closed before it was told so")
					}
					require.ErrorIs(t, <-ended, c.run)
					require.Equal(t, c.ran, ran)
					require.Equal(t, c.ends, time.Since(began))
					require.ErrorIs(t, flow.StopGracefully(ctx, s, grace), eventloop.ErrLoopTerminated)
				}) // which fails if a goroutine stays that waits for ctx or for the grace
			})
		}
	}
}

// runElsewhere runs s elsewhere, and tells what Run returns.
func runElsewhere(s stoppable) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	return ended
}

// stopsInside returns the channel of what a stop returns; inside, a first task of s calls it.
func stopsInside(inside bool, s stoppable, ctx context.Context, grace time.Duration) chan error {
	stopped := make(chan error, 1)
	if inside {
		_ = s.Submit(func() { stopped <- flow.StopGracefully(ctx, s, grace) })
	}
	return stopped
}

// A stop begins nothing: jobs that run are waited for, and those that wait for a worker, or for another attempt, hear that they are
// not done, at once.
func TestStopBeginsNothing(t *testing.T) {
	const jobs, limit = 100, 4
	for name, begin := range map[string]func(l *eventloop.Loop, job func() error) *eventloop.Promise{
		"Promisify": func(l *eventloop.Loop, job func() error) *eventloop.Promise {
			return l.Promisify(context.Background(), func(context.Context) (any, error) { return nil, job() })
		},
		"Retry": func(l *eventloop.Loop, job func() error) *eventloop.Promise {
			return flow.Retry(context.Background(), l, flow.Backoff{}, func(context.Context, int) (any, error) { return nil, job() }).Untyped()
		},
	} {
		for _, fails := range []bool{false, true} {
			for _, loops := range []int{1, 2} {
				synctest.Test(t, func(t *testing.T) {
					g := must(eventloop.NewGroup(loops, eventloop.WithWorkerLimit(limit)))
					var s flow.Stopper = g
					if loops == 1 {
						s = g.Loop(0)
					}
					go g.Run(context.Background())
					var begun, finished atomic.Int32
					var outcomes []<-chan eventloop.Result
					for i := range jobs {
						outcomes = append(outcomes, begin(g.Loop(i%loops), func() error {
							begun.Add(1)
							time.Sleep(time.Second)
							if finished.Add(1); fails {
								return errBusy
							}
							return nil
						}).ToChannel())
					}
					time.Sleep(time.Second / 2)
					before := time.Now()
					require.NoError(t, flow.StopGracefully(context.Background(), s, 10*time.Second))
					require.Equal(t, time.Second/2, time.Since(before))
					require.EqualValues(t, limit*loops, begun.Load())
					require.EqualValues(t, limit*loops, finished.Load(), "none is killed")
					done, left := 0, 0
					for _, o := range outcomes {
						switch r := <-o; {
						case r.Err == nil, name == "Promisify" && r.Err == errBusy:
							done++
						default:
							require.ErrorIs(t, r.Err, eventloop.ErrLoopTerminated)
							left++
						}
					}
					if fails && name == "Retry" { // another attempt would follow
						left, done = left-limit*loops, limit*loops
					}
					require.Equal(t, []int{limit * loops, jobs - limit*loops}, []int{done, left})
					<-g.Done()
				})
			}
		}
	}
}

// RunUntil runs until its context ends, or something else ends the loop, and tells how that went; it leaves no goroutine.
func TestRunUntil(t *testing.T) {
	const grace = 10 * time.Second
	for name, c := range map[string]struct {
		does func(t *testing.T, l *eventloop.Loop, cancel func()) // before
		ends time.Duration
		err  error
	}{
		"context": {func(_ *testing.T, l *eventloop.Loop, cancel func()) {
			time.AfterFunc(time.Hour, cancel)
		}, time.Hour, nil},
		"context, with a task": {func(_ *testing.T, l *eventloop.Loop, cancel func()) {
			_ = l.Submit(func() { cancel(); time.Sleep(time.Second) })
		}, time.Second, nil},
		"no grace left": {func(_ *testing.T, l *eventloop.Loop, cancel func()) {
			l.Promisify(context.Background(), func(context.Context) (any, error) { time.Sleep(time.Minute); return nil, nil })
			cancel()
		}, grace, context.DeadlineExceeded},
		"context before": {func(t *testing.T, l *eventloop.Loop, cancel func()) {
			_ = l.Submit(func() { time.Sleep(time.Second) })
			cancel()
		}, time.Second, nil},
		"by itself": {func(_ *testing.T, l *eventloop.Loop, _ func()) {
			_ = l.Submit(func() { time.Sleep(time.Second) })
			_ = l.Submit(func() { go l.Shutdown(context.Background()) })
		}, time.Second, nil},
		"shutdown before": {func(_ *testing.T, l *eventloop.Loop, cancel func()) {
			_ = l.Submit(func() {
				go l.Shutdown(context.Background())
				time.Sleep(time.Second)
				cancel()
				time.Sleep(time.Second)
			})
		}, 2 * time.Second, nil},
		"closed": {func(_ *testing.T, l *eventloop.Loop, _ func()) {
			_ = l.Submit(func() { _ = l.Close() })
		}, 0, eventloop.ErrLoopTerminated},
		"closed while it stops": {func(_ *testing.T, l *eventloop.Loop, cancel func()) {
			_ = l.Submit(func() { cancel(); time.Sleep(time.Second); _ = l.Close() })
		}, time.Second, eventloop.ErrLoopTerminated},
		"runs elsewhere": {func(_ *testing.T, l *eventloop.Loop, _ func()) {
			go l.Run(context.Background())
			synctest.Wait()
		}, 0, eventloop.ErrLoopAlreadyRunning},
		"runs elsewhere, context before": {func(t *testing.T, l *eventloop.Loop, cancel func()) {
			go l.Run(context.Background())
			cancel()
			time.AfterFunc(time.Second, func() { require.NoError(t, l.Submit(func() {}), "it was left alone") })
			synctest.Wait()
		}, 0, eventloop.ErrLoopAlreadyRunning},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := must(eventloop.New())
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				began := time.Now()
				c.does(t, l, cancel)
				require.ErrorIs(t, flow.RunUntil(ctx, l, grace), c.err)
				require.Equal(t, c.ends, time.Since(began))
				time.Sleep(2 * grace) // for whoever goes on with the loop
				_ = l.Close()
				time.Sleep(time.Hour) // for workers that go on
			})
		})
	}
}

// A callback that calls Goexit ends the goroutine of RunUntil, and neither the loop nor what stops it.
func TestRunUntilExits(t *testing.T) {
	for _, ends := range []string{"context", "loop"} {
		synctest.Test(t, func(t *testing.T) {
			l := must(eventloop.New(eventloop.WithPanicHandler(func(*eventloop.PanicError) {})))
			ctx := &countingContext{Context: context.Background(), done: make(chan struct{})}
			mine, cancel := context.WithCancel(ctx)
			defer cancel()
			used := context.Context(ctx)
			if ends == "context" {
				used = mine
			}
			require.NoError(t, l.Submit(runtime.Goexit))
			go flow.RunUntil(used, l, time.Second)
			synctest.Wait()
			select {
			case <-l.Done():
				t.Error("the loop has ended")
			default:
			}
			if ends == "context" {
				cancel()
			} else {
				require.NoError(t, l.Shutdown(context.Background()))
			}
			<-l.Done()
			cancel()
			synctest.Wait()
			require.Zero(t, ctx.waiting.Load())
		})
	}
}

// The default logger gets the stack of a callback that goes on when the loop was closed, once.
func TestRunUntilTellsOfCallback(t *testing.T) {
	blockHere := func() { time.Sleep(time.Hour) }
	for name, c := range map[string]struct {
		begin func(l *eventloop.Loop) error
		told  int
	}{
		"task":      {func(l *eventloop.Loop) error { return l.Submit(blockHere) }, 1},
		"threadlet": {func(l *eventloop.Loop) error { _, err := threadlet.Go(l, blockHere); return err }, 1},
		"worker": {func(l *eventloop.Loop) error {
			return l.Work(context.Background(), func(context.Context) (any, error) { blockHere(); return nil, nil }, func(any, error) {})
		}, 0},
	} {
		for _, kind := range []string{"loop", "group"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log strings.Builder
					defer slog.SetDefault(slog.Default())
					slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
					group := must(eventloop.NewGroup(2))
					l, r := group.Loop(1), flow.Runner(group)
					if kind == "loop" {
						require.NoError(t, group.Close())
						l = must(eventloop.New())
						r = l
					}
					require.NoError(t, c.begin(l))
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					require.ErrorIs(t, flow.RunUntil(ctx, r, time.Second), context.DeadlineExceeded)
					require.NoError(t, l.AwaitWorkers(context.Background()))
					require.Equal(t, c.told, strings.Count(log.String(), "TestRunUntilTellsOfCallback.func1()"), log.String())
				})
			})
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
