package promise_test

// What becomes of promises when an ending loop refuses some of their microtasks.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

// elsewhere runs fn on another goroutine, to its end.
func elsewhere(fn func()) {
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	<-done
}

// ending is a loop that ends while a program runs, beside one that does not.
type ending struct {
	*testing.T
	*promise.Owner
	f       *fake
	other   *promise.Owner
	otherF  *fake
	work    promise.Promise // of a worker that runs until all others have an answer
	closed  bool
	waiting []*waiting
}

// waiting is a wait for a promise, and its answer.
type waiting struct {
	p      *promise.Promise
	what   string
	work   bool // its answer may take until the worker is done
	ch     <-chan promise.Result
	answer *promise.Result
}

// wait waits for p, on the loop and on another goroutine.
func (e *ending) wait(what string, p *promise.Promise) {
	e.waiting = append(e.waiting, &waiting{p: p, what: what, ch: p.ToChannel()})
	elsewhere(func() {
		e.waiting = append(e.waiting, &waiting{p: p, what: what + ", elsewhere", ch: p.ToChannel()})
	})
}

// waitForWork is wait for a promise whose answer may take until the worker is done.
func (e *ending) waitForWork(what string, p *promise.Promise) {
	e.wait(what, p)
	for _, w := range e.waiting[len(e.waiting)-2:] {
		w.work = true
	}
}

// handler returns one that is called once at most, and returns v.
func (e *ending) handler(v any) func(any) (any, error) {
	called := false
	return func(any) (any, error) {
		if called || e.closed || !e.f.OnLoop() {
			e.Errorf("called again: %v, after the end: %v, on the loop: %v", called, e.closed, e.f.OnLoop())
		}
		called = true
		return v, nil
	}
}

// recovers returns a handler that turns an error into a value.
func (e *ending) recovers() func(error) (any, error) {
	h := e.handler("recovered")
	return func(err error) (any, error) { return h(err) }
}

// finish runs everything, and rejects pending promises.
func (e *ending) finish() {
	for range 2 { // each loop hears of promises that the other one settles
		e.f.finish(e.Owner)
		e.otherF.checkpoint(e.other)
	}
}

// answered makes sure that every wait has an answer, and that all answers about a promise are the same.
func (e *ending) answered(when string, work bool) {
	e.Helper()
	now := map[*promise.Promise]promise.Result{}
	for _, w := range e.waiting {
		if w.work && !work {
			continue
		}
		if w.answer == nil {
			if len(w.ch) == 0 {
				e.Fatalf("nobody answers who waits for: %s, %s", w.what, when)
			}
			got := <-w.ch
			w.answer = &got
		}
		again, asked := now[w.p]
		if !asked {
			late := w.p.ToChannel()
			if len(late) == 0 {
				e.Fatalf("nobody answers who begins to wait for: %s, %s", w.what, when)
			}
			again = <-late
			now[w.p] = again
		}
		if fmt.Sprint(*w.answer) != fmt.Sprint(again) {
			e.Fatalf("%s: %v, and %s %v", w.what, *w.answer, when, again)
		}
	}
}

