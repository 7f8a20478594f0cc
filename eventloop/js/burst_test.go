package js_test

// After a burst the adapter gives back the memory that the burst needed, although it goes on.

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/garbage"
)

func TestBurstsLeaveNoMemory(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		name  string
		burst func(w *world) (goesOn any)
	}{
		{"timers", func(w *world) any {
			var ids []js.ID
			for range n {
				ids = append(ids, w.timeout(1e9, func() {}))
			}
			for _, id := range ids {
				w.ClearTimeout(id)
			}
			return w.JS
		}},
		{"signals that follow", func(w *world) any {
			c := w.NewAbortController()
			var followers []*js.AbortSignal
			for range n {
				followers = append(followers, w.AnySignal(c.Signal()))
			}
			runtime.KeepAlive(followers) // and not for longer
			if !garbage.Until(func() bool { return c.Signal().Followers() == 0 }) {
				t.Errorf("%d forgotten followers", c.Signal().Followers())
			}
			return c
		}},
		{"listeners of a signal", func(w *world) any {
			s := w.NewAbortController().Signal()
			s.OnAbort(func(error) {})
			var removes []func()
			for range n {
				removes = append(removes, s.OnAbort(func(error) {}))
			}
			for _, remove := range removes {
				remove()
			}
			return s
		}},
		{"listeners of a target", func(w *world) any {
			target := w.NewEventTarget()
			var listeners []*js.EventListener
			for range n {
				l := js.NewEventListener(func(*js.Event) {})
				listeners = append(listeners, l)
				target.AddEventListener("x", l)
			}
			for _, l := range listeners[1:] {
				target.RemoveEventListener("x", l)
			}
			return target
		}},
		{"types of events", func(w *world) any {
			target := w.NewEventTarget()
			l := js.NewEventListener(func(*js.Event) {})
			for i := range n {
				target.AddEventListener(strconv.Itoa(i), l)
			}
			for i := range n {
				target.RemoveEventListener(strconv.Itoa(i), l)
			}
			return target
		}},
		{"marks", func(w *world) any {
			for i := range n {
				w.Performance().Mark(strconv.Itoa(i))
			}
			w.Performance().ClearMarks("")
			return w.JS
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			defer w.loop.Close()
			before := garbage.Heap()
			goesOn := c.burst(w)
			// A collection may miss something.
			beat.Eventually(t, func() bool { return garbage.Heap() <= before+1<<20 }, "the heap to fall back")
			runtime.KeepAlive(goesOn)
			runtime.KeepAlive(w)
		})
	}
}
