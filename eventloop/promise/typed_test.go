package promise_test

// Tests of promises with types.

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
)

func TestTyped(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	p, resolve, _ := promise.New[string](&r.Realm)
	n := promise.Then(p, strconv.Atoi)
	doubled := promise.Chain(n, func(v int) (promise.Of[int], error) { return promise.Resolved(&r.Realm, 2*v), nil })
	bad := promise.Then(promise.Resolved(&r.Realm, "x"), strconv.Atoi)
	failed, _, reject := promise.New[int](&r.Realm)
	finally := 0
	rescued := failed.Catch(func(err error) (int, error) { return -1, nil }).
		Finally(func() error { finally++; return nil })
	resolve("21")
	reject(errTest)

	v, err := doubled.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 42, v)
	_, err = bad.Await(ctx)
	require.ErrorIs(t, err, strconv.ErrSyntax)
	v, err = rescued.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, -1, v)
	require.Equal(t, 1, finally)
	require.Equal(t, promise.Outcome[int]{Value: 42}, receive(t, doubled.ToChannel()))
	require.Equal(t, promise.Outcome[int]{Err: errTest}, receive(t, failed.ToChannel()))
	passed, err := promise.Resolved(&r.Realm, 7).Catch(nil).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 7, passed)
	_, err = promise.Chain(promise.Rejected[int](&r.Realm, errTest), func(int) (promise.Of[int], error) { panic("not called") }).
		Await(ctx)
	require.Equal(t, errTest, err)
	_, err = promise.Then(promise.Rejected[string](&r.Realm, errTest), strconv.Atoi).Await(ctx)
	require.Equal(t, errTest, err)
	tried, err := promise.Try(&r.Realm, func() (string, error) { return "tried", nil }).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, "tried", tried)

	for name, c := range map[string]struct {
		p    promise.Of[int]
		v    int
		want error
	}{"value": {n, 21, nil}, "error": {failed, 0, errTest}} {
		var heard promise.Outcome[int]
		told, err := c.p.Settled(func(v int, err error) { heard = promise.Outcome[int]{Value: v, Err: err} }).Await(ctx)
		require.NoError(t, err, name)
		require.Nil(t, told, name)
		require.Equal(t, c.v, heard.Value, name)
		require.ErrorIs(t, heard.Err, c.want, name)
		_, err = c.p.Settled(func(int, error) { panic("no") }).Await(ctx)
		require.ErrorContains(t, err, "no", name)
	}
	var mistyped error
	_, err = promise.As[int](r.Resolved("no int")).Settled(func(_ int, err error) { mistyped = err }).Await(ctx)
	require.NoError(t, err)
	require.ErrorContains(t, mistyped, "string")
	_, err = failed.Settled(nil).Await(ctx)
	require.Equal(t, errTest, err)

	all, err := promise.All(&r.Realm, n, doubled).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{21, 42}, all)
	settled, err := promise.AllSettled(&r.Realm, n, failed).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []promise.Outcome[int]{{Value: 21}, {Err: errTest}}, settled)
	first, err := promise.Race(&r.Realm, n).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 21, first)
	first, err = promise.Any(&r.Realm, failed, n).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 21, first)
	none, err := promise.All[int](&r.Realm).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{}, none)
}

// Asking for a value of another type gives an error, and no panic. A nil is the zero value.
func TestWrongType(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	p := promise.As[int](r.Resolved("text"))
	_, err := p.Await(ctx)
	require.EqualError(t, err, "promise: the value is a string, not a int")
	for _, derived := range []promise.Of[int]{
		promise.Then(p, func(int) (int, error) { panic("called") }),
		promise.Chain(p, func(int) (promise.Of[int], error) { panic("called") }),
		promise.Then(promise.All(&r.Realm, p), func([]int) (int, error) { panic("called") }),
		promise.Then(promise.AllSettled(&r.Realm, p), func(o []promise.Outcome[int]) (int, error) { return o[0].Value, o[0].Err }),
	} {
		_, err = derived.Await(ctx)
		require.ErrorContains(t, err, "the value is a string")
	}
	require.ErrorContains(t, receive(t, p.ToChannel()).Err, "the value is a string")
	_, err = promise.As[fmt.Stringer](r.Resolved(1)).Await(ctx)
	require.EqualError(t, err, "promise: the value is a int, not a fmt.Stringer")
	v, err := promise.As[int](r.Resolved(nil)).Await(ctx)
	require.NoError(t, err)
	require.Zero(t, v)
}

