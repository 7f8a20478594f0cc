package js_test

// Tests of events and of their targets.

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/garbage"
)

// Each case is a program about one target; "x" is dispatched twice behind it, and every listener logs.
func TestListeners(t *testing.T) {
	type target struct {
		*js.EventTarget
		w      *world
		listen func(name string, then ...func(*js.Event)) *js.EventListener
	}
	for _, c := range []struct {
		name    string
		program func(t target)
		want    []string
	}{
		{"none", func(t target) {}, []string{"true", "true"}},
		{"in order", func(t target) {
			t.AddEventListener("x", t.listen("a"))
			t.AddEventListener("y", t.listen("y"))
			t.AddEventListener("x", t.listen("b"))
		}, []string{"a", "b", "true", "a", "b", "true"}},
		{"twice is once", func(t target) {
			a := t.listen("a")
			t.AddEventListener("x", a)
			t.AddEventListener("x", a, js.Once())
			t.AddEventListener("y", a)
		}, []string{"a", "true", "a", "true"}},
		{"once", func(t target) {
			t.AddEventListener("x", t.listen("a"), js.Once())
			t.AddEventListener("x", t.listen("b"))
		}, []string{"a", "b", "true", "b", "true"}},
		{"removed", func(t target) {
			a := t.listen("a")
			t.AddEventListener("x", a)
			t.AddEventListener("y", a)
			t.RemoveEventListener("x", a)
			t.RemoveEventListener("x", a)
			t.RemoveEventListener("x", t.listen("other"))
		}, []string{"true", "true"}},
		{"added while dispatching", func(t target) {
			late := t.listen("late")
			t.AddEventListener("x", t.listen("a", func(*js.Event) { t.AddEventListener("x", late) }))
		}, []string{"a", "true", "a", "late", "true"}},
		{"removed while dispatching", func(t target) {
			b := t.listen("b")
			t.AddEventListener("x", t.listen("a", func(*js.Event) { t.RemoveEventListener("x", b) }))
			t.AddEventListener("x", b)
			t.AddEventListener("x", t.listen("c"))
		}, []string{"a", "c", "true", "a", "c", "true"}},
		{"removed and added again while dispatching", func(t target) {
			b := t.listen("b")
			t.AddEventListener("x", t.listen("a", func(*js.Event) {
				t.RemoveEventListener("x", b)
				t.AddEventListener("x", b)
			}), js.Once())
			t.AddEventListener("x", b)
		}, []string{"a", "true", "b", "true"}},
		{"most removed and two added while dispatching", func(t target) {
			var listeners []*js.EventListener
			t.AddEventListener("x", t.listen("a", func(*js.Event) {
				for _, l := range listeners[1:9] {
					t.RemoveEventListener("x", l)
				}
				t.AddEventListener("x", listeners[4])
				t.AddEventListener("x", listeners[9])
				t.AddEventListener("x", listeners[2])
			}), js.Once())
			for _, name := range []string{"b", "c", "d", "e", "f", "g", "h", "i", "j", "k"} {
				l := t.listen(name)
				listeners = append(listeners, l)
				t.AddEventListener("x", l)
			}
		}, []string{"a", "b", "k", "true", "b", "k", "f", "d", "true"}},
		{"most removed", func(t target) {
			var listeners []*js.EventListener
			for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				l := t.listen(name)
				listeners = append(listeners, l)
				t.AddEventListener("x", l, js.Once())
			}
			for _, i := range []int{6, 0, 3, 1, 5} {
				t.RemoveEventListener("x", listeners[i])
			}
			t.AddEventListener("x", listeners[0])
			t.AddEventListener("x", listeners[4])
		}, []string{"c", "e", "h", "a", "true", "a", "true"}},
		{"stopped", func(t target) {
			t.AddEventListener("x", t.listen("a", (*js.Event).StopImmediatePropagation), js.Once())
			t.AddEventListener("x", t.listen("b"), js.Once())
		}, []string{"a", "true", "b", "true"}},
		{"prevented", func(t target) {
			t.AddEventListener("x", t.listen("a", (*js.Event).PreventDefault), js.Once())
		}, []string{"a", "false", "true"}},
		{"a panic and an exit", func(t target) {
			t.AddEventListener("x", t.listen("a", func(*js.Event) { panic(io.EOF) }))
			t.AddEventListener("x", t.listen("b"))
			t.AddEventListener("x", t.listen("c", func(*js.Event) { panic("c") }), js.Once())
		}, []string{"a", "b", "c", "true", "a", "b", "true"}},
		{"until a signal", func(t target) {
			c := t.w.NewAbortController()
			t.AddEventListener("x", t.listen("a", func(*js.Event) { c.Abort(nil) }), js.Until(c.Signal()))
			t.AddEventListener("x", t.listen("b"), js.Until(c.Signal()))
			t.AddEventListener("x", t.listen("c"))
		}, []string{"a", "c", "true", "c", "true"}},
		{"until a signal that is aborted", func(t target) {
			t.AddEventListener("x", t.listen("a"), js.Until(t.w.AbortedSignal(nil)))
		}, []string{"true", "true"}},
		{"another event within", func(t target) {
			t.AddEventListener("y", t.listen("y"))
			t.AddEventListener("x", t.listen("a", func(*js.Event) {
				if ok, err := t.DispatchEvent(js.NewEvent("y")); !ok || err != nil {
					t.w.t.Error(ok, err)
				}
			}))
			t.AddEventListener("x", t.listen("b"))
		}, []string{"a", "y", "b", "true", "a", "y", "b", "true"}},
		{"the same event within", func(t target) {
			t.AddEventListener("x", t.listen("a", func(e *js.Event) {
				var exception *js.DOMException
				if ok, err := t.DispatchEvent(e); ok || !errors.As(err, &exception) || exception.Name != "InvalidStateError" {
					t.w.t.Error(ok, err)
				}
			}))
		}, []string{"a", "true", "a", "true"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				et := target{EventTarget: w.NewEventTarget(), w: w}
				et.listen = func(name string, then ...func(*js.Event)) *js.EventListener {
					return js.NewEventListener(func(e *js.Event) {
						if e.Target() != et.EventTarget {
							t.Error("the event has another target")
						}
						w.say(name)
						for _, f := range then {
							f(e)
						}
					})
				}
				w.run(func() {
					c.program(et)
					for range 2 {
						e := &js.Event{Type: "x", Cancelable: true}
						ok, err := et.DispatchEvent(e)
						if err != nil || ok == e.DefaultPrevented() {
							t.Error(ok, err, e.DefaultPrevented())
						}
						w.say(map[bool]string{true: "true", false: "false"}[ok])
					}
				})
				w.want(c.want...)
				if len(w.faults) != 0 {
					t.Errorf("the loop had to report %v", w.faults)
				}
			})
		})
	}
}

