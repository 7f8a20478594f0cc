package promise

// Typed promises: the same engine, without casts in the user's code.
//
// Of is a struct around a pointer and not an engine of its own, so that typed and untyped promises mix freely and
// cost the same. Conversions are checked where a value leaves the engine: an untyped promise that is taken for one of
// T but holds something else gives an error, not a panic. What changes the type is a function, since Go's methods
// have no type parameters of their own.

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// Of is a promise of a T. It is as big as a pointer and is passed by value. The zero Of is no promise: it stands for nil
// where a promise is returned, resolved with, or combined with others; its methods panic, but for String and Untyped.
//
// T may be a promise type, as in Then[int, Of[string]]. The engine follows such a promise as it follows any other. Await and
// handlers then get, as the T, a promise that has settled with the same outcome.
type Of[T any] struct{ p *Promise }

// As views an untyped promise as one of T. If its value turns out to be of another type, Await and handlers get an error
// instead; a nil value is the zero T. p must not be nil.
func As[T any](p *Promise) Of[T] { return Of[T]{p} }

// Untyped returns the promise as the engine knows it.
func (p Of[T]) Untyped() *Promise { return p.p }

func (p Of[T]) promise() *Promise { return p.p }

// view returns p as an Of[T], for code that does not know T.
func (*Of[T]) view(p *Promise) any { return Of[T]{p} }

// String is [Promise.String]; for the zero Of it returns "zero promise".
func (p Of[T]) String() string {
	if p.p == nil {
		return "zero promise"
	}
	return p.p.String()
}

// New is [Realm.New] for a T.
func New[T any](r *Realm) (p Of[T], resolve func(T), reject func(error)) {
	u := r.open()
	resolve = func(value T) { u.conclude(fulfilled, value) }
	reject = func(reason error) { u.conclude(rejected, mustReason(reason)) }
	return Of[T]{u}, resolve, reject
}

// Resolved returns a promise that is fulfilled with value.
func Resolved[T any](r *Realm, value T) Of[T] { return Of[T]{r.Resolved(value)} }

// Rejected is [Realm.Rejected] for a promise of T.
func Rejected[T any](r *Realm, reason error) Of[T] { return Of[T]{r.Rejected(reason)} }

// Try is [Realm.Try] for a T: it calls fn at once, on the calling goroutine, and returns a promise of its outcome.
func Try[T any](r *Realm, fn func() (T, error)) Of[T] {
	if fn == nil {
		return Of[T]{r.Try(nil)}
	}
	return Of[T]{r.Try(func() (any, error) { return fn() })}
}

// Then calls fn with the value of p, and returns a promise of what fn returns. A rejection of p is passed on, and so is the
// value if fn is nil: if that is no U, asking for it gives an error, as with [As]. See [Promise.Then].
func Then[T, U any](p Of[T], fn func(T) (U, error)) Of[U] {
	return Of[U]{p.p.then(unlessNil(fn == nil, typedThen[T, U](fn)), nil)}
}

// Chain calls fn with the value of p, and returns a promise that follows the one fn returns. A rejection of p is passed
// on, and so is the value if fn is nil, as in [Then].
func Chain[T, U any](p Of[T], fn func(T) (Of[U], error)) Of[U] {
	return Of[U]{p.p.then(unlessNil(fn == nil, typedChain[T, U](fn)), nil)}
}

// Catch calls fn with the error of p, and returns a promise of what fn returns. A value of p is passed on. See
// [Promise.Then].
func (p Of[T]) Catch(fn func(error) (T, error)) Of[T] {
	return Of[T]{p.p.then(unlessNil(fn == nil, typedCatch[T](fn)), nil)}
}

// Settled calls fn with the value of p or its error, and returns a promise of nil; of the outcome if fn is nil. See [Promise.Then].
func (p Of[T]) Settled(fn func(T, error)) *Promise {
	return p.p.then(unlessNil(fn == nil, typedSettled[T](fn)), nil)
}

// Finally is [Promise.Finally].
func (p Of[T]) Finally(fn func() error) Of[T] { return Of[T]{p.p.Finally(fn)} }

// Await is [Promise.Await].
func (p Of[T]) Await(ctx context.Context) (T, error) {
	value, err := p.p.Await(ctx)
	if err != nil {
		return *new(T), err
	}
	return as[T](p.p, value)
}

// ToChannel is [Promise.ToChannel].
func (p Of[T]) ToChannel() <-chan Outcome[T] { return toChannel[T](p.p) }

// All is [Realm.All] for promises of one type.
func All[T any](r *Realm, ps ...Of[T]) Of[[]T] { return Of[[]T]{combine(r, ps, newAll[T](len(ps)))} }

// AllSettled is [Realm.AllSettled] for promises of one type.
func AllSettled[T any](r *Realm, ps ...Of[T]) Of[[]Outcome[T]] {
	return Of[[]Outcome[T]]{combine(r, ps, newAllSettled[T](len(ps)))}
}

// Race is [Realm.Race] for promises of one type.
func Race[T any](r *Realm, ps ...Of[T]) Of[T] { return Of[T]{combine(r, ps, race{})} }

// Any is [Realm.Any] for promises of one type.
func Any[T any](r *Realm, ps ...Of[T]) Of[T] { return Of[T]{combine(r, ps, newFirst(len(ps)))} }

type (
	typedThen[T, U any]  func(T) (U, error)
	typedChain[T, U any] func(T) (Of[U], error)
	typedCatch[T any]    func(error) (T, error)
	typedSettled[T any]  func(T, error)
)

func (f typedThen[T, U]) call(source *Promise) (any, error) {
	value, err := outcomeAs[T](source)
	if err != nil {
		return nil, err
	}
	return f(value)
}

func (f typedChain[T, U]) call(source *Promise) (any, error) {
	value, err := outcomeAs[T](source)
	if err != nil {
		return nil, err
	}
	next, err := f(value)
	return next.p, err
}

func (f typedCatch[T]) call(source *Promise) (any, error) {
	value, err := source.outcome()
	if err == nil {
		return value, nil
	}
	return f(err)
}

func (f typedSettled[T]) call(source *Promise) (any, error) {
	f(outcomeAs[T](source))
	return nil, nil
}

func outcomeAs[T any](p *Promise) (T, error) {
	value, err := p.outcome()
	if err != nil {
		return *new(T), err
	}
	return as[T](p, value)
}

// as returns value, to which p has settled, as a T; or an error if it is of another type.
func as[T any](p *Promise, value any) (t T, err error) {
	t, ok := value.(T)
	if ok {
		return t, nil
	}
	// If T is a promise type, p has followed the promise that it was resolved with. p has the same outcome, so p stands for it.
	switch of := any((*T)(nil)).(type) {
	case **Promise:
		t, ok = any(p).(T)
	case interface{ view(*Promise) any }:
		if isOwn(reflect.TypeFor[T]()) {
			t, ok = of.view(p).(T)
		}
	}
	if ok || value == nil {
		return t, nil
	}
	return t, wrongType[T](value)
}

func wrongType[T any](value any) error {
	return fmt.Errorf("promise: the value is a %T, not a %s", value, strings.TrimPrefix(fmt.Sprintf("%T", new(T)), "*"))
}
