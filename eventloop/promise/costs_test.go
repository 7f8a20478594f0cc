package promise_test

// What each public call costs on its usual path.

import (
	"context"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/costs"
)

func TestCosts(t *testing.T) {
	costs.Check(t, costRows, map[string]string{
		`^(NewOwner|Owner\.)`: "is for loops: what it costs is in what their users call",
		`^AggregateError\.`:   "reads a value",
		`String$`:             "is for people",
	})
}

func BenchmarkCosts(b *testing.B) { costs.Benchmark(b, costRows) }

func sameInt(v int) (int, error) { return v, nil }

var costRows = []costs.Row{
	costs.On("Realm.New", 3, 112, 0, realm(func(r *promise.Realm) { _, resolve, _ := r.New(); resolve(nil) })),
	costs.On("Realm.Resolved", 1, 80, 0, realm(func(r *promise.Realm) { r.Resolved(nil) })),
	costs.On("Realm.Rejected", 2, 192, 1, realm(func(r *promise.Realm) { r.Rejected(errTest).Catch(func(error) (any, error) { return nil, nil }) })),
	costs.On("Realm.Try", 1, 80, 0, realm(func(r *promise.Realm) { r.Try(func() (any, error) { return nil, nil }) })),
	costs.On("Realm.All", 7, 384, 2, settled(func(r *promise.Realm, p *promise.Promise) { r.All(p, p) })),
	costs.On("Realm.AllSettled", 7, 416, 2, settled(func(r *promise.Realm, p *promise.Promise) { r.AllSettled(p, p) })),
	costs.On("Realm.Any", 6, 352, 2, settled(func(r *promise.Realm, p *promise.Promise) { r.Any(p, p) })),
	costs.On("Realm.Race", 4, 288, 2, settled(func(r *promise.Realm, p *promise.Promise) { r.Race(p, p) })),
	costs.On("Owner.Watch", 4, 288, 1, func(e *costs.Env) func() {
		o := promise.NewOwner(e.Loop, promise.Config{})
		p := o.Resolved(1)
		return func() { o.Watch(p, func(any, error) {}) }
	}),
	costs.On("Promise.Then", 1, 80, 1, settled(func(_ *promise.Realm, p *promise.Promise) { p.Then(increment, nil) })),
	costs.On("Promise.Catch", 1, 80, 1, settled(func(_ *promise.Realm, p *promise.Promise) { p.Catch(func(error) (any, error) { return nil, nil }) })),
	costs.On("Promise.Finally", 1, 96, 3, settled(func(_ *promise.Realm, p *promise.Promise) { p.Finally(func() error { return nil }) })),
	costs.On("Promise.ToChannel", 2, 144, 0, settled(func(_ *promise.Realm, p *promise.Promise) { <-p.ToChannel() })),
	costs.Off("Promise.Await", 8, 352, 1, func(e *costs.Env) func() {
		return func() {
			p, resolve, _ := e.NewPromise()
			resolve(nil)
			_, err := p.Await(context.Background())
			e.Must(err)
		}
	}),

	costs.On("New", 3, 128, 0, realm(func(r *promise.Realm) { _, resolve, _ := promise.New[int](r); resolve(1) })),
	costs.On("Resolved", 1, 80, 0, realm(func(r *promise.Realm) { promise.Resolved(r, 1) })),
	costs.On("Rejected", 2, 192, 1, realm(func(r *promise.Realm) {
		promise.Rejected[int](r, errTest).Catch(func(error) (int, error) { return 1, nil })
	})),
	costs.On("Try", 2, 112, 0, realm(func(r *promise.Realm) { promise.Try(r, func() (int, error) { return 1, nil }) })),
	costs.On("As", 0, 0, 0, settled(func(_ *promise.Realm, p *promise.Promise) { promise.As[int](p) })),
	costs.On("All", 6, 352, 2, settled(func(r *promise.Realm, p *promise.Promise) { promise.All(r, promise.As[int](p), promise.As[int](p)) })),
	costs.On("AllSettled", 6, 384, 2, settled(func(r *promise.Realm, p *promise.Promise) {
		promise.AllSettled(r, promise.As[int](p), promise.As[int](p))
	})),
	costs.On("Any", 5, 336, 2, settled(func(r *promise.Realm, p *promise.Promise) { promise.Any(r, promise.As[int](p), promise.As[int](p)) })),
	costs.On("Race", 3, 288, 2, settled(func(r *promise.Realm, p *promise.Promise) { promise.Race(r, promise.As[int](p), promise.As[int](p)) })),
	costs.On("Then", 1, 80, 1, settled(func(_ *promise.Realm, p *promise.Promise) { promise.Then(promise.As[int](p), sameInt) })),
	costs.On("Chain", 3, 192, 3, settled(func(r *promise.Realm, p *promise.Promise) {
		promise.Chain(promise.As[int](p), func(v int) (promise.Of[int], error) { return promise.Resolved(r, v), nil })
	})),
	costs.On("Of.Catch", 1, 80, 1, settled(func(_ *promise.Realm, p *promise.Promise) {
		promise.As[int](p).Catch(func(error) (int, error) { return 0, nil })
	})),
	costs.On("Of.Finally", 1, 96, 3, settled(func(_ *promise.Realm, p *promise.Promise) { promise.As[int](p).Finally(func() error { return nil }) })),
	costs.On("Of.Settled", 1, 80, 1, settled(func(_ *promise.Realm, p *promise.Promise) { promise.As[int](p).Settled(func(int, error) {}) })),
	costs.On("Of.ToChannel", 2, 144, 0, settled(func(_ *promise.Realm, p *promise.Promise) { <-promise.As[int](p).ToChannel() })),
	costs.On("Of.Untyped", 0, 0, 0, settled(func(_ *promise.Realm, p *promise.Promise) { promise.As[int](p).Untyped() })),
	costs.Off("Of.Await", 8, 368, 1, func(e *costs.Env) func() {
		return func() {
			p, resolve, _ := promise.New[int](e.Promises())
			resolve(1)
			_, err := p.Await(context.Background())
			e.Must(err)
		}
	}),
}

func realm(call func(*promise.Realm)) func(*costs.Env) func() {
	return func(e *costs.Env) func() {
		r := e.Promises()
		return func() { call(r) }
	}
}

func settled(call func(*promise.Realm, *eventloop.Promise)) func(*costs.Env) func() {
	return func(e *costs.Env) func() {
		r := e.Promises()
		p := r.Resolved(1)
		return func() { call(r, p) }
	}
}
