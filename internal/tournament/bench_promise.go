// Promises, used from the loop itself, and the timeouts of programs that use them.

package tournament

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

const (
	crowd = 100    // links, handlers or promises that belong together
	storm = 10_000 // timeouts that one task sets: so many that setting them takes longer than they do
)

// promiseOps are the cells. The values that handlers return fit into an interface without an allocation, so that only the
// allocations of the promises are counted.
var promiseOps = []struct {
	name string
	run  func(*bench, promiser) // ends with done
}{
	{"then", thenChain},
	{"fanout", fanOut},
	{"all", combineAll},
	{"race", combineRace},
	{"promisify", promisify},
}

func init() {
	var variants []Variant
	for _, op := range promiseOps {
		v := Variant{
			Name: "op=" + op.name, Run: func(b *testing.B, c Contestant) { onPromises(b, c, op.run) },
			Controls: map[string]func(*testing.B){
				GojaControl: func(b *testing.B) { runProgram(b, crowd, programs[op.name]) },
			},
		}
		if op.name == "promisify" {
			v.Controls[GoroutineControl] = handOver
		}
		if op.name != "then" {
			v.Long = "chains are enough for a glance"
		}
		variants = append(variants, v)
	}
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Promise", Category: Promises, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op: "one link of a chain, one handler, one promise of an All or a Race, or one round trip",
			Measures: "on the loop: chains of 100 links, promises with 100 handlers, All and Race of 100 promises, all of " +
				"which are made, settled and heard of; and functions that Promisify runs on other goroutines, one after the other",
			Why:      "what asynchronous code costs beyond the work that it is about",
			Unscored: "of the ranked loops only `main` has promises, and to be the first of one is no merit",
			Needs:    []record.Need{{Window: aWhile}},
		},
		Variants: variants,
	})
}

func onPromises(b *testing.B, c Contestant, run func(*bench, promiser)) {
	b.ReportAllocs()
	r := start(b, c)
	promises := r.promises()
	b.ResetTimer()
	run(r, promises)
	r.wait()
}

var errWrongValue = errors.New("a handler was given another value than the one that it waits for")

// thenChain settles the heads of chains. Each link hands on one more than it was given.
func thenChain(r *bench, promises promiser) {
	link := func(v any) (any, error) { return v.(int) + 1, nil }
	r.rounds(crowd, func(n int, next func()) {
		p, resolve, _ := promises.NewPromise()
		for range n - 1 {
			p = p.Then(link, nil)
		}
		r.then(p, n-1, next)
		resolve(0)
	})
}

// then goes on when p is fulfilled with want.
func (r *bench) then(p *promise.Promise, want int, next func()) {
	p.Then(func(v any) (any, error) {
		if v != want {
			r.fail(errWrongValue)
			return nil, nil
		}
		next()
		return nil, nil
	}, nil)
}

// fanOut settles promises that many wait for.
func fanOut(r *bench, promises promiser) {
	const want = 1
	r.rounds(crowd, func(n int, next func()) {
		p, resolve, _ := promises.NewPromise()
		arrived := r.arrivals(n, next)
		handler := func(v any) (any, error) {
			if v != want {
				r.fail(errWrongValue)
			}
			arrived()
			return nil, nil
		}
		for range n {
			p.Then(handler, nil)
		}
		resolve(want)
	})
}

// arrivals returns a function that goes on at its n-th call, which is its last.
func (r *bench) arrivals(n int, next func()) func() {
	return func() {
		switch n--; {
		case n == 0:
			next()
		case n < 0:
			r.fail(errors.New("a callback ran twice"))
		}
	}
}

func combineAll(r *bench, promises promiser) {
	r.combine(promises, func(ps []*promise.Promise, next func()) {
		promises.Promises().All(ps...).Then(func(v any) (any, error) {
			// It is enough to look at the first and the last value: the promises are settled in the opposite order.
			if values := v.([]any); len(values) != len(ps) || values[0] != 0 || values[len(ps)-1] != len(ps)-1 {
				r.fail(errWrongValue)
				return nil, nil
			}
			next()
			return nil, nil
		}, nil)
	})
}

