package eventloop_test

// What an ending loop accepts: all that comes to an end, for half a second, and what workers bring.

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/quota"
)

// lanesOf are the ways by which a callback brings another.
var lanesOf = map[string]func(l *eventloop.Loop, fn func()) error{
	"internal":  (*eventloop.Loop).SubmitInternal,
	"microtask": (*eventloop.Loop).ScheduleMicrotask,
	"tick":      (*eventloop.Loop).NextTick,
	"handler": func(l *eventloop.Loop, fn func()) error {
		l.Promises().Resolved(nil).Finally(func() error { fn(); return nil })
		return nil
	},
}

// unaskedOf are ways that submit nothing.
var unaskedOf = map[string]func(l *eventloop.Loop, fn func()) error{
	"report": func(l *eventloop.Loop, fn func()) error {
		l.Promises().Rejected(reported{fn})
		return nil
	},
	"handler of what is pending": whenRejected,
	"other goroutine": func(l *eventloop.Loop, fn func()) error {
		go func() { _ = l.SubmitInternal(fn) }()
		return nil
	},
}

// whenRejected has fn called when the end rejects a promise.
func whenRejected(l *eventloop.Loop, fn func()) error {
	p, _, _ := l.NewPromise()
	p.Finally(func() error { fn(); return nil })
	l.AfterEnd(func() { runtime.KeepAlive(p) }) // what nobody holds may be collected, and then nobody hears
	return nil
}

// reported is the error of a rejection whose report calls fn.
type reported struct{ fn func() }

func (reported) Error() string { return "reported" }

var reports = eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) {
	if r := (reported{}); errors.As(err, &r) {
		r.fn()
	}
})

// endsSoon makes a loop in virtual time, in which callbacks take only what they sleep, calls begin on it, and asks for its end
// unless begin has. It returns how long all that has taken.
func endsSoon(t *testing.T, begin func(l *eventloop.Loop)) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, ended := running(t, nil, reports, eventloop.WithOnOverload(func(error) {}))
		began := time.Now()
		require.NoError(t, onLoop(t, l, func() error {
			begin(l)
			_ = l.Shutdown(context.Background())
			return nil
		}))
		require.NoError(t, <-ended)
		took = time.Since(began)
		time.Sleep(time.Minute) // for goroutines that go on
	})
	return took
}

// Callbacks that submit themselves, however often each time, end with half a second of them, whatever their number and that of
// the tasks that waited.
func TestEndOfBranchingCallbacks(t *testing.T) {
	const slow = 200 * time.Microsecond
	ways := maps.Clone(lanesOf)
	maps.Copy(ways, unaskedOf)
	for _, waiting := range []int{1, 20} {
		for _, times := range []int{1, 2, 10} {
			for name, by := range ways {
				for _, wait := range []func(l *eventloop.Loop, fn func()) error{(*eventloop.Loop).Submit, (*eventloop.Loop).SubmitInternal} {
					took := endsSoon(t, func(l *eventloop.Loop) {
						var again func()
						again = func() {
							for range times {
								_ = by(l, again)
							}
							time.Sleep(slow) // other goroutines go on meanwhile
						}
						for range waiting {
							require.NoError(t, wait(l, again))
						}
					})
					took -= time.Duration(waiting) * slow
					require.LessOrEqual(t, took, 560*time.Millisecond, "%s, %d tasks, %d times", name, waiting, times)
					require.GreaterOrEqual(t, took, 490*time.Millisecond, "%s, %d tasks, %d times", name, waiting, times)
				}
			}
		}
	}
}

// What the callback brings that has asked for the end has not waited.
func TestEndOfWhatItsCallerBrings(t *testing.T) {
	const most, slow = 1000, time.Millisecond
	for name, by := range lanesOf {
		ran := 0
		took := endsSoon(t, func(l *eventloop.Loop) {
			require.NoError(t, l.Shutdown(context.Background()))
			var again func()
			again = func() {
				ran++
				time.Sleep(slow)
				_ = by(l, again)
			}
			for range most {
				_ = by(l, again)
			}
		})
		require.Equal(t, time.Duration(ran)*slow, took)
		require.Less(t, ran, most+100, name) // when some have run, there is no time for more
	}
}

