package promise_test

import (
	"fmt"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/race"
)

func TestTyped(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	p, resolve, _ := promise.New[string](r)
	n := promise.Then(p, strconv.Atoi)
	doubled := promise.Chain(n, func(v int) (promise.Of[int], error) { return promise.Resolved(r, 2*v), nil })
	bad := promise.Then(promise.Resolved(r, "x"), strconv.Atoi)
	failed, _, reject := promise.New[int](r)
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
	passed, err := promise.Resolved(r, 7).Catch(nil).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 7, passed)
	_, err = promise.Chain(promise.Rejected[int](r, errTest), func(int) (promise.Of[int], error) { panic("not called") }).
		Await(ctx)
	require.Equal(t, errTest, err)
	_, err = promise.Then(promise.Rejected[string](r, errTest), strconv.Atoi).Await(ctx)
	require.Equal(t, errTest, err)
	tried, err := promise.Try(r, func() (string, error) { return "tried", nil }).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, "tried", tried)

	all, err := promise.All(r, n, doubled).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{21, 42}, all)
	settled, err := promise.AllSettled(r, n, failed).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []promise.Outcome[int]{{Value: 21}, {Err: errTest}}, settled)
	first, err := promise.Race(r, n).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 21, first)
	first, err = promise.Any(r, failed, n).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, 21, first)
	none, err := promise.All[int](r).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{}, none)
}

// A value of another type is an error of whoever asks for it, and no panic. A nil is the zero value.
func TestWrongType(t *testing.T) {
	_, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	p := promise.As[int](r.Resolved("text"))
	_, err := p.Await(ctx)
	require.EqualError(t, err, "promise: the value is a string, not a int")
	for _, derived := range []promise.Of[int]{
		promise.Then(p, func(int) (int, error) { panic("called") }),
		promise.Chain(p, func(int) (promise.Of[int], error) { panic("called") }),
		promise.Then(promise.All(r, p), func([]int) (int, error) { panic("called") }),
		promise.Then(promise.AllSettled(r, p), func(o []promise.Outcome[int]) (int, error) { return o[0].Value, o[0].Err }),
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
	p := promise.Resolved(r, 5)
	for _, q := range []promise.Of[int]{
		promise.Then[int, int](p, nil), promise.Chain[int, int](p, nil), p.Catch(nil), p.Finally(nil),
	} {
		v, err := q.Await(ctx)
		require.NoError(t, err)
		require.Equal(t, 5, v)
	}
	_, err := promise.Then[int, string](p, nil).Await(ctx)
	require.ErrorContains(t, err, "the value is a int")
	_, err = promise.Try[int](r, nil).Await(ctx)
	require.ErrorContains(t, err, "nil callback")
}

// A promise fits into the size class that its fields were chosen for.
func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(promise.Promise{}); size > 96 {
		t.Errorf("a promise has %d bytes", size)
	}
}

// One link of a chain, typed or not, with one handler or two, is one allocation, and what its handler allocates.
func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	f, r := newRealm(promise.Config{})
	f.local = make([]func(), 0, 16)
	untyped, typed, inner := r.Resolved(1), promise.Resolved(r, 1), promise.Resolved(r, 2)
	follow := func(int) (promise.Of[int], error) { return inner, nil }
	for name, link := range map[string]func(){
		"Then":       func() { untyped = untyped.Then(increment, nil) },
		"Then, both": func() { untyped = untyped.Then(increment, func(error) (any, error) { return nil, nil }) },
		"Catch":      func() { untyped = untyped.Catch(func(error) (any, error) { return nil, nil }) },
		"Finally":    func() { untyped = untyped.Finally(func() error { return nil }) },
		"typed Then": func() { typed = promise.Then(typed, func(v int) (int, error) { return v, nil }) },
		"typed Catch": func() {
			typed = typed.Catch(func(error) (int, error) { return 0, nil })
		},
		"typed Chain": func() { typed = promise.Chain(typed, follow) },
	} {
		require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { link(); f.drain() }), name)
	}
}
