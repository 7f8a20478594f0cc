package js_test

// Tests of the promise statics.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// Each of the statics, called on the loop and on another goroutine; the outcome is awaited outside of the loop.
func TestPromiseStatics(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(j *js.JS) *eventloop.Promise
		value string // as fmt prints it
		is    error
	}{
		{"Resolve", func(j *js.JS) *eventloop.Promise { return j.Resolve(1) }, "1", nil},
		{"Resolve with a promise", func(j *js.JS) *eventloop.Promise {
			p := j.Resolve(1)
			return j.Resolve(j.Resolve(p) == p)
		}, "true", nil},
		{"Reject", func(j *js.JS) *eventloop.Promise { return j.Reject(io.EOF) }, "<nil>", io.EOF},
		{"All", func(j *js.JS) *eventloop.Promise { return j.All(j.Resolve(1), nil, j.Resolve(2)) }, "[1 <nil> 2]", nil},
		{"All that fails", func(j *js.JS) *eventloop.Promise {
			return j.All(j.Resolve(1), j.Reject(io.EOF))
		}, "<nil>", io.EOF},
		{"All of none", func(j *js.JS) *eventloop.Promise { return j.All() }, "[]", nil},
		{"AllSettled", func(j *js.JS) *eventloop.Promise {
			return j.AllSettled(j.Reject(io.EOF), j.Resolve(1))
		}, "[{<nil> EOF} {1 <nil>}]", nil},
		{"Race", func(j *js.JS) *eventloop.Promise { return j.Race(j.Race(), j.Resolve(1), j.Resolve(2)) }, "1", nil},
		{"Race that fails", func(j *js.JS) *eventloop.Promise {
			return j.Race(j.Reject(io.EOF), j.Resolve(1))
		}, "<nil>", io.EOF},
		{"Any", func(j *js.JS) *eventloop.Promise { return j.Any(j.Reject(io.EOF), j.Resolve(1)) }, "1", nil},
		{"Any that fails", func(j *js.JS) *eventloop.Promise { return j.Any(j.Reject(io.EOF)) }, "<nil>", io.EOF},
		{"Try", func(j *js.JS) *eventloop.Promise { return j.Try(func() (any, error) { return 1, nil }) }, "1", nil},
		{"Try with a promise", func(j *js.JS) *eventloop.Promise {
			return j.Try(func() (any, error) { return j.Resolve(1), nil })
		}, "1", nil},
		{"Try that fails", func(j *js.JS) *eventloop.Promise {
			return j.Try(func() (any, error) { return 1, io.EOF })
		}, "<nil>", io.EOF},
		{"Try that panics", func(j *js.JS) *eventloop.Promise {
			return j.Try(func() (any, error) { panic(io.EOF) })
		}, "<nil>", io.EOF},
		{"Try of nothing", func(j *js.JS) *eventloop.Promise { return j.Try(nil) }, "<nil>", eventloop.ErrNilCallback},
		{"WithResolvers", func(j *js.JS) *eventloop.Promise {
			p, resolve, reject := j.WithResolvers()
			resolve(1)
			reject(io.EOF)
			return p
		}, "1", nil},
		{"WithResolvers, rejected", func(j *js.JS) *eventloop.Promise {
			p, resolve, reject := j.WithResolvers()
			reject(io.EOF)
			resolve(1)
			return p
		}, "<nil>", io.EOF},
	} {
		for _, where := range []string{"on the loop", "elsewhere"} {
			t.Run(c.name+" "+where, func(t *testing.T) {
				virtual(t, func(t *testing.T, w *world) {
					release := w.loop.Hold()
					go w.loop.Run(context.Background())
					channel := make(chan (<-chan eventloop.Result), 1)
					get := func() { channel <- c.make(w.JS).ToChannel() }
					if where == "elsewhere" {
						get()
					} else if err := w.loop.Submit(get); err != nil {
						t.Fatal(err)
					}
					got := <-<-channel
					if fmt.Sprint(got.Value) != c.value || !errors.Is(got.Err, c.is) || (c.is == nil) != (got.Err == nil) {
						t.Errorf("%v, %v", got.Value, got.Err)
					}
					release()
					<-w.loop.Done()
				})
			})
		}
	}
}

// Try's function runs where and when it is called.
func TestTryRunsAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		where := func() (any, error) { w.say(fmt.Sprint("on the loop: ", w.loop.OnLoop())); return nil, nil }
		w.Try(where)
		w.say("outside")
		w.run(func() {
			w.Try(where).Then(w.then("then"), nil)
			w.say("inside")
		})
		w.want("on the loop: false", "outside", "on the loop: true", "inside", "then")
	})
}