// Other goroutines bring an ending loop no more than can run in half a second and a little, however slow that is and however early
// it came.
func TestEndOfWhatOthersBring(t *testing.T) {
	const slow = time.Millisecond
	for name, by := range map[string]func(l *eventloop.Loop, fn func()) error{
		"internal": (*eventloop.Loop).SubmitInternal, "microtask": (*eventloop.Loop).ScheduleMicrotask,
	} {
		ran, accepted := 0, 0
		took := endsSoon(t, func(l *eventloop.Loop) {
			require.NoError(t, l.Shutdown(context.Background()))
			go func() {
				for l.State() != eventloop.StateTerminated {
					if by(l, func() { ran++; time.Sleep(slow) }) == nil {
						accepted++
					} else {
						time.Sleep(slow / 10)
					}
				}
			}()
			time.Sleep(slow)
		})
		require.Equal(t, accepted, ran, name)
		require.Greater(t, ran, 500, name)
		require.Less(t, took, 800*time.Millisecond, name)
	}
}

// Chains that take no time end with a million functions.
func TestEndOfChains(t *testing.T) {
	for name, by := range lanesOf {
		if testing.Short() && name != "internal" && name != "microtask" {
			continue
		}
		rounds := 0
		endsSoon(t, func(l *eventloop.Loop) {
			require.NoError(t, l.Shutdown(context.Background()))
			var again func()
			again = func() {
				rounds++
				_ = by(l, again)
			}
			for range 8 {
				again()
			}
		})
		require.GreaterOrEqual(t, rounds, quota.Functions/3, name) // Finally takes three
		require.LessOrEqual(t, rounds, quota.Functions+100*quota.Each, name)
	}
}

// Threadlets that yield for ever end like chains, by their number and by their time.
func TestEndOfThreadlets(t *testing.T) {
	for _, slow := range []time.Duration{0, 200 * time.Microsecond} {
		synctest.Test(t, func(t *testing.T) {
			l, ended := running(t, nil)
			resumed, began := 0, time.Now()
			require.NoError(t, onLoop(t, l, func() error {
				for range 10 {
					_, err := threadlet.Go(l, func() {
						for threadlet.Yield() == nil {
							resumed++
							time.Sleep(slow)
						}
					})
					require.NoError(t, err)
				}
				return l.Shutdown(context.Background())
			}))
			require.NoError(t, <-ended)
			require.Less(t, time.Since(began), 510*time.Millisecond)
			require.Less(t, resumed, quota.Functions+1000)
			require.Greater(t, resumed, 2000)
		})
	}
}

// All who wait for a promise of an ending loop hear, although callbacks have used up what it accepts.
func TestAllWaitersHear(t *testing.T) {
	heard, waiting := 0, make([]*eventloop.Promise, 100)
	endsSoon(t, func(l *eventloop.Loop) {
		for i := range waiting {
			waiting[i], _, _ = l.NewPromise()
			waiting[i].Finally(func() error { heard++; return nil })
		}
		require.NoError(t, l.Shutdown(context.Background()))
		var again func()
		again = func() {
			time.Sleep(time.Millisecond)
			_ = l.SubmitInternal(again)
		}
		again()
	})
	require.Equal(t, len(waiting), heard)
	runtime.KeepAlive(waiting) // or else nobody has some of them any more
}

// Handlers that begin anew whatever happens do not keep a loop from its exit, which comes when it has nothing else to do.
func TestExitOfHandlersThatBeginAnew(t *testing.T) {
	ways := maps.Clone(lanesOf)
	maps.Copy(ways, unaskedOf)
	for name, by := range ways {
		synctest.Test(t, func(t *testing.T) {
			l := made(t, reports, eventloop.WithAutoExit(true), eventloop.WithOnOverload(func(error) {}))
			var again func()
			again = func() {
				time.Sleep(time.Millisecond)
				_ = by(l, again)
			}
			require.NoError(t, whenRejected(l, again))
			began := time.Now()
			require.NoError(t, l.Run(context.Background()))
			require.LessOrEqual(t, time.Since(began), 520*time.Millisecond, name)
			time.Sleep(time.Minute) // for goroutines that go on
		})
	}
}

