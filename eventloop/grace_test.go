package eventloop_test

// What an ending loop accepts from its own callbacks: all that comes to an end, and little of what does not.

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
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

// endsIn makes a loop, calls begin on it right after its end has been asked for, and waits for that.
func endsIn(t *testing.T, begin func(l *eventloop.Loop), opts ...eventloop.Option) {
	t.Helper()
	l, ended := running(t, nil, append(opts, eventloop.WithOnOverload(func(error) {}))...)
	require.NoError(t, onLoop(t, l, func() error {
		begin(l)
		return l.Shutdown(context.Background())
	}))
	require.NoError(t, beat.Receive(t, ended, "the end"))
}

// endsAtOnce is endsIn in virtual time: callbacks take none of it, however slow the machine.
func endsAtOnce(t *testing.T, begin func(l *eventloop.Loop), opts ...eventloop.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { endsIn(t, begin, opts...) })
}

// However many functions wait, those that begin anew have as many turns as there are generations, and what the rest brings
// runs, down to the last generation, whatever lanes it changes between.
func TestFewThatBeginAnewBesideMany(t *testing.T) {
	const chains, depth = 8, 40
	many := scale(1000, 20_000, 100_000)
	for from, first := range lanesOf {
		for to, second := range lanesOf {
			if testing.Short() && from != to {
				continue
			}
			ran, rounds := 0, 0
			endsAtOnce(t, func(l *eventloop.Loop) {
				var again func()
				again = func() {
					if l.Counts() { // before that the turn itself has bounds
						rounds++
					}
					_ = first(l, again)
				}
				for range chains {
					again()
				}
				var descend func(n int) func()
				descend = func(n int) func() {
					return func() {
						if ran++; n > 0 {
							by := first
							if n%2 == 0 {
								by = second
							}
							_ = by(l, descend(n-1))
						}
					}
				}
				for i := range many {
					n := 3
					if i%100 == 0 {
						n = depth
					}
					require.NoError(t, l.SubmitInternal(descend(n)))
				}
			})
			require.Equal(t, 4*many+(depth-3)*many/100, ran, "%s, %s", from, to)
			const turns = 40 // each may give a chain its generations anew
			most := turns*chains*eventloop.MostGenerations + eventloop.MostOwn
			require.Less(t, rounds, most, "%s, %s", from, to)
		}
	}
}

// Callbacks that take their time and begin anew use the credit up by that: the end comes within a second.
func TestSlowCallbacksThatBeginAnew(t *testing.T) {
	for _, slow := range []time.Duration{50 * time.Microsecond, time.Millisecond} {
		for name, by := range lanesOf {
			if name != "internal" && (testing.Short() || slow == time.Millisecond) {
				continue
			}
			rounds := 0
			endsIn(t, func(l *eventloop.Loop) {
				var again func()
				again = func() {
					if l.Counts() {
						rounds++
					}
					for began := time.Now(); time.Since(began) < slow; {
						runtime.Gosched()
					}
					_ = by(l, again)
				}
				again()
			})
			require.Greater(t, rounds, eventloop.MostGenerations, name)
			require.Less(t, time.Duration(rounds)*slow, 700*time.Millisecond, name)
		}
	}
}

// Handlers that make something pending whenever that is rejected, here a cycle of promises, do not keep the loop from
// its end.
func TestCirclesThatBeginAnew(t *testing.T) {
	rounds := 0
	var held *eventloop.Promise // what nobody holds may be collected, and then nobody hears
	endsIn(t, func(l *eventloop.Loop) {
		var cycle func() error
		cycle = func() error {
			rounds++
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
	runtime.KeepAlive(held)
}

// What callbacks bring is accepted however deep it goes, if it is little; and if it is much, as deep as there are generations.
func TestWhatComesToAnEndIsAccepted(t *testing.T) {
	for name, by := range lanesOf {
		for _, shape := range []struct{ wide, deep int }{
			{1, 4000}, {scale(1500, 2000, 10_000), 15}, {scale(20_000, 100_000, 300_000), 2},
		} {
			ran := 0
			endsAtOnce(t, func(l *eventloop.Loop) {
				var descend func(n int) func()
				descend = func(n int) func() {
					return func() {
						if ran++; n > 1 {
							_ = by(l, descend(n-1))
						}
					}
				}
				require.NoError(t, l.Submit(func() {
					require.True(t, l.Counts(), "what this tick accepts is counted")
					for range shape.wide {
						require.NoError(t, l.SubmitInternal(descend(shape.deep)))
					}
				}))
			}, eventloop.WithTickBudget(1))
			require.Equal(t, shape.wide*shape.deep, ran, "%s, %+v", name, shape)
		}
	}
}

// The time of what waited, however long, is not counted.
func TestSlowElders(t *testing.T) {
	const elders, slow, deep = 60, 10 * time.Millisecond, 40
	for name, wait := range map[string]func(l *eventloop.Loop, fn func()) error{
		"internal": (*eventloop.Loop).SubmitInternal, "microtask": (*eventloop.Loop).ScheduleMicrotask, "external": (*eventloop.Loop).Submit,
	} {
		if testing.Short() && name != "internal" {
			continue
		}
		ran := 0
		endsIn(t, func(l *eventloop.Loop) {
			for range elders {
				require.NoError(t, wait(l, func() {
					for began := time.Now(); time.Since(began) < slow; {
						runtime.Gosched()
					}
					n := 0
					var descend func()
					descend = func() {
						if ran, n = ran+1, n+1; n < deep {
							_ = l.SubmitInternal(descend)
						}
					}
					descend()
				}))
			}
		})
		require.Equal(t, elders*deep, ran, name)
	}
}

// What a worker brings is like what waited: it may bring more, although others have used up all that there was.
func TestWhatWorkersBringBeginsAnew(t *testing.T) {
	release, brought := make(chan struct{}), make(chan struct{})
	err := errors.New("it has not run")
	endsIn(t, func(l *eventloop.Loop) {
		l.Promisify(context.Background(), func(context.Context) (any, error) {
			<-release
			defer close(brought)
			return nil, l.SubmitInternal(func() { err = l.ScheduleMicrotask(func() {}) })
		})
		var again func()
		again = func() {
			if l.SubmitInternal(again) != nil {
				close(release)
				<-brought
			}
		}
		again()
	})
	require.NoError(t, err)
}