// Nil functions pass the outcome on, as far as the types agree.
func TestTypedNil(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	p := promise.Resolved(&r.Realm, 5)
	for _, q := range []promise.Of[int]{
		promise.Then[int, int](p, nil), promise.Chain[int, int](p, nil), p.Catch(nil), p.Finally(nil),
	} {
		v, err := q.Await(ctx)
		require.NoError(t, err)
		require.Equal(t, 5, v)
	}
	_, err := promise.Then[int, string](p, nil).Await(ctx)
	require.ErrorContains(t, err, "the value is a int")
	_, err = promise.Try[int](&r.Realm, nil).Await(ctx)
	require.ErrorContains(t, err, "nil callback")
}

// A promise that a handler returns is followed, under every type that it may have. Asking for the promise gives one that has
// settled in the same way; asking for the value gives that.
func TestPromisesOfPromises(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	one := promise.Resolved(&r.Realm, 1)
	late, resolve, _ := promise.New[int](&r.Realm)
	failing, _, reject := promise.New[int](&r.Realm)
	inner := map[string]promise.Of[int]{"settled": promise.Resolved(&r.Realm, 7), "pending": late, "failing": failing}
	outer := map[string][]*promise.Promise{}
	var asked []func() (name string, got promise.Result)
	for name, p := range inner {
		u := p.Untyped()
		pointer := promise.Then(one, func(int) (*promise.Promise, error) { return u, nil })
		typed := promise.Then(one, func(int) (promise.Of[int], error) { return p, nil })
		opened, follow, _ := promise.New[promise.Of[int]](&r.Realm)
		follow(p)
		untyped, followUntyped, _ := r.New()
		followUntyped(p)
		outer[name] = []*promise.Promise{
			pointer.Untyped(), typed.Untyped(), opened.Untyped(), untyped, r.Resolved(p),
			one.Untyped().Then(func(any) (any, error) { return p, nil }, nil),
			r.Rejected(errTest).Catch(func(error) (any, error) { return p, nil }),
			promise.Rejected[*promise.Promise](&r.Realm, errTest).Catch(func(error) (*promise.Promise, error) { return u, nil }).Untyped(),
			promise.Resolved(&r.Realm, p).Untyped(), promise.Resolved(&r.Realm, u).Untyped(),
			r.Try(func() (any, error) { return p, nil }),
			promise.Try(&r.Realm, func() (promise.Of[int], error) { return p, nil }).Untyped(),
		}
		ask := func(what string, wait func() (promise.Of[int], error)) {
			asked = append(asked, func() (string, promise.Result) {
				q, err := wait()
				if err != nil {
					return name, promise.Result{Err: err}
				}
				v, err := q.Await(ctx)
				require.NoError(t, err, what)
				return name, promise.Result{Value: v}
			})
		}
		as := func(q *promise.Promise, err error) (promise.Of[int], error) { return promise.As[int](q), err }
		ask("a pointer", func() (promise.Of[int], error) { return as(pointer.Await(ctx)) })
		ask("an Of", func() (promise.Of[int], error) { return typed.Await(ctx) })
		ask("a channel", func() (promise.Of[int], error) { o := receive(t, typed.ToChannel()); return o.Value, o.Err })
		ask("All", func() (promise.Of[int], error) {
			vs, err := promise.All(&r.Realm, typed, typed).Await(ctx)
			return append(vs, promise.Of[int]{})[0], err
		})
		ask("AllSettled", func() (promise.Of[int], error) {
			os, err := promise.AllSettled(&r.Realm, pointer).Await(ctx)
			require.NoError(t, err)
			return as(os[0].Value, os[0].Err)
		})
		ask("Race", func() (promise.Of[int], error) { return promise.Race(&r.Realm, typed).Await(ctx) })
		ask("a handler", func() (promise.Of[int], error) {
			return promise.Then(pointer, func(q *promise.Promise) (promise.Of[int], error) {
				if s := q.String(); s != "fulfilled promise" {
					return promise.Of[int]{}, errors.New(s)
				}
				return promise.As[int](q), nil
			}).Await(ctx)
		})
	}
	resolve(8)
	reject(io.EOF)
	want := map[string]promise.Result{"settled": {Value: 7}, "pending": {Value: 8}, "failing": {Err: io.EOF}}
	for name, ps := range outer {
		for i, p := range ps {
			require.Equal(t, want[name], receive(t, p.ToChannel()), "%s %d", name, i)
		}
	}
	for _, ask := range asked {
		name, got := ask()
		require.Equal(t, want[name], got)
	}
	deep := promise.Then(one, func(int) (promise.Of[promise.Of[string]], error) {
		return promise.Resolved(&r.Realm, promise.Resolved(&r.Realm, "deep")), nil
	})
	q, err := deep.Await(ctx)
	require.NoError(t, err)
	p, err := q.Await(ctx)
	require.NoError(t, err)
	v, err := p.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, "deep", v)
}