// What the end of the loop does to promises: handlers run at a shutdown, no wait lasts for ever, and nothing is reported.
func TestPromisesAtTheEnd(t *testing.T) {
	for _, end := range []string{"exit", "shutdown", "close"} {
		t.Run(end, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				var p *eventloop.Promise
				var resolve func(any)
				w.run(func() {
					p, resolve, _ = w.WithResolvers()
					p.Catch(w.caught("got "))
					p.Then(w.then("no"), nil)
					w.timeout(10, func() {
						switch end {
						case "shutdown":
							w.timeout(5, func() { resolve("late") })
							w.loop.Shutdown(context.Background())
						case "close":
							w.loop.Close()
						}
					})
				})
				resolve(1)
				if end == "close" {
					w.want()
				} else {
					w.want("got " + eventloop.ErrLoopTerminated.Error())
				}
				late, _, _ := w.WithResolvers()
				for _, p := range []*eventloop.Promise{p, late, late.Then(w.then("no"), nil)} {
					if _, err := p.Await(context.Background()); !errors.Is(err, eventloop.ErrLoopTerminated) {
						t.Error(err)
					}
				}
			})
		})
	}
}

// A rejection in any kind of callback is reported once, after the ticks and microtasks of that callback and before the
// next one.
func TestUnhandledRejections(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(w *world, callback, next func())
	}{
		{"task", func(w *world, callback, next func()) { w.loop.Submit(callback); w.loop.Submit(next) }},
		{"completion", func(w *world, callback, next func()) {
			w.loop.SubmitInternal(callback)
			w.loop.SubmitInternal(next)
		}},
		{"timeout", func(w *world, callback, next func()) { w.timeout(5, callback); w.timeout(5, next) }},
		{"interval", func(w *world, callback, next func()) {
			var id js.ID
			id = w.interval(5, func() { callback(); w.ClearInterval(id) })
			w.timeout(5, next)
		}},
		{"immediate", func(w *world, callback, next func()) { w.immediate(callback); w.immediate(next) }},
		{"tick", func(w *world, callback, next func()) { w.tick(callback); w.immediate(next) }},
		{"microtask", func(w *world, callback, next func()) { w.microtask(callback); w.immediate(next) }},
		{"handler", func(w *world, callback, next func()) {
			w.sleep(5, nil).Then(doing(callback), nil)
			w.timeout(5, next)
		}},
		{"event listener", func(w *world, callback, next func()) {
			target := w.NewEventTarget()
			target.AddEventListener("x", js.NewEventListener(func(*js.Event) { callback() }))
			w.timeout(5, func() { target.DispatchEvent(js.NewEvent("x")) })
			w.timeout(5, next)
		}},
		{"abort listener", func(w *world, callback, next func()) {
			w.timeoutSignal(5).OnAbort(func(error) { callback() })
			w.timeout(5, next)
		}},
		{"abort listener, from elsewhere", func(w *world, callback, next func()) {
			c := w.NewAbortController()
			c.Signal().OnAbort(func(error) { callback() })
			release := w.loop.Hold()
			go func() {
				c.Abort(nil)
				w.loop.Submit(next)
				release()
			}()
		}},
	} {
		for _, how := range []struct {
			name string
			fail func(w *world)
		}{
			{"rejected", func(w *world) { w.failed("e") }},
			{"settled", func(w *world) { _, _, reject := w.WithResolvers(); reject(errors.New("e")) }},
			{"thrown", func(w *world) { w.Try(func() (any, error) { return nil, errors.New("e") }) }},
			{"by a handler", func(w *world) {
				w.Resolve(nil).Then(func(any) (any, error) { return nil, errors.New("e") }, nil)
			}},
			{"passed on", func(w *world) { w.failed("e").Then(w.then("no"), nil).Finally(nil) }},
			{"combined", func(w *world) { w.All(w.failed("e"), w.Race(w.failed("f"))) }},
		} {
			t.Run(c.name+" "+how.name, func(t *testing.T) {
				virtual(t, func(t *testing.T, w *world) {
					w.run(func() {
						c.set(w, func() {
							w.say("callback")
							how.fail(w)
							w.microtask(func() { w.tick(w.says("last")) })
						}, w.says("next"))
					})
					w.want("callback", "last", "unhandled e", "next")
				})
			})
		}
	}
}

