package promise_test

// The requirements of Promises/A+ 1.1, as far as they make sense without thenables by property, by section number.

import (
	"errors"
	"fmt"
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

// world is what one case of the table works with.
type world struct {
	*testing.T
	*promise.Owner
	f *fake
}

// fulfilled calls check with a promise for each way to be fulfilled: before, at once, later, through another.
func (w world) fulfilled(check func(p *promise.Promise, settle func())) {
	check(w.Resolved("v"), func() {})
	p, resolve, _ := w.New()
	resolve("v")
	check(p, func() {})
	p, resolve, _ = w.New()
	check(p, func() { resolve("v") })
	q, resolve, _ := w.New()
	p, follow, _ := w.New()
	follow(q)
	check(p, func() { resolve("v") })
}

// rejected is fulfilled for rejections.
func (w world) rejected(check func(p *promise.Promise, settle func())) {
	check(w.Rejected(errTest), func() {})
	p, _, reject := w.New()
	reject(errTest)
	check(p, func() {})
	p, _, reject = w.New()
	check(p, func() { reject(errTest) })
	q, _, reject := w.New()
	p, follow, _ := w.New()
	follow(q)
	check(p, func() { reject(errTest) })
}

// derived calls check with a promise derived through each kind of handler; the handler does what fn does.
func (w world) derived(fn func() (any, error), check func(p *promise.Promise)) {
	w.fulfilled(func(p *promise.Promise, settle func()) {
		check(p.Then(func(any) (any, error) { return fn() }, nil))
		settle()
	})
	w.rejected(func(p *promise.Promise, settle func()) {
		check(p.Then(nil, func(error) (any, error) { return fn() }))
		settle()
	})
}

var aplus = []struct {
	section string
	run     func(w world)
}{
	{"2.1.2.1 a fulfilled promise stays fulfilled", func(w world) {
		for _, again := range []func(resolve func(any), reject func(error)){
			func(resolve func(any), _ func(error)) { resolve("other") },
			func(_ func(any), reject func(error)) { reject(errTest) },
		} {
			p, resolve, reject := w.New()
			var now, later, after probe
			now.on(p)
			resolve("v")
			again(resolve, reject)
			later.on(p)
			w.f.drain()
			again(resolve, reject)
			after.on(p)
			w.f.drain()
			now.want(w.T, "v", nil)
			later.want(w.T, "v", nil)
			after.want(w.T, "v", nil)
		}
	}},
	{"2.1.3.1 a rejected promise stays rejected", func(w world) {
		for _, again := range []func(resolve func(any), reject func(error)){
			func(resolve func(any), _ func(error)) { resolve("other") },
			func(_ func(any), reject func(error)) { reject(errors.New("other")) },
		} {
			p, resolve, reject := w.New()
			var now, after probe
			now.on(p)
			reject(errTest)
			again(resolve, reject)
			w.f.drain()
			again(resolve, reject)
			after.on(p)
			w.f.drain()
			now.want(w.T, nil, errTest)
			after.want(w.T, nil, errTest)
		}
	}},
	{"2.2.1 both handlers are optional", func(w world) {
		w.fulfilled(func(p *promise.Promise, settle func()) {
			var got probe
			p.Then(nil, func(error) (any, error) { w.Error("onRejected"); return nil, nil })
			got.on(p.Then(nil, nil))
			settle()
			w.f.drain()
			got.want(w.T, "v", nil)
		})
	}},
	{"2.2.2 onFulfilled is called once, with the value, after the promise is fulfilled", func(w world) {
		w.fulfilled(func(p *promise.Promise, settle func()) {
			var got probe
			got.on(p)
			require.Zero(w, got.calls())
			settle()
			require.Zero(w, got.calls())
			w.f.drain()
			got.want(w.T, "v", nil)
		})
	}},
	{"2.2.3 onRejected is called once, with the reason, after the promise is rejected", func(w world) {
		w.rejected(func(p *promise.Promise, settle func()) {
			var got probe
			got.on(p)
			settle()
			require.Zero(w, got.calls())
			w.f.drain()
			got.want(w.T, nil, errTest)
			require.Equal(w, errTest, got.errs[0], "the very error")
		})
	}},
	{"2.2.4 handlers are called with no other code on the stack", func(w world) {
		p, resolve, _ := w.New()
		inside := false
		w.Resolved(nil).Then(func(any) (any, error) {
			inside = true
			resolve("v")
			p.Then(func(any) (any, error) { require.False(w, inside); return nil, nil }, nil)
			inside = false
			return nil, nil
		}, nil)
		p.Then(func(any) (any, error) { require.False(w, inside); return nil, nil }, nil)
		w.f.drain()
	}},
	{"2.2.6 then may be called many times, in order, and one that fails stops no other", func(w world) {
		w.fulfilled(func(p *promise.Promise, settle func()) {
			var log []int
			var failed probe
			for i := range 5 {
				q := p.Then(func(any) (any, error) {
					log = append(log, i)
					if i == 1 {
						panic("1")
					}
					return nil, nil
				}, nil)
				if i == 1 {
					failed.on(q)
				}
			}
			settle()
			w.f.drain()
			require.Equal(w, []int{0, 1, 2, 3, 4}, log)
			require.Len(w, failed.errs, 1)
		})
	}},
	{"2.2.7 then returns another promise", func(w world) {
		p := w.Resolved(nil)
		require.NotSame(w, p, p.Then(nil, nil))
		require.NotSame(w, p, p.Catch(nil))
		require.NotSame(w, p, p.Finally(nil))
	}},
	{"2.2.7.1 a handler's value fulfils", func(w world) {
		for _, v := range []any{nil, 0, "", false, errTest, &struct{}{}, []int(nil)} {
			w.derived(func() (any, error) { return v, nil }, func(p *promise.Promise) {
				var got probe
				got.on(p)
				w.Cleanup(func() { got.want(w.T, v, nil) })
			})
		}
		w.f.drain()
	}},
	{"2.2.7.2 a handler's error or panic rejects", func(w world) {
		var typed *loopapi.PanicError
		check := func(fn func() (any, error), is func(err error) bool) {
			w.derived(fn, func(p *promise.Promise) {
				var got probe
				got.on(p)
				w.Cleanup(func() {
					require.Len(w, got.errs, 1)
					require.True(w, is(got.errs[0]), "%v", got.errs[0])
				})
			})
		}
		check(func() (any, error) { return "v", errTest }, func(err error) bool { return err == errTest })
		check(func() (any, error) { panic(errTest) },
			func(err error) bool { return errors.Is(err, errTest) && errors.As(err, &typed) && len(typed.Stack) > 0 })
		check(func() (any, error) { panic("text") },
			func(err error) bool { return errors.As(err, &typed) && typed.Value == "text" })
		check(func() (any, error) { panic(nil) },
			func(err error) bool { return errors.As(err, &typed) && !errors.Is(err, loopapi.ErrGoexit) })
		w.f.drain()
	}},
	{"2.2.7.3 without onFulfilled the value passes on", func(w world) {
		w.fulfilled(func(p *promise.Promise, settle func()) {
			var got, caught, last probe
			got.on(p.Then(nil, nil))
			caught.on(p.Catch(func(error) (any, error) { w.Error("Catch"); return nil, nil }))
			last.on(p.Finally(nil))
			settle()
			w.f.drain()
			got.want(w.T, "v", nil)
			caught.want(w.T, "v", nil)
			last.want(w.T, "v", nil)
		})
	}},
	{"2.2.7.4 without onRejected the reason passes on", func(w world) {
		w.rejected(func(p *promise.Promise, settle func()) {
			var got, then, last probe
			got.on(p.Then(nil, nil))
			then.on(p.Then(func(any) (any, error) { w.Error("Then"); return nil, nil }, nil))
			last.on(p.Finally(nil))
			settle()
			w.f.drain()
			got.want(w.T, nil, errTest)
			then.want(w.T, nil, errTest)
			last.want(w.T, nil, errTest)
		})
	}},
	{"2.3.1 a promise cannot follow itself", func(w world) {
		var got [5]probe
		p, resolve, _ := w.New()
		got[0].on(p)
		resolve(p)

		var q *promise.Promise
		q = w.Resolved(nil).Then(func(any) (any, error) { return q, nil }, nil)
		got[1].on(q)

		a, resolveA, _ := w.New() // a cycle of two, then of a chain
		b, resolveB, _ := w.New()
		got[2].on(a)
		resolveA(b)
		resolveB(a)

		c, resolveC, _ := w.New()
		got[3].on(c)
		resolveC(c.Then(nil, nil).Catch(nil).Finally(nil))
		r, resolveR, _ := w.New()
		got[4].on(r)
		resolveR(w.Resolved(nil).Then(func(any) (any, error) { return r, nil }, nil))
		w.f.drain()
		for i := range got {
			got[i].want(w.T, nil, loopapi.ErrPromiseCycle)
		}
	}},
	{"2.3.2.1 a promise that follows a pending one is pending", func(w world) {
		q, resolve, _ := w.New()
		w.derived(func() (any, error) { return q, nil }, func(p *promise.Promise) {
			var got probe
			got.on(p)
			w.f.drain()
			require.Zero(w, got.calls())
			w.Cleanup(func() { got.want(w.T, "late", nil) })
		})
		w.f.drain()
		resolve("late")
		w.f.drain()
	}},
	{"2.3.2.2 a promise that follows a fulfilled one is fulfilled with its value", func(w world) {
		w.fulfilled(func(q *promise.Promise, settle func()) {
			w.derived(func() (any, error) { return q, nil }, func(p *promise.Promise) {
				var got probe
				got.on(p)
				w.Cleanup(func() { got.want(w.T, "v", nil) })
			})
			w.f.drain()
			settle()
			w.f.drain()
		})
	}},
	{"2.3.2.3 a promise that follows a rejected one is rejected with its reason", func(w world) {
		w.rejected(func(q *promise.Promise, settle func()) {
			w.derived(func() (any, error) { return q, nil }, func(p *promise.Promise) {
				var got probe
				got.on(p)
				w.Cleanup(func() { got.want(w.T, nil, errTest) })
			})
			w.f.drain()
			settle()
			w.f.drain()
		})
	}},
	{"2.3.3.3.3 the first decision counts, also when it is to follow a pending promise", func(w world) {
		q, resolveQ, _ := w.New()
		p, resolve, reject := w.New()
		var got probe
		got.on(p)
		resolve(q)
		resolve("other")
		reject(errTest)
		w.f.drain()
		require.Zero(w, got.calls())
		resolveQ("v")
		w.f.drain()
		got.want(w.T, "v", nil)
	}},
	{"2.3.3.4 a nil *Promise is a nil value", func(w world) {
		var got probe
		got.on(w.Resolved((*promise.Promise)(nil)))
		got.on(w.Try(func() (any, error) { return (*promise.Promise)(nil), nil }))
		got.on(w.Race(nil))
		w.f.drain()
		require.Equal(w, []any{nil, nil, nil}, got.values)
	}},
}

func TestPromisesAPlus(t *testing.T) {
	for _, c := range aplus {
		t.Run(c.section, func(t *testing.T) {
			f, r := newOwner(promise.Config{})
			c.run(world{t, r, f})
		})
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

func TestString(t *testing.T) {
	_, r := newOwner(promise.Config{})
	p, _, _ := r.New()
	require.Equal(t, "pending promise, fulfilled promise, rejected promise",
		fmt.Sprintf("%v, %v, %v", p, r.Resolved(1), promise.Rejected[int](&r.Realm, errTest)))
}