// endings are programs, in steps that take place on the loop; it may begin to end before each of them.
var endings = map[string]func(e *ending) []func(){
	"a promise that is settled, and derived from, elsewhere": func(e *ending) []func() {
		var p *promise.Promise
		var resolve func(any)
		return []func(){
			func() { p, resolve, _ = e.New(); e.wait("root", p) },
			func() { elsewhere(func() { e.wait("derived", p.Then(e.handler(1), e.recovers()).Finally(nil)) }) },
			func() { elsewhere(func() { resolve(1); resolve(2) }); e.wait("resolved", p) },
			func() { e.wait("late", p.Then(e.handler(2), nil)); resolve(3) },
			func() { elsewhere(func() { e.wait("later", p.Catch(e.recovers())) }); e.wait("root again", p) },
		}
	},
	"a promise that is settled, and derived from, on the loop": func(e *ending) []func() {
		p, _, reject := e.New()
		return []func(){
			func() {
				c := p.Then(e.handler(1), nil)
				e.wait("derived", c)
				e.wait("fork", c.Then(e.handler(2), e.recovers()))
				e.wait("chain", c.Catch(e.recovers()).Then(e.handler(3), nil).Finally(func() error { return errTest }))
			},
			func() { reject(errTest); e.wait("rejected", p) },
			func() { e.wait("late", p.Catch(e.recovers())) },
		}
	},
	"promises that follow others": func(e *ending) []func() {
		p, resolve, _ := e.New()
		q, resolveQ, _ := e.New()
		return []func(){
			func() { e.wait("handler's", p.Then(e.handler(q), e.recovers())) },
			func() { elsewhere(func() { resolve(q) }); e.wait("follower", p) },
			func() { e.wait("derived", p.Then(e.handler(p), e.recovers()).Then(nil, e.recovers())) },
			func() { resolveQ("q"); e.wait("followed", q) },
			func() { never, _, _ := e.New(); e.wait("never", e.Resolved(1).Then(e.handler(never), nil)) },
			func() { elsewhere(func() { e.wait("tried", e.Try(func() (any, error) { return q, nil })) }) },
		}
	},
	"combinators": func(e *ending) []func() {
		p, resolve, _ := e.New()
		q, _, reject := e.New()
		combine := func(where string) {
			foreign, _, _ := e.other.New()
			for name, c := range map[string]func(...*promise.Promise) *promise.Promise{
				"All": e.All, "AllSettled": e.AllSettled, "Race": e.Race, "Any": e.Any,
			} {
				e.wait(name+where, c(p, q, p, e.Resolved(1)).Then(e.handler(1), e.recovers()))
				e.wait(name+" of one"+where, c(p))
				e.wait(name+" of none"+where, c())
				e.wait(name+" of another loop's"+where, c(p, foreign, e.other.Resolved(2), foreign, q))
				e.waitForWork(name+" with work"+where, c(&e.work, p))
			}
		}
		return []func(){
			func() { combine("") },
			func() { elsewhere(func() { combine(", called elsewhere") }) },
			func() { elsewhere(func() { resolve(1) }) },
			func() { reject(errTest) },
			func() { combine(", late") },
		}
	},
	"promises of two loops": func(e *ending) []func() {
		p, resolve, _ := e.New()
		q, resolveQ, _ := e.other.New()
		never, _, _ := e.other.New()
		return []func(){
			func() { e.wait("here", e.Resolved(q)); e.wait("there", e.other.Resolved(p)) },
			func() {
				elsewhere(func() { e.wait("from elsewhere", e.Resolved(q)); e.wait("to elsewhere", e.other.Resolved(p)) })
			},
			func() {
				e.wait("there and back", e.Resolved(e.other.Resolved(p).Then(nil, nil)).Then(e.handler(never), nil))
			},
			func() { resolve(1); resolveQ(2); e.otherF.checkpoint(e.other) },
			func() { e.wait("late", e.Resolved(q)); e.wait("late there", e.other.Resolved(p)) },
		}
	},
	"cycles": func(e *ending) []func() {
		cycle := func(link func(*promise.Promise) *promise.Promise) *promise.Promise {
			p, resolve, _ := e.New()
			last := p
			for range 40 { // longer than the search for cycles looks
				last = link(last)
			}
			resolve(last)
			return p
		}
		return []func(){
			func() { root, _, _ := e.New(); e.wait("root", root.Then(nil, nil)) },
			func() {
				e.wait("cycle", cycle(func(p *promise.Promise) *promise.Promise { return p.Then(nil, nil) }))
			},
			func() {
				var p *promise.Promise
				p = e.Resolved(1).Then(func(any) (any, error) { return e.All(p), nil }, nil)
				e.wait("a handler's cycle", p)
			},
			func() {
				e.wait("settled cycle", cycle(func(p *promise.Promise) *promise.Promise { return e.AllSettled(p) }))
			},
			func() {
				e.wait("cycles of cycles", cycle(func(p *promise.Promise) *promise.Promise {
					q, follow, _ := e.New()
					follow(p)
					return e.Race(e.Race(q, p), e.Race(q))
				}))
			},
			func() {
				p, resolve, _ := e.New()
				resolve(e.All(p, &e.work).Catch(e.recovers()))
				e.wait("cycle with work", p)
				e.wait("derived from a cycle", p.Then(e.handler(1), nil))
			},
			func() { // a chain as long, and no cycle
				last := &e.work
				for range 40 {
					p, resolve, _ := e.New()
					resolve(last)
					last = p
				}
				e.waitForWork("long way to work", e.Race(last))
				p, resolve, _ := e.New()
				resolve(e.All(last.Then(nil, nil), last.Then(nil, nil)))
				e.waitForWork("two ways to work", p)
			},
		}
	},
	"work": func(e *ending) []func() {
		return []func(){
			func() { e.waitForWork("work", &e.work) },
			func() { e.waitForWork("derived", e.work.Then(e.handler(1), nil).Then(e.handler(2), e.recovers())) },
			func() { elsewhere(func() { e.waitForWork("elsewhere", e.work.Finally(nil)) }) },
			func() { never, _, _ := e.New(); e.waitForWork("never", e.work.Then(e.handler(never), nil)) },
			func() { e.waitForWork("there", e.other.Resolved(&e.work)) },
		}
	},
	"rejections": func(e *ending) []func() {
		return []func(){
			func() { e.Rejected(errTest); e.wait("rejected", e.Rejected(errTest)) },
			func() {
				elsewhere(func() { e.Rejected(errTest); e.wait("elsewhere", e.Rejected(errTest).Then(nil, nil)) })
			},
			func() { e.Refused(errTest); e.wait("refused", e.Refused(errTest).Catch(e.recovers())) },
			func() { e.wait("none", e.Any()) },
		}
	},
}

// refusals are what an ending loop may refuse, each with a number from 1 to that of a program's last call, or one more.
var refusals = map[string]func(k, call int64) bool{
	"one":         func(k, call int64) bool { return call == k },
	"from one on": func(k, call int64) bool { return call >= k },
	"by chance":   func(k, call int64) bool { return rand.New(rand.NewPCG(uint64(k), uint64(call))).IntN(2) == 0 },
}

