package promise_test

// Handlers that do not return a value. What those that do mean is what TestAgainstTheSpecification compares.

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

var errTest = errors.New("reason")

// probe counts and records the calls of handlers.
type probe struct {
	values []any
	errs   []error
}

func (p *probe) fulfilled(v any) (any, error)      { p.values = append(p.values, v); return v, nil }
func (p *probe) rejected(err error) (any, error)   { p.errs = append(p.errs, err); return nil, err }
func (p *probe) on(q *promise.Promise)             { q.Then(p.fulfilled, p.rejected) }
func (p *probe) calls() int                        { return len(p.values) + len(p.errs) }
func (p *probe) want(t *testing.T, v any, e error) { t.Helper(); p.wantN(t, 1, v, e) }

func (p *probe) wantN(t *testing.T, n int, v any, e error) {
	t.Helper()
	require.Equal(t, n, p.calls(), "calls of handlers")
	if e != nil {
		require.ErrorIs(t, p.errs[0], e)
	} else {
		require.Empty(t, p.errs)
		require.Equal(t, v, p.values[0])
	}
}

// A handler that fails rejects, with its error itself, or with what it panicked with and the stack of that.
func TestHandlersThatFail(t *testing.T) {
	f, r := newOwner(promise.Config{})
	for _, row := range []struct {
		handler func(any) (any, error)
		is      func(err error, fault *loopapi.PanicError) bool
	}{
		{func(any) (any, error) { return "v", errTest }, func(err error, _ *loopapi.PanicError) bool { return err == errTest }},
		{func(any) (any, error) { panic(errTest) },
			func(err error, fault *loopapi.PanicError) bool {
				return errors.Is(err, errTest) && len(fault.Stack) > 0
			}},
		{func(any) (any, error) { panic("text") }, func(_ error, fault *loopapi.PanicError) bool { return fault.Value == "text" }},
	} {
		var got probe
		got.on(r.Resolved(nil).Then(row.handler, nil))
		f.drain()
		require.Len(t, got.errs, 1)
		var fault *loopapi.PanicError
		_ = errors.As(got.errs[0], &fault)
		require.True(t, row.is(got.errs[0], fault), "%v", got.errs[0])
	}
}

// Under GODEBUG=panicnil=1 recover returns nil for panic(nil).
func TestPanicNil(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	f, r := newOwner(promise.Config{})
	var got probe
	got.on(r.Try(func() (any, error) { panic(nil) }))
	got.on(r.Resolved(nil).Then(func(any) (any, error) { panic(nil) }, nil))
	f.drain()
	require.Len(t, got.errs, 2)
	for _, err := range got.errs {
		var fault *loopapi.PanicError
		require.ErrorAs(t, err, &fault)
		require.NotErrorIs(t, err, loopapi.ErrGoexit)
	}
}

// runtime.Goexit in a handler ends the loop's goroutine; the loop goes on with another, behind that handler.
func TestGoexit(t *testing.T) {
	for _, handler := range []struct {
		name   string
		attach func(r *promise.Owner, exit func()) *promise.Promise
	}{
		{"onFulfilled", func(r *promise.Owner, exit func()) *promise.Promise {
			return r.Resolved(nil).Then(func(any) (any, error) { exit(); return nil, nil }, nil)
		}},
		{"onRejected", func(r *promise.Owner, exit func()) *promise.Promise {
			return r.Rejected(errTest).Catch(func(error) (any, error) { exit(); return nil, nil })
		}},
		{"onFinally", func(r *promise.Owner, exit func()) *promise.Promise {
			return r.Resolved(nil).Finally(func() error { exit(); return nil })
		}},
		{"typed", func(r *promise.Owner, exit func()) *promise.Promise {
			return promise.Then(promise.Resolved(&r.Realm, 1), func(int) (int, error) { exit(); return 0, nil }).Untyped()
		}},
	} {
		t.Run(handler.name, func(t *testing.T) {
			f := newFake()
			r := promise.NewOwner(f, promise.Config{})
			var got probe
			var next []string
			var first sync.WaitGroup
			first.Go(func() {
				f.owner.Store(goroutine.ID())
				got.on(handler.attach(r, runtime.Goexit))
				r.Resolved(nil).Then(func(any) (any, error) { next = append(next, "reaction"); return nil, nil }, nil)
				_ = f.ScheduleMicrotask(func() { next = append(next, "microtask") })
				for i := 0; i < len(f.local); i++ { // as drain does, but what has run leaves the queue before
					fn := f.local[i]
					f.local = f.local[1:]
					i--
					fn()
				}
			})
			first.Wait()
			require.Empty(t, next, "the goroutine was to end")
			f.owner.Store(goroutine.ID())
			f.drain()
			require.Equal(t, []string{"reaction", "microtask"}, next)
			got.want(t, nil, loopapi.ErrGoexit)
		})
	}
}

func TestNilReason(t *testing.T) {
	f, r := newOwner(promise.Config{})
	var got probe
	p, _, reject := r.New()
	reject(nil)
	got.on(p)
	got.on(r.Rejected(nil))
	q, _, rejectTyped := promise.New[int](&r.Realm)
	rejectTyped(nil)
	got.on(q.Untyped())
	f.drain()
	require.Equal(t, []error{promise.ErrNilReason, promise.ErrNilReason, promise.ErrNilReason}, got.errs)
	got = probe{}
	got.on(r.Try(nil))
	f.drain()
	got.want(t, nil, loopapi.ErrNilCallback)
}
