//go:build unix

package js_test

// Tests of the order of immediates beside callbacks of descriptors.

import (
	"context"
	"os"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// Immediates that a callback of a descriptor sets run before timers, however late these are; immediates that the timers set
// come after them.
func TestImmediatesOfDescriptors(t *testing.T) {
	w := newWorld(t)
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer wr.Close()
	if _, err := wr.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	fd := int(r.Fd())
	err = w.loop.RegisterFD(fd, eventloop.EventRead, func(eventloop.IOEvents) {
		if err := w.loop.UnregisterFD(fd); err != nil {
			t.Error(err)
		}
		cleared := w.timeout(0, w.says("cleared"))
		w.timeout(0, func() { w.say("t1"); w.immediate(w.says("i3")); w.tick(w.says("tick")); w.ClearTimeout(cleared) })
		w.ClearTimeout(w.timeout(0, w.says("cleared")))
		refreshed := w.timeout(0, w.says("t3"))
		w.timeout(0, w.says("t2"))
		w.immediate(func() {
			w.say("i1")
			w.must(refreshed, w.Refresh(refreshed))
			w.immediate(w.says("i4"))
			w.timeout(0, w.says("t4"))
		})
		w.immediate(func() { w.say("i2"); w.ClearTimeout(cleared) })
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.loop.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.want("i1", "i2", "t1", "tick", "t2", "t3", "t4", "i4", "i3")
}

// Functions that set themselves again without a delay let descriptors through.
func TestChainsLetDescriptorsThrough(t *testing.T) {
	for _, kind := range []string{"timeouts", "interval", "immediates"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			r, wr, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer wr.Close()
			fd, runs, over := int(r.Fd()), 0, false
			end := func() {
				over = true
				if err := w.loop.UnregisterFD(fd); err != nil {
					t.Error(err)
				}
			}
			if err := w.loop.RegisterFD(fd, eventloop.EventRead, func(eventloop.IOEvents) { end() }); err != nil {
				t.Fatal(err)
			}
			link := func() {
				if runs++; runs == 3 {
					if _, err := wr.Write([]byte{1}); err != nil {
						t.Error(err)
					}
				} else if runs > 100_000 {
					t.Error("the descriptor starves")
					end()
				}
			}
			var again func()
			switch kind {
			case "timeouts":
				again = func() {
					if link(); !over {
						w.timeout(0, again)
					}
				}
			case "immediates":
				again = func() {
					if link(); !over {
						w.immediate(again)
					}
				}
			case "interval":
				var id js.ID
				id = w.interval(0, func() {
					if link(); over {
						w.ClearInterval(id)
					}
				})
				again = func() {}
			}
			w.run(again)
		})
	}
}