// Whatever an ending loop refuses, and whenever its end begins: every wait has an answer when the loop has run what it
// accepted, or, if it is for a worker, when the worker is done. The answer is the same for all, and no handler is called
// twice, on another goroutine or too late.
func TestRefusals(t *testing.T) {
	stride := int64(1)
	if testing.Short() || race.Enabled {
		stride = 211
	}
	for name, program := range endings {
		for which, refuse := range refusals {
			t.Run(name+"/"+which, func(t *testing.T) {
				for endAt, steps := 0, 1; endAt <= steps; endAt++ {
					for k, calls := int64(1), int64(1); k <= calls+1; k += min(k, stride) {
						for _, turns := range []bool{false, true} {
							e := &ending{T: t}
							e.f, e.Owner = newOwner(promise.Config{OnUnhandled: func(*promise.Promise, error) {}})
							e.otherF, e.other = newOwner(promise.Config{})
							e.f.refuse = func(call int64) bool { return refuse(k, call) }
							when := fmt.Sprintf("the end at step %d, number %d of %d, turns between: %v", endAt, k, calls, turns)
							steps, calls = e.run(program, endAt, turns, when)
						}
					}
				}
			})
		}
	}
}

// run runs a program, and tells how many steps it has, and how often it called the loop.
func (e *ending) run(program func(e *ending) []func(), endAt int, turns bool, when string) (int, int64) {
	e.Begin(&e.work)
	steps := program(e)
	for i, step := range steps {
		if i == endAt {
			e.finish()
		}
		if step(); turns {
			e.f.checkpoint(e.Owner)
		}
	}
	e.finish()
	e.answered("while work goes on, "+when, false)
	e.Finish(&e.work, false, "done")
	e.finish()
	e.answered("when it is done, "+when, true)
	e.f.close(e.Owner)
	e.closed = true
	e.otherF.checkpoint(e.other)
	e.answered("after the end, "+when, true)
	return len(steps), e.f.calls.Load()
}

// A chain of any length is rejected when the job at its beginning is refused.
func TestRefusedChain(t *testing.T) {
	links := 1_000_000
	if testing.Short() {
		links = 20_000
	}
	f, r := newOwner(promise.Config{})
	p, resolve, _ := r.New()
	last := p
	for range links {
		last = last.Then(func(any) (any, error) { t.Error("called"); return nil, nil }, nil)
	}
	ch := r.All(r.Race(last)).ToChannel()
	f.drain()
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20)) // a call per link would need more
	f.refuse = func(int64) bool { return true }
	resolve(1)
	require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, ch))
	require.Equal(t, "fulfilled promise", p.String())
}

// A promise that the loop refuses has the error of its end. It is not reported as unhandled, nor is the one that it was
// derived from.
func TestRefusedIsHandled(t *testing.T) {
	end := errors.New("this is the end")
	for _, begun := range []bool{false, true} {
		var reported []error
		report := promise.Config{OnUnhandled: func(_ *promise.Promise, err error) { reported = append(reported, err) }}
		f, r := newOwner(report)
		otherF, other := newOwner(report)
		foreign, _, rejectForeign := other.New()
		failing := []*promise.Promise{new(promise.Promise), new(promise.Promise)}
		for _, p := range failing {
			r.Begin(p)
		}
		want := loopapi.ErrLoopTerminated
		if begun {
			require.False(t, r.RejectAll(end))
			want = end
		}
		f.refuse = func(int64) bool { return true }
		value := r.Resolved(1)
		for _, q := range []*promise.Promise{value.Then(increment, nil), value.Catch(nil), r.All(value), r.Race(value)} {
			require.Equal(t, promise.Result{Err: want}, receive(t, q.ToChannel()))
		}
		value.Then(nil, nil)
		elsewhere(func() {
			for _, q := range []*promise.Promise{failing[0].Then(nil, nil), r.AllSettled(failing[1])} {
				_, err := q.Await(soon(t))
				require.Equal(t, want, err)
			}
			failing[0].Then(nil, nil)
			r.Rejected(errTest)
			r.Race(nil, foreign)
		})
		rejectForeign(errTest)
		otherF.checkpoint(other)
		r.Rejected(errTest)
		next := f.calls.Load() + 1
		f.refuse = func(call int64) bool { return call == next }
		value.Then(nil, nil)
		f.refuse = nil
		require.NoError(t, f.ScheduleMicrotask(func() {})) // there is a checkpoint
		for _, p := range failing {
			r.Finish(p, true, errTest)
		}
		calls := f.calls.Load()
		require.Equal(t, "rejected promise", r.Refused(errTest).String())
		require.Equal(t, promise.Result{Err: errTest}, receive(t, r.Refused(errTest).ToChannel()))
		require.Equal(t, calls, f.calls.Load(), "nothing is queued")
		f.finish(r)
		require.Empty(t, reported)
	}
}