func TestEvents(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		target := w.NewEventTarget()
		if _, err := target.DispatchEvent(js.NewEvent("x")); err != js.ErrNotOnLoop {
			t.Errorf("DispatchEvent off the loop: %v", err)
		}
		w.run(func() {
			if _, err := target.DispatchEvent(nil); err != eventloop.ErrNilCallback {
				t.Errorf("DispatchEvent of nil: %v", err)
			}
			target.AddEventListener("x", js.NewEventListener(func(e *js.CustomEvent) {
				if e.Detail != 42 || e.Type != "x" {
					t.Errorf("%+v", e)
				}
				e.PreventDefault() // without effect: it is not cancelable
				w.say("heard")
			}))
			e := js.NewCustomEvent("x", 42)
			for range 2 { // an event may be dispatched again
				if ok, err := target.DispatchEvent(e); !ok || err != nil {
					t.Error(ok, err)
				}
			}
		})
		w.want("heard", "heard")
	})
}

// A listener that panics or exits is reported to the adapter's handler, or else to the loop's.
func TestFaultsOfListeners(t *testing.T) {
	for _, handler := range []bool{true, false} {
		virtual(t, func(t *testing.T, w *world) {
			j := w.JS
			reported := &w.heard
			if !handler {
				j, _ = js.New(w.loop)
				reported = &w.faults
			}
			target := j.NewEventTarget()
			e := js.NewEvent("x")
			target.AddEventListener("x", js.NewEventListener(func(*js.Event) { panic(io.EOF) }))
			target.AddEventListener("x", js.NewEventListener(func(*js.Event) { runtime.Goexit() }))
			target.AddEventListener("x", js.NewEventListener(func(*js.Event) { w.say("third") }))
			w.run(func() {
				defer func() { w.must(0, w.loop.Submit(func() { target.DispatchEvent(e) })) }()
				target.DispatchEvent(e)
			})
			w.want("third", "third")
			if len(*reported) != 4 {
				t.Fatalf("%d faults: %v", len(*reported), *reported)
			}
			for _, want := range []error{io.EOF, eventloop.ErrGoexit} {
				n := 0
				for _, f := range *reported {
					if errors.Is(f, want) {
						n++
					}
				}
				if n != 2 {
					t.Errorf("%d faults are %v: %v", n, want, *reported)
				}
			}
		})
	}
}

