package promise_test

// Tests of the report of rejections without a handler.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Which rejections are reported at the end of a microtask checkpoint: each program names their errors.
func TestUnhandled(t *testing.T) {
	fail := func(text string) error { return errors.New(text) }
	catch := func(error) (any, error) { return nil, nil }
	throw := func(text string) func(any) (any, error) {
		return func(any) (any, error) { return nil, errors.New(text) }
	}
	for _, c := range []struct {
		name string
		run  func(f *fake, r *promise.Owner)
		want []string
	}{
		{"nobody", func(_ *fake, r *promise.Owner) { r.Rejected(fail("a")) }, []string{"a"}},
		{"in order, each once", func(_ *fake, r *promise.Owner) {
			r.Rejected(fail("a"))
			_, _, reject := r.New()
			reject(fail("b"))
			r.Resolved(1).Then(throw("c"), nil)
		}, []string{"a", "b", "c"}},
		{"handled before", func(_ *fake, r *promise.Owner) {
			p, _, reject := r.New()
			p.Catch(catch)
			reject(fail("a"))
		}, nil},
		{"handled at once", func(_ *fake, r *promise.Owner) { r.Rejected(fail("a")).Catch(catch) }, nil},
		{"handled within the checkpoint", func(f *fake, r *promise.Owner) {
			p := r.Rejected(fail("a"))
			_ = f.ScheduleMicrotask(func() { _ = f.ScheduleMicrotask(func() { p.Catch(catch) }) })
		}, nil},
		{"only the end of a chain", func(_ *fake, r *promise.Owner) {
			r.Rejected(fail("a")).Then(increment, nil).Then(increment, nil).Finally(func() error { return nil })
		}, []string{"a"}},
		{"each end of a fork", func(_ *fake, r *promise.Owner) {
			p := r.Rejected(fail("a"))
			p.Then(increment, nil)
			p.Then(increment, nil)
			p.Catch(catch)
		}, []string{"a", "a"}},
		{"a waiter handles", func(_ *fake, r *promise.Owner) {
			p, _, reject := r.New()
			p.ToChannel()
			reject(fail("a"))
			r.Rejected(fail("b")).ToChannel()
		}, nil},
		{"a waiter that has left does not handle", func(_ *fake, r *promise.Owner) {
			p, _, reject := r.New()
			left := make(chan error)
			go func() {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_, err := p.Await(ctx)
				left <- err
			}()
			<-left
			reject(fail("a"))
		}, []string{"a"}},
		{"following handles, and passes it on", func(_ *fake, r *promise.Owner) {
			p, resolve, _ := r.New()
			resolve(r.Rejected(fail("a")))
			_ = p
		}, []string{"a"}},
		{"combinators handle", func(_ *fake, r *promise.Owner) {
			p, _, reject := r.New()
			r.AllSettled(p, r.Rejected(fail("a")))
			r.Race(r.Resolved(1), r.Rejected(fail("b")), p)
			r.Any(r.Resolved(1), r.Rejected(fail("c")))
			r.All(r.Rejected(fail("d")), r.Rejected(fail("e"))).Catch(catch)
			reject(fail("f"))
		}, nil},
		{"a combinator's own", func(_ *fake, r *promise.Owner) {
			r.All(r.Rejected(fail("a")), r.Rejected(fail("b")))
			r.Any()
		}, []string{"promise: none of 0 was fulfilled", "a"}},
		{"a race's loser was handled, also when it fails after", func(f *fake, r *promise.Owner) {
			p, _, reject := r.New()
			r.Race(p, r.Resolved(1))
			f.drain()
			reject(fail("a"))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			f, r := newOwner(promise.Config{OnUnhandled: func(p *promise.Promise, err error) {
				got = append(got, err.Error())
				p.Catch(catch)
			}})
			c.run(f, r)
			require.Empty(t, got, "nothing is reported before the checkpoint")
			f.checkpoint(r)
			f.checkpoint(r)
			require.Equal(t, c.want, got)
			require.Zero(t, r.Unhandled())
		})
	}
}

