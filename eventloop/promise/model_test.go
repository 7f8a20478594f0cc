package promise_test

// Promises against models: the specification written down step by step, and a plain evaluation of graphs of promises.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/race"
)

// api is what a random program uses, of the engine or of the model.
type api[P comparable] struct {
	open       func() (P, func(any), func(error))
	then       func(P, func(any) (any, error), func(error) (any, error)) P
	finally    func(P, func() error) P
	combine    func(string, []P) P
	micro      func(func())
	checkpoint func()
}

// program is a random program. Each next step is drawn when it is about to be done, so two runs are the same for as long as
// they see the same results.
type program[P comparable] struct {
	api[P]
	rnd     *rand.Rand
	log     []string
	ps      []P
	settles []func()
	left    int // operations that are left
	labels  int
}

func (r *program[P]) say(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *program[P]) pick() P { return r.ps[r.rnd.IntN(len(r.ps))] }

// result is what a handler returns.
func (r *program[P]) result() (any, error) {
	switch n := r.rnd.IntN(12); n {
	case 0, 1:
		return nil, fmt.Errorf("error %d", r.rnd.IntN(100))
	case 2:
		panic(fmt.Sprint("panic ", r.rnd.IntN(100)))
	case 3, 4, 5:
		return r.pick(), nil
	default:
		return r.rnd.IntN(100), nil
	}
}

func (r *program[P]) act(label string, v any) {
	r.say("%s(%v)", label, v)
	if r.rnd.IntN(3) == 0 {
		r.step()
	}
}

func (r *program[P]) handlers() (func(any) (any, error), func(error) (any, error)) {
	r.labels++
	label := fmt.Sprint("h", r.labels)
	onFulfilled := func(v any) (any, error) { r.act(label, v); return r.result() }
	onRejected := func(err error) (any, error) { r.act(label, err); return r.result() }
	switch r.rnd.IntN(6) {
	case 0:
		return nil, nil
	case 1:
		return nil, onRejected
	case 2, 3:
		return onFulfilled, nil
	}
	return onFulfilled, onRejected
}

func (r *program[P]) step() {
	if r.left == 0 {
		return
	}
	r.left--
	switch op := r.rnd.IntN(16); {
	case op < 3 || len(r.ps) == 0:
		p, resolve, reject := r.open()
		r.ps = append(r.ps, p)
		r.settles = append(r.settles, func() {
			if v, err := func() (v any, err error) {
				defer func() { _ = recover() }()
				return r.result()
			}(); err != nil {
				reject(err)
			} else {
				resolve(v)
			}
		})
	case op < 7 && len(r.settles) > 0:
		r.settles[r.rnd.IntN(len(r.settles))]()
	case op < 11:
		p := r.pick()
		onFulfilled, onRejected := r.handlers()
		r.ps = append(r.ps, r.then(p, onFulfilled, onRejected))
	case op < 12:
		p := r.pick()
		r.labels++
		label := fmt.Sprint("f", r.labels)
		r.ps = append(r.ps, r.finally(p, func() error { r.act(label, nil); _, err := r.result(); return err }))
	case op < 14:
		kind := []string{"all", "allSettled", "race", "any"}[r.rnd.IntN(4)]
		ps := make([]P, r.rnd.IntN(4))
		for i := range ps {
			ps[i] = r.pick()
		}
		r.ps = append(r.ps, r.combine(kind, ps))
	default:
		r.labels++
		label := fmt.Sprint("m", r.labels)
		r.micro(func() { r.act(label, nil) })
	}
}

func (r *program[P]) run() []string {
	for r.left > 0 {
		for range r.rnd.IntN(6) {
			r.step()
		}
		r.say("checkpoint")
		r.checkpoint()
	}
	for i, p := range r.ps {
		r.then(p,
			func(v any) (any, error) { r.say("%d = %v", i, v); return nil, nil },
			func(err error) (any, error) { r.say("%d failed: %v", i, err); return nil, nil })
	}
	r.checkpoint()
	return r.log
}