// A worker's failure that has no handler is reported; one that is handled in time is not.
func TestUnhandledWorker(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		fail := func(context.Context) (any, error) { return nil, io.EOF }
		w.run(func() {
			w.loop.Promisify(context.Background(), fail).Catch(w.caught("got "))
			w.loop.Promisify(context.Background(), fail)
		})
		slices.Sort(w.log)
		w.want("got EOF", "unhandled EOF")
	})
}

// A handler of unhandled rejections that fails is reported as any callback is; the other rejections are too, and the
// loop goes on.
func TestUnhandledHandlerFails(t *testing.T) {
	for name, failing := range map[string]func(err error){
		"panic":     func(err error) { panic(err) },
		"panic nil": func(error) { panic(nil) },
		"exit":      func(error) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w *world
				jobs := 0
				w = newWorld(t, eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) {
					w.say("unhandled " + err.Error())
					w.microtask(func() { jobs++ })
					failing(err)
				}))
				w.run(func() {
					w.failed("a")
					w.tick(func() { w.failed("b") })
					w.loop.Submit(w.says("task"))
					w.immediate(func() { w.say("immediate"); w.failed("c") })
					w.timeout(5, w.says("timer"))
				})
				w.want("unhandled a", "unhandled b", "task", "immediate", "unhandled c", "timer")
				if len(w.faults) != 3 || jobs != 3 {
					t.Errorf("%d jobs, faults: %v", jobs, w.faults)
				}
			})
		})
	}
}

// Many goroutines settle a promise at once, on the loop and elsewhere: one decides, none is stuck, and all handlers, also
// those that are attached meanwhile, are called once and see the same.
func TestSettledByMany(t *testing.T) {
	for range 200 {
		w := newWorld(t)
		release := w.loop.Hold()
		p, resolve, reject := w.WithResolvers()
		var all sync.WaitGroup
		var seen []string
		attach := func() {
			p.Then(func(v any) (any, error) { seen = append(seen, fmt.Sprint(v)); return nil, nil },
				func(err error) (any, error) { seen = append(seen, err.Error()); return nil, nil })
		}
		attach()
		for g := range 4 {
			all.Go(func() {
				if attach(); g%2 == 0 {
					resolve(g)
				} else {
					reject(fmt.Errorf("error %d", g))
				}
				attach()
				resolve("late")
			})
		}
		go func() {
			all.Wait()
			release()
		}()
		w.run(func() {
			resolve("loop")
			reject(io.EOF)
			attach()
		})
		if len(seen) != 10 || len(slices.Compact(seen)) != 1 || seen[0] == "late" {
			t.Fatalf("%q", seen)
		}
		w.want()
	}
}

// A promise that would wait for itself is rejected, wherever that is noticed, and the loop goes on.
func TestSelfResolution(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(w *world) *eventloop.Promise
	}{
		{"on the loop", func(w *world) *eventloop.Promise {
			p, resolve, _ := w.WithResolvers()
			resolve(p)
			return p
		}},
		{"elsewhere", func(w *world) *eventloop.Promise {
			p, resolve, _ := w.WithResolvers()
			release := w.loop.Hold()
			go func() { resolve(p); release() }()
			return p
		}},
		{"by its handler", func(w *world) *eventloop.Promise {
			var p *eventloop.Promise
			p = w.Resolve(nil).Then(func(any) (any, error) { return p, nil }, nil)
			return p
		}},
		{"by two that follow each other", func(w *world) *eventloop.Promise {
			p, resolve, _ := w.WithResolvers()
			q, resolveQ, _ := w.WithResolvers()
			resolve(q)
			w.timeout(5, func() { resolveQ(p) })
			return p
		}},
		{"by one derived from it", func(w *world) *eventloop.Promise {
			p, resolve, _ := w.WithResolvers()
			resolve(p.Then(nil, nil).Finally(nil))
			return p
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.run(func() {
					c.make(w).Catch(func(err error) (any, error) {
						if !errors.Is(err, eventloop.ErrPromiseCycle) {
							t.Error(err)
						}
						w.say("caught")
						return nil, nil
					})
					w.timeout(10, w.says("timer"))
				})
				w.log = slices.DeleteFunc(w.log, func(s string) bool { // of derived ones
					return strings.HasPrefix(s, "unhandled")
				})
				w.want("caught", "timer")
			})
		})
	}
}