// Row 53: a report that panics, or ends the goroutine, is not repeated, and the next ones come.
func TestUnhandledHandlerFails(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("report") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			var got []string
			f, r := newOwner(promise.Config{OnUnhandled: func(_ *promise.Promise, err error) {
				got = append(got, err.Error())
				fail()
			}})
			for i := range 3 {
				r.Rejected(fmt.Errorf("%d", i))
			}
			f.drain()
			for r.Unhandled() != 0 {
				done := make(chan any)
				go func() {
					defer func() { done <- recover() }()
					r.Checkpoint()
				}()
				<-done
				if len(got) == 1 { // the loop goes on with a checkpoint
					f.drain()
					r.Rejected(errors.New("in the next round"))
				}
			}
			require.Equal(t, []string{"0", "1", "2", "in the next round"}, got)
			ran := false
			r.Resolved(1).Then(func(any) (any, error) { ran = true; return nil, nil }, nil)
			f.checkpoint(r)
			require.True(t, ran)
		})
	}
}

// A round of reports has the rejections that there were when it began; each call of Checkpoint says whether it goes on.
func TestRounds(t *testing.T) {
	var got []string
	var r *promise.Owner
	f, r := newOwner(promise.Config{OnUnhandled: func(_ *promise.Promise, err error) {
		if got = append(got, err.Error()); len(got) <= 6 {
			r.Rejected(fmt.Errorf("%w+", err))
		}
	}})
	for _, text := range []string{"a", "b", "c"} {
		r.Rejected(errors.New(text))
	}
	handled := r.Rejected(errors.New("handled"))
	f.drain()
	handled.Catch(nil)
	for range 2 {
		require.Positive(t, r.Unhandled())
		require.True(t, r.Checkpoint())
		require.True(t, r.Checkpoint())
		require.True(t, r.Checkpoint(), "there is one more to look at")
		require.False(t, r.Checkpoint(), "which has been handled")
		r.Rejected(errors.New("handled")).Catch(nil) // in the next round
	}
	require.True(t, r.Checkpoint())
	require.Equal(t, []string{"a", "b", "c", "a+", "b+", "c+", "a++"}, got)
	require.Positive(t, r.Unhandled(), "what is left of the last round")
	f.close(r)
	require.Zero(t, r.Unhandled())
}

// uncomparable errors are those that == and errors.Is may panic on.
type uncomparable struct{ what any }

func (uncomparable) Error() string { return "uncomparable" }

type uncomparables []error

func (uncomparables) Error() string { return "uncomparables" }

type hostile struct{ _ int }

func (*hostile) Error() string { return "hostile" }
func (*hostile) Is(error) bool { panic("compared") }

// The error of the end is told from those of other rejections, whatever they are; one that cannot be compared is reported.
func TestErrorsThatCannotBeCompared(t *testing.T) {
	odd := func() []error {
		return []error{uncomparable{[]int{}}, uncomparables{}, &hostile{},
			&promise.AggregateError{Errors: []error{uncomparable{[]int{}}}}}
	}
	for _, end := range append(odd(), loopapi.ErrLoopTerminated) {
		var got []error
		f, r := newOwner(promise.Config{OnUnhandled: func(_ *promise.Promise, err error) { got = append(got, err) }})
		p, _, _ := r.New()
		p.Then(nil, nil)
		p.ToChannel()
		r.RejectAll(end)
		got = nil
		for _, err := range odd() {
			r.Rejected(err)
			r.Rejected(fmt.Errorf("wrapped: %w", err))
		}
		f.finish(r)
		for _, err := range odd() {
			require.Contains(t, fmt.Sprint(got), err.Error(), "with the end %T", end)
		}
		f.close(r)
	}
}