// A listener that closes the loop and then panics or exits is reported all the same, and the other listeners run.
func TestFaultsOfListenersThatClose(t *testing.T) {
	for _, handler := range []bool{true, false} {
		for _, fails := range []func(){func() { panic(io.EOF) }, runtime.Goexit} {
			virtual(t, func(t *testing.T, w *world) {
				j := w.JS
				if !handler {
					j, _ = js.New(w.loop) // faults go to the loop
				}
				c := j.NewAbortController()
				c.Signal().OnAbort(func(error) { w.loop.Close(); fails() })
				c.Signal().OnAbort(func(error) { w.say("second") })
				w.run(func() { c.Abort(nil) })
				w.want("second")
				if heard := len(w.heard) == 1; heard != handler || len(w.heard)+len(w.faults) == 0 {
					t.Errorf("with a handler %v: it has heard %v, and the loop's %v", handler, w.heard, w.faults)
				}
				for _, f := range w.faults {
					if f.Value != io.EOF && f.Value != eventloop.ErrGoexit {
						t.Errorf("with a handler %v: the value is %v in another fault", handler, f.Value)
					}
				}
			})
		}
	}
}

// A panic handler that panics is reported by the loop, and the rest runs.
func TestHandlerThatPanics(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		j, err := js.New(w.loop, js.WithPanicHandler(func(*eventloop.PanicError) { panic("handler") }))
		if err != nil {
			t.Fatal(err)
		}
		c := j.NewAbortController()
		c.Signal().OnAbort(func(error) { panic("listener") })
		c.Signal().OnAbort(func(error) { w.say("second") })
		w.run(func() {
			c.Abort(nil)
			w.timeout(1, w.says("timer"))
		})
		w.want("second", "timer")
		if len(w.faults) != 1 || w.faults[0].Value != "handler" {
			t.Errorf("%v", w.faults)
		}
	})
}

// However many listeners there are, and in whatever order they are removed: the list of those that stay is copied a few
// times only, and removed ones leave little behind.
func TestManyListenersAreRemoved(t *testing.T) {
	const n = 1 << 10
	w := newWorld(t)
	defer w.loop.Close()
	for name, add := range map[string]func() (remove []func(), places func() int){
		"signal": func() (remove []func(), places func() int) {
			s := w.NewAbortController().Signal()
			for range n {
				remove = append(remove, s.OnAbort(func(error) {}))
			}
			return remove, s.Watchers
		},
		"target": func() (remove []func(), places func() int) {
			target := w.NewEventTarget()
			for range n {
				l := js.NewEventListener(func(*js.Event) {})
				target.AddEventListener("x", l)
				remove = append(remove, func() { target.RemoveEventListener("x", l) })
			}
			return remove, func() int { return target.Entries("x") }
		},
	} {
		for order, at := range map[string]func(i int) int{
			"oldest first": func(i int) int { return i },
			"newest first": func(i int) int { return n - 1 - i },
			"mixed":        func(i int) int { return i * 7 % n },
		} {
			remove, places := add()
			passes := 0
			for i := range n {
				before := places()
				remove[at(i)]()
				remove[at(i)]()
				if places() != before {
					passes++
				}
				if left := n - 1 - i; places() > 2*left {
					t.Fatalf("%s, %s: %d places for %d listeners", name, order, places(), left)
				}
			}
			if passes > 11 {
				t.Errorf("%s, %s: %d passes for %d listeners", name, order, passes, n)
			}
		}
	}
}

// A listener that was removed is not held by the signal that would have removed it, nor is its target.
func TestSignalForgetsRemovedListeners(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	c := w.NewAbortController()
	collected := make(chan struct{})
	func() {
		target := w.NewEventTarget()
		runtime.AddCleanup(target, func(done chan struct{}) { close(done) }, collected)
		l := js.NewEventListener(func(*js.Event) {})
		target.AddEventListener("x", l, js.Until(c.Signal()))
		target.RemoveEventListener("x", l)
	}()
	if !garbage.Closed(collected) {
		t.Error("the target is kept")
	}
	runtime.KeepAlive(c)
}
