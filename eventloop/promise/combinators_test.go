package promise_test

// Tests of All, AllSettled, Race and Any.

import (
	"io"
	"io/fs"
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
