package monitor

// Several loops, their ends, and their stalls.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// A stall is shown with its full length once it is over, and latencies are those of the last ten seconds: what was long before is not in
// them.
func TestLatenciesComeDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, l := monitored(t)
		_ = l.Submit(func() { time.Sleep(2 * time.Second) })
		time.Sleep(time.Second)
		if f := figures(m); len(f.Stalls) != 1 || f.Stalls[0].Ended || f.Stalls[0].Running > threshold*5/4 {
			t.Errorf("stalls: %+v", f.Stalls)
		}
		time.Sleep(2 * time.Second)
		f := figures(m)
		if len(f.Stalls) != 1 || f.Stalled != 1 || !f.Stalls[0].Ended || f.Stalls[0].Running.Round(threshold) != 2*time.Second {
			t.Errorf("stalls: %+v", f.Stalls)
		}
		if at := f.Recent.Callback.P99.Round(100 * time.Millisecond); at != 2*time.Second {
			t.Errorf("99th percentile: %v", at)
		}
		for range 12 {
			_ = l.Submit(func() { time.Sleep(time.Millisecond) })
			time.Sleep(time.Second)
			f = figures(m)
		}
		if c := f.Recent.Callback; c.Max > 2*time.Millisecond || c.P99 > 2*time.Millisecond || c.Count < 10 || c.Count > 12 {
			t.Errorf("of the last ten seconds: %+v", c)
		}
		if f.Metrics.Callback.Max != 2*time.Second {
			t.Errorf("since New: %+v", f.Metrics.Callback)
		}
	})
}

// Each loop of a group has its own figures, record and stalls, and one that has ended is forgotten, with its stalls.
func TestGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(Monitor)
		g, err := eventloop.NewGroup(3, m.Options()...)
		if err != nil {
			t.Fatal(err)
		}
		m.WatchGroup(g)
		go func() { _ = g.Run(context.Background()) }()
		synctest.Wait()
		for i := range g.Len() {
			_ = g.Loop(i).Submit(func() { time.Sleep(time.Duration(i+1) * time.Second) })
		}
		time.Sleep(2500 * time.Millisecond)
		all := m.Figures()
		if len(all) != 3 {
			t.Fatalf("%d loops", len(all))
		}
		text := get(t, m, "/metrics")
		for i, f := range all {
			if f.Loop != g.Loop(i).ID() || f.Stalled != 1 || len(f.Stalls) != 1 || f.Stalls[0].Ended != (i < 2) {
				t.Errorf("loop %d: %+v", i, f)
			}
			if i < 2 && f.Stalls[0].Running.Round(threshold) != time.Duration(i+1)*time.Second {
				t.Errorf("loop %d: %+v", i, f.Stalls)
			}
			if want := fmt.Sprintf("turnloop_stalls_total{loop=\"%d\"} 1\n", f.Loop); !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
			if events := get(t, m, fmt.Sprint("/events?loop=", f.Loop)); !strings.HasPrefix(events, fmt.Sprint("loop ", f.Loop)) {
				t.Errorf("another loop's events: %.100s", events)
			}
		}
		if n := strings.Count(text, "# TYPE"); n != len(metrics) {
			t.Errorf("%d types of %d metrics", n, len(metrics))
		}
		time.Sleep(time.Second)
		_ = g.Shutdown(context.Background())
		if all := m.Figures(); len(all) != 0 || len(m.loops) != 0 {
			t.Errorf("of loops that have ended: %+v", m)
		}
	})
}

// The stalls that are kept are bounded, and the number of all is told.
func TestStallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, l := monitored(t)
		for range 3 * mostStalls {
			_ = l.Submit(func() { time.Sleep(time.Second) })
		}
		time.Sleep(4 * mostStalls * time.Second)
		if f := figures(m); f.Stalled != 3*mostStalls || len(f.Stalls) != mostStalls {
			t.Errorf("%d stalls, %d of them kept", f.Stalled, len(f.Stalls))
		}
	})
}