// Handlers that make something pending whenever that is rejected, here a cycle of promises, do not keep the loop from
// its end.
func TestCirclesThatBeginAnew(t *testing.T) {
	rounds := 0
	var held *eventloop.Promise // what nobody holds may be collected, and then nobody hears
	took := endsSoon(t, func(l *eventloop.Loop) {
		require.NoError(t, l.Shutdown(context.Background()))
		var cycle func() error
		cycle = func() error {
			rounds++
			time.Sleep(time.Millisecond)
			var last *eventloop.Promise
			first := l.Promises().Resolved(nil).Then(func(any) (any, error) { return last, nil }, nil)
			last = first
			for range 40 { // more than are looked at when it is closed
				last = last.Then(nil, nil)
			}
			first.Finally(cycle)
			held = last
			return nil
		}
		_ = cycle()
	})
	require.Greater(t, rounds, 100)
	require.Less(t, took, 510*time.Millisecond)
	runtime.KeepAlive(held)
}

// When callbacks have used up all that there was, only workers are heard: what they bring may bring more, each time.
func TestOnlyWorkersAreHeard(t *testing.T) {
	for _, slow := range []time.Duration{0, time.Millisecond} { // by their number, and by their time
		for name, by := range map[string]func(l *eventloop.Loop, fn func()) error{
			"internal": (*eventloop.Loop).SubmitInternal, "microtask": (*eventloop.Loop).ScheduleMicrotask,
			"tick": (*eventloop.Loop).NextTick,
		} {
			heard, others := 0, 0
			synctest.Test(t, func(t *testing.T) {
				l, ended := running(t, nil, eventloop.WithOnOverload(func(error) {}))
				require.NoError(t, onLoop(t, l, func() error {
					for i := range 3 {
						l.Promisify(context.Background(), func(context.Context) (any, error) {
							time.Sleep(time.Duration(i+1) * time.Second)
							for range 10 {
								if by(l, func() {
									if l.ScheduleMicrotask(func() { heard++ }) != nil {
										heard = -1 << 30
									}
								}) != nil {
									heard = -1 << 30
								}
							}
							return nil, nil
						}).Finally(func() error { heard++; return nil })
					}
					var again func()
					again = func() {
						time.Sleep(slow)
						_ = l.SubmitInternal(again)
					}
					require.NoError(t, l.Shutdown(context.Background()))
					again()
					return nil
				}))
				if slow > 0 {
					time.Sleep(900 * time.Millisecond)
					if by(l, func() {}) == nil {
						others++
					}
				}
				require.NoError(t, <-ended)
			})
			require.Equal(t, 3*11, heard, "%s, %v", name, slow)
			require.Zero(t, others, "%s, %v", name, slow)
		}
	}
}

// descend counts a function, and submits the next until there were so many.
func descend(l *eventloop.Loop, deep int, ran *int) {
	if *ran++; deep > 1 {
		_ = l.SubmitInternal(func() { descend(l, deep-1, ran) })
	}
}

// The time in which the loop waits for workers is not counted either.
func TestWaitForWorkersIsFree(t *testing.T) {
	const workers, deep = 4, 200
	ran := 0
	synctest.Test(t, func(t *testing.T) {
		l, ended := running(t, nil)
		require.NoError(t, onLoop(t, l, func() error {
			for i := range workers {
				l.Promisify(context.Background(), func(context.Context) (any, error) {
					time.Sleep(time.Duration(i+1) * time.Second)
					return nil, nil
				}).Finally(func() error {
					descend(l, deep, &ran)
					return nil
				})
			}
			return l.Shutdown(context.Background())
		}))
		require.NoError(t, <-ended)
	})
	require.Equal(t, workers*deep, ran)
}