// Random programs on one goroutine do exactly what the specification says, in the same order.
func TestAgainstTheSpecification(t *testing.T) {
	programs := uint64(20_000)
	switch {
	case testing.Short():
		programs = 50
	case race.Enabled:
		programs = 2_000
	}
	for seed := range programs {
		operations := 5 + int(seed%40)
		newRand := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

		want := &program[*modelPromise]{rnd: newRand(), left: operations}
		m := &model{report: func(err error) { want.act("unhandled", err) }}
		want.api = api[*modelPromise]{
			open: func() (*modelPromise, func(any), func(error)) {
				p := &modelPromise{m: m}
				resolve, reject := p.resolvers()
				return p, resolve, reject
			},
			then:       (*modelPromise).then,
			finally:    (*modelPromise).finally,
			combine:    m.combine,
			micro:      func(fn func()) { m.queue = append(m.queue, fn) },
			checkpoint: m.checkpoint,
		}

		got := &program[*promise.Promise]{rnd: newRand(), left: operations}
		f, r := newOwner(promise.Config{OnUnhandled: func(_ *promise.Promise, err error) { got.act("unhandled", err) }})
		got.api = api[*promise.Promise]{
			open:    r.New,
			then:    (*promise.Promise).Then,
			finally: (*promise.Promise).Finally,
			combine: func(kind string, ps []*promise.Promise) *promise.Promise {
				return map[string]func(...*promise.Promise) *promise.Promise{
					"all": r.All, "allSettled": r.AllSettled, "race": r.Race, "any": r.Any,
				}[kind](ps...)
			},
			micro:      func(fn func()) { _ = f.ScheduleMicrotask(fn) },
			checkpoint: func() { f.checkpoint(r) },
		}
		if g, w := got.run(), want.run(); !slices.Equal(g, w) {
			i := 0
			for i < len(g) && i < len(w) && g[i] == w[i] {
				i++
			}
			t.Fatalf("seed %d, from line %d:\n got %q\nwant %q", seed, i, g[i:], w[i:])
		}
	}
}

// Random graphs, which several goroutines build, settle and listen to, have the outcome of a plain evaluation, and every
// handler is called once.
func TestGraphsFromSeveralGoroutines(t *testing.T) {
	graphs := uint64(200)
	switch {
	case testing.Short():
		graphs = 5
	case race.Enabled:
		graphs = 30
	}
	f, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	for seed := range graphs {
		rnd := rand.New(rand.NewPCG(seed, 1))
		const size = 60
		type node struct {
			p    *promise.Promise
			want promise.Result
		}
		nodes := make([]node, size)
		var settles []func()
		var workers sync.WaitGroup
		var calls atomic.Int64
		var attached int64
		expect := func(n node) { // attaches handlers that check the outcome of n
			check := func(got promise.Result) {
				calls.Add(1)
				if fmt.Sprint(got) != fmt.Sprint(n.want) {
					t.Errorf("seed %d: got %v, want %v", seed, got, n.want)
				}
				if !f.OnLoop() {
					t.Error("a handler that does not run on the loop")
				}
			}
			n.p.Then(func(v any) (any, error) { check(promise.Result{Value: v}); return nil, nil },
				func(err error) (any, error) { check(promise.Result{Err: err}); return nil, nil })
		}
		for i := range nodes {
			n := &nodes[i]
			var a, b node
			if i > 0 {
				a, b = nodes[rnd.IntN(i)], nodes[rnd.IntN(i)]
			}
			switch op := rnd.IntN(8); {
			case op < 2 || i == 0:
				p, resolve, reject := r.New()
				if n.p = p; rnd.IntN(3) == 0 {
					n.want.Err = fmt.Errorf("error %d", i)
					settles = append(settles, func() { reject(n.want.Err); resolve("again") })
				} else {
					n.want.Value = i
					settles = append(settles, func() { resolve(i); reject(errTest) })
				}
			case op == 2:
				p, resolve, _ := r.New()
				n.p, n.want = p, a.want
				settles = append(settles, func() { resolve(a.p); resolve(b.p) })
			case op == 3:
				n.p, n.want = a.p.Then(nil, func(err error) (any, error) { return err.Error(), nil }), a.want
				if a.want.Err != nil {
					n.want = promise.Result{Value: a.want.Err.Error()}
				}
			case op == 4: // b if a is fulfilled
				n.p, n.want = a.p.Then(func(any) (any, error) { return b.p, nil }, nil), b.want
				if a.want.Err != nil {
					n.want = a.want
				}
			case op == 5:
				n.p, n.want = r.AllSettled(a.p, b.p), promise.Result{Value: []promise.Result{a.want, b.want}}
			case op == 6:
				n.p = r.Race(a.p, a.p.Finally(func() error { return nil }))
				n.want = a.want
			default:
				n.p = r.All(a.p, a.p.Finally(func() error { return errTest }))
				n.want = a.want
				if a.want.Err == nil {
					n.want = promise.Result{Err: errTest}
				}
			}
			attached++
			workers.Go(func() { expect(*n) })
			if i%7 == 0 && len(settles) > 0 {
				settle := settles[len(settles)-1]
				workers.Go(settle)
			}
		}
		for _, settle := range settles {
			workers.Go(settle)
		}
		for i, n := range nodes {
			v, err := n.p.Await(ctx)
			if fmt.Sprint(promise.Result{Value: v, Err: err}) != fmt.Sprint(n.want) {
				t.Fatalf("seed %d: node %d is %v, %v, want %v", seed, i, v, err, n.want)
			}
		}
		workers.Wait()
		quiet(t, f, func() bool { return calls.Load() >= attached })
		require.Equal(t, attached, calls.Load())
	}
}