// A nil promise, or a zero one, is a nil value; asking for the promise gives one.
func TestNilPromises(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	zero, one := promise.Of[int]{}, promise.Resolved(&r.Realm, 1)
	for i, p := range []*promise.Promise{
		r.Resolved(zero), r.Resolved((*promise.Promise)(nil)), promise.Resolved(&r.Realm, zero).Untyped(),
		promise.Chain(one, func(int) (promise.Of[int], error) { return zero, nil }).Untyped(),
		promise.Then(one, func(int) (promise.Of[int], error) { return zero, nil }).Untyped(),
		promise.Then(one, func(int) (*promise.Promise, error) { return nil, nil }).Untyped(),
		r.Race(nil), promise.Race(&r.Realm, zero).Untyped(), promise.Any(&r.Realm, zero).Untyped(),
	} {
		require.Equal(t, promise.Result{}, receive(t, p.ToChannel()), i)
		for _, ask := range []func() (*promise.Promise, error){
			func() (*promise.Promise, error) { return promise.As[*promise.Promise](p).Await(ctx) },
			func() (*promise.Promise, error) {
				q, err := promise.As[promise.Of[int]](p).Await(ctx)
				return q.Untyped(), err
			},
		} {
			q, err := ask()
			require.NoError(t, err)
			require.Equal(t, "fulfilled promise", q.String())
		}
	}
	require.Equal(t, "zero promise", fmt.Sprint(zero))
	require.Equal(t, "fulfilled promise", fmt.Sprint(one))
}

// A type that embeds a promise has its methods, but is a value.
func TestEmbeddedPromises(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	type named struct {
		*promise.Promise
		name string
	}
	type typed struct{ promise.Of[int] }
	type pointer struct{ *promise.Of[int] }
	for _, want := range []any{named{nil, "name"}, named{r.Resolved(1), ""}, typed{promise.Resolved(&r.Realm, 1)}, typed{}, pointer{}} {
		for _, p := range []*promise.Promise{
			r.Resolved(want), r.Resolved(1).Then(func(any) (any, error) { return want, nil }, nil),
		} {
			require.Equal(t, promise.Result{Value: want}, receive(t, p.ToChannel()))
		}
	}
	v, err := promise.As[typed](r.Resolved(nil)).Await(soon(t))
	require.NoError(t, err)
	require.Zero(t, v)
}

// A promise fits into the size class of the allocator that its fields were chosen for.
func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(promise.Promise{}); size > 96 {
		t.Errorf("a promise has %d bytes", size)
	}
}
