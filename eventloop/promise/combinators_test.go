package promise_test

// Tests of All, AllSettled, Race and Any.

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/garbage"
)

func TestAggregateError(t *testing.T) {
	f, r := newOwner(promise.Config{})
	var got probe
	got.on(r.Any(r.Rejected(io.EOF), r.Rejected(&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist})))
	got.on(r.Any())
	f.drain()
	require.Len(t, got.errs, 2)
	empty, err := got.errs[0], got.errs[1]
	var aggregate *promise.AggregateError
	require.ErrorAs(t, empty, &aggregate)
	require.Empty(t, aggregate.Errors)
	require.ErrorAs(t, err, &aggregate)
	require.Len(t, aggregate.Errors, 2)
	require.ErrorIs(t, err, io.EOF)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
	var path *fs.PathError
	require.ErrorAs(t, err, &path)
	require.EqualError(t, err, "promise: none of 2 was fulfilled: EOF; open x: file does not exist")
}

// A group that is decided leaves nothing on the promises that are still pending, and they do not keep its result.
func TestDecidedGroupLeaves(t *testing.T) {
	f, r := newOwner(promise.Config{})
	long, resolve, _ := r.New()
	const others = 100
	for range others {
		long.Then(nil, nil)
	}
	for name, combine := range map[string]func(...*promise.Promise) *promise.Promise{
		"Race": r.Race, "Any": r.Any, "All": r.All,
	} {
		result := func() weak.Pointer[promise.Promise] {
			return weak.Make(combine(long, r.Rejected(errTest), r.Resolved(1), long))
		}()
		f.tick(r)
		require.Equal(t, others, long.Reactions(), name)
		require.True(t, garbage.Taken(result))
	}
	f.tick(r)
	require.Equal(t, 1, registered(r), "however often others have come and gone")
	var got probe
	got.on(long)
	pending := r.AllSettled(long, r.Resolved(1))
	f.drain()
	require.Equal(t, others+2, long.Reactions())
	require.Contains(t, pending.String(), "pending")
	resolve("v")
	f.drain()
	got.want(t, "v", nil)
	require.Contains(t, pending.String(), "fulfilled")
}

// Who watches a promise hears as a handler would, at its place among the handlers; who has stopped hears nothing, handles the
// rejection all the same, and leaves nothing: at a promise of the loop or of another.
func TestWatch(t *testing.T) {
	unhandled := promise.Config{OnUnhandled: func(_ *promise.Promise, err error) { t.Error(err) }}
	f, r := newOwner(unhandled)
	fo, other := newOwner(unhandled)
	for _, of := range []struct {
		f *fake
		*promise.Owner
	}{{f, r}, {fo, other}} {
		for _, fails := range []bool{false, true} {
			p, resolve, reject := of.New()
			require.Equal(t, of.Owner == r, r.Has(p))
			var heard []any
			hear := func(value any, err error) { heard = append(heard, value, err) }
			for range 100 {
				stop := r.Watch(p, hear)
				stop()
				stop()
			}
			f.tick(r)
			of.f.tick(of.Owner)
			n, _, _ := of.Listeners()
			require.Zero(t, n+p.Reactions())
			stop := r.Watch(p, hear)
			r.Watch(p, hear)
			if want := []any{1, nil}; fails {
				reject(errTest)
				want = []any{nil, errTest}
				require.Empty(t, heard, "it is a microtask")
				stop()
				of.f.checkpoint(of.Owner)
				f.checkpoint(r)
				require.Equal(t, want, heard)
			} else {
				resolve(1)
				of.f.drain()
				f.drain()
				require.Equal(t, append(want, want...), heard)
				stop()
			}
		}
	}
	f.shutdown(r)
}

// When decided groups take their reactions off a promise, the others keep their order, whichever go and in whatever order.
func TestDecidedGroupsLeaveTheOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	f, r := newOwner(promise.Config{})
	for groups := range 1 << 6 {
		p, resolve, _ := r.New()
		var decide []func(any)
		var log, want []int
		for i := range 6 {
			if groups>>i&1 != 0 {
				q, resolveQ, _ := r.New()
				if i%2 == 0 {
					r.Race(q, p)
				} else {
					r.Race(p, q, p)
				}
				decide = append(decide, resolveQ)
				continue
			}
			want = append(want, i)
			p.Then(func(any) (any, error) { log = append(log, i); return nil, nil }, nil)
		}
		for _, i := range rnd.Perm(len(decide)) {
			decide[i](1)
			f.drain()
		}
		require.Equal(t, len(want), p.Reactions())
		p.Then(func(any) (any, error) { log = append(log, 6); return nil, nil }, nil)
		resolve(1)
		f.drain()
		require.Equal(t, append(want, 6), log)
	}
}

// Combinators may be called from any goroutine.
func TestCombinatorsElsewhere(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	p, resolve, _ := r.New()
	q, _, reject := r.New()
	all, settled, race, anyOf := r.All(p, q), r.AllSettled(p, q), r.Race(q, p), r.Any(q, p)
	reject(errTest)
	resolve(1)
	_, err := all.Await(ctx)
	require.Equal(t, errTest, err)
	v, err := settled.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []promise.Result{{Value: 1}, {Err: errTest}}, v)
	_, err = race.Await(ctx)
	require.Equal(t, errTest, err)
	v, err = anyOf.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, v)
}

func TestTry(t *testing.T) {
	f, r := newOwner(promise.Config{})
	inner, resolve, _ := r.New()
	called := 0
	try := func(v any, err error) *promise.Promise {
		return r.Try(func() (any, error) { called++; return v, err })
	}
	var value, failed, panicked, follows probe
	value.on(try(1, nil))
	failed.on(try(1, errTest))
	follows.on(try(inner, nil))
	require.Equal(t, 3, called, "it calls at once")
	panicked.on(r.Try(func() (any, error) { panic(errTest) }))
	f.drain()
	require.Zero(t, follows.calls())
	resolve("late")
	f.drain()
	value.want(t, 1, nil)
	failed.want(t, nil, errTest)
	panicked.want(t, nil, errTest)
	follows.want(t, "late", nil)
	require.False(t, errors.Is(panicked.errs[0], io.EOF))
}