// quiet waits until done, and then for a tick of the loop.
func quiet(t *testing.T, f *fake, done func() bool) {
	t.Helper()
	for ctx := soon(t); !done(); runtime.Gosched() {
		require.NoError(t, ctx.Err(), "handlers are missing")
	}
	turn := make(chan struct{})
	require.NoError(t, f.ScheduleMicrotask(func() { close(turn) }))
	<-turn
}

// Rows 54 and 56: resolve, reject and Then race, on the loop and elsewhere. There is one settlement, the same for
// all; every handler is called once.
func TestSettlementRaces(t *testing.T) {
	races := 100_000
	switch {
	case testing.Short():
		races = 200
	case race.Enabled:
		races = 10_000
	}
	const batch = 500
	f, r, _ := startLoop(t, promise.Config{})
	other := errors.New("other")
	type contest struct {
		p       *promise.Promise
		resolve func(any)
		reject  func(error)
		calls   atomic.Int32
		sum     atomic.Int64
	}
	for range races / batch {
		contests := make([]contest, batch)
		var calls atomic.Int64
		const attachers = 3
		for i := range contests {
			c := &contests[i]
			c.p, c.resolve, c.reject = r.New()
		}
		attach := func(c *contest) {
			note := func(outcome int64) { c.calls.Add(1); c.sum.Add(outcome); calls.Add(1) }
			c.p.Then(func(v any) (any, error) { note(int64(v.(int))); return nil, nil },
				func(err error) (any, error) {
					if err == other {
						note(1_000_000)
					} else {
						note(1_000)
					}
					return nil, nil
				})
		}
		var wg sync.WaitGroup
		for _, do := range []func(c *contest){
			func(c *contest) { c.resolve(1) },
			func(c *contest) { c.reject(errTest); attach(c) },
			func(c *contest) { attach(c); c.reject(other) },
		} {
			wg.Go(func() {
				for i := range contests {
					do(&contests[i])
				}
			})
		}
		wg.Add(1)
		require.NoError(t, f.ScheduleMicrotask(func() {
			defer wg.Done()
			for i := range contests {
				attach(&contests[i])
				contests[i].resolve(1)
			}
		}))
		wg.Wait()
		quiet(t, f, func() bool { return calls.Load() >= batch*attachers })
		for i := range contests {
			c := &contests[i]
			sum := c.sum.Load()
			if n := c.calls.Load(); n != attachers || sum != attachers && sum != attachers*1_000 && sum != attachers*1_000_000 {
				t.Fatalf("%d calls of %d handlers; the outcomes sum up to %d", n, attachers, sum)
			}
		}
	}
}