func combineRace(r *bench, promises promiser) {
	r.combine(promises, func(ps []*promise.Promise, next func()) {
		r.then(promises.Promises().Race(ps...), len(ps)-1, next)
	})
}

// combine makes promises, hands them to wait, and settles them with their indexes, the last first.
func (r *bench) combine(promises promiser, wait func(ps []*promise.Promise, next func())) {
	ps := make([]*promise.Promise, crowd)
	resolves := make([]func(any), crowd)
	r.rounds(crowd, func(n int, next func()) {
		for i := range n {
			ps[i], resolves[i], _ = promises.NewPromise()
		}
		wait(ps[:n], next)
		for i := n - 1; i >= 0; i-- {
			resolves[i](i)
		}
	})
}

// promisify waits for the result of one function after the other. Each runs on another goroutine, and returns how many have
// run.
func promisify(r *bench, promises promiser) {
	calls, n := 0, 0
	fn := func(context.Context) (any, error) {
		calls++
		return &calls, nil
	}
	var again func()
	received := func(v any) (any, error) {
		switch n++; {
		case v != &calls || calls != n:
			r.fail(errWrongValue)
		case n == r.b.N:
			r.done()
		default:
			again()
		}
		return nil, nil
	}
	again = func() { promises.Promisify(context.Background(), fn).Then(received, nil) }
	r.submit(again)
}

// handOver is promisify without a loop: the same function, with a channel for each call in place of the promise. It has a
// watchdog as the loops have one, since a pending timer makes every switch of goroutines a little slower.
func handOver(b *testing.B) {
	b.ReportAllocs()
	calls := 0
	fn := func(context.Context) (any, error) {
		calls++
		return &calls, nil
	}
	watchdog := time.AfterFunc(patience(b), func() { panic("no answer") })
	defer watchdog.Stop()
	b.ResetTimer()
	for n := range b.N {
		result := make(chan promise.Result, 1)
		go func() {
			v, err := fn(context.Background())
			result <- promise.Result{Value: v, Err: err}
		}()
		if r := <-result; r.Err != nil || r.Value != &calls || calls != n+1 {
			b.Fatal(errWrongValue)
		}
	}
}

// BenchmarkSetTimeout is about timeouts as JavaScript has them. It measures no waiting: when all timeouts of a storm are set
// and half of them cleared, the others are already due.
func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "SetTimeout", Category: Timers, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op: "one timeout",
			Measures: "storms of 10000 timeouts that one task sets, half for now and half for 1 ms later, and every other one " +
				"of which it clears when all are set",
			Why:      "JavaScript that is busy with timers, as programs are that poll, debounce and give up waiting",
			Unscored: "of the ranked loops only `main` has the timeouts of JavaScript, and to be the first of one is no merit",
		},
		Variants: []Variant{{Run: setTimeouts, Controls: map[string]func(*testing.B){
			GojaControl: func(b *testing.B) { runProgram(b, storm, programs["timeout"]) },
		}}},
	})
}

func setTimeouts(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	adapter := r.javascript()
	ids := make([]js.ID, storm)
	b.ResetTimer()
	r.rounds(storm, func(n int, next func()) {
		// The next storm comes with a task, since timeouts that a timeout sets wait longer.
		fires := r.arrivals((n+1)/2, func() { r.onLoop(r.Submit(next)) })
		cleared := func() { r.fail(errors.New("a timeout fires that was cleared")) }
		for i := range n {
			callback := fires
			if i%2 == 1 {
				callback = cleared
			}
			id, err := adapter.SetTimeout(callback, float64(i/2%2))
			if err != nil {
				r.fail(err)
				return
			}
			ids[i] = id
		}
		for i := 1; i < n; i += 2 {
			adapter.ClearTimeout(ids[i])
		}
	})
	r.wait()
}
