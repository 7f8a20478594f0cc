package js_test

// Tests of performance: the clock, marks and measures.

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/beat"
)

func names(entries []js.PerformanceEntry) (s string) {
	for _, e := range entries {
		s += fmt.Sprintf("%s@%v+%v ", e.Name, e.StartTime, e.Duration)
	}
	return s
}

func TestPerformance(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		defer w.loop.Close()
		p := w.Performance()
		if now := p.Now(); now != 0 {
			t.Errorf("Now is %v at the origin", now)
		}
		if got, want := p.TimeOrigin(), float64(w.begin.UnixMilli()); got != want {
			t.Errorf("TimeOrigin is %v, want %v", got, want)
		}
		time.Sleep(1500 * time.Microsecond)
		if now := p.Now(); now != 1.5 {
			t.Errorf("Now is %v after 1.5 ms", now)
		}
		p.Mark("a")
		time.Sleep(time.Millisecond)
		p.Mark("b")
		time.Sleep(time.Millisecond)
		p.Mark("a")
		time.Sleep(time.Millisecond)
		must := func(e js.PerformanceEntry, err error) js.PerformanceEntry {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
			return e
		}
		must(p.Measure("origin to now", "", ""))
		must(p.Measure("b to latest a", "b", "a"))
		must(p.Measure("a to now", "a", ""))
		must(p.Measure("a to b", "a", "b"))
		must(p.MeasureTimes("times", 0.5, 2, nil))
		if e := must(p.MarkAt("at", 1, "detail")); e.Detail != "detail" || e.EntryType != "mark" || e.Duration != 0 {
			t.Errorf("%+v", e)
		}
		for _, c := range []struct {
			what string
			got  []js.PerformanceEntry
			want string
		}{
			{"all", p.GetEntries(), "origin to now@0+4.5 times@0.5+1.5 at@1+0 a@1.5+0 b@2.5+0 b to latest a@2.5+1 a@3.5+0 a to now@3.5+1 a to b@3.5+-1 "},
			{"by name", p.GetEntriesByName("a", ""), "a@1.5+0 a@3.5+0 "},
			{"by name and type", p.GetEntriesByName("a", "measure"), ""},
			{"marks", p.GetEntriesByType("mark"), "at@1+0 a@1.5+0 b@2.5+0 a@3.5+0 "},
			{"measures", p.GetEntriesByType("measure"), "origin to now@0+4.5 times@0.5+1.5 b to latest a@2.5+1 a to now@3.5+1 a to b@3.5+-1 "},
		} {
			if got := names(c.got); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.what, got, c.want)
			}
		}
		before := p.GetEntries()
		p.ClearMarks("a")
		if got := names(p.GetEntriesByType("mark")); got != "at@1+0 b@2.5+0 " {
			t.Error(got)
		}
		p.ClearMeasures("times")
		p.ClearMarks("")
		if got := names(p.GetEntries()); got != "origin to now@0+4.5 b to latest a@2.5+1 a to now@3.5+1 a to b@3.5+-1 " {
			t.Error(got)
		}
		p.ClearMeasures("")
		if len(p.GetEntries()) != 0 || len(before) != 9 || before[3].Name != "a" {
			t.Errorf("after clearing: %v; what was got before: %v", p.GetEntries(), before)
		}
	})
}

// A name stands for the mark that was made last under it, whatever its time, until it is cleared.
func TestMeasureTakesMarkMadeLast(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	p := w.Performance()
	for _, ms := range []float64{70, 100, 50} {
		p.MarkAt("a", ms, nil)
		p.MarkAt("b", ms+5, nil)
	}
	p.MeasureTimes("a", 60, 65, nil)
	p.Measure("m", "a", "b")
	const want = "a@50+0 m@50+5 b@55+0 a@60+5 a@70+0 b@75+0 a@100+0 b@105+0 "
	if got := names(p.GetEntries()); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
	for _, name := range []string{"a", ""} {
		p.ClearMeasures(name)
		if _, err := p.Measure("m", "b", "b"); err != nil {
			t.Errorf("another mark was cleared: %v", err)
		}
		p.ClearMarks(name)
		if _, err := p.Measure("m", "a", ""); !errors.Is(err, js.ErrNoMark) {
			t.Errorf("after ClearMarks(%q): %v", name, err)
		}
	}
	if _, err := p.Measure("m", "b", ""); !errors.Is(err, js.ErrNoMark) {
		t.Errorf("after all marks were cleared: %v", err)
	}
	p.MarkAt("a", 10, nil)
	if m, err := p.Measure("m", "a", "a"); m.StartTime != 10 || err != nil {
		t.Errorf("made again after clearing: %v, %v", m, err)
	}
}

// Who reads the entries keeps nobody from making and clearing some, and gets those that there were.
func TestEntriesWhileTheyChange(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	p := w.Performance()
	for _, name := range []string{"a", "b", "c"} {
		p.MarkAt(name, 1, nil)
	}
	first := true
	got := p.Filter(func(js.PerformanceEntry) bool {
		if !first {
			return true
		}
		first = false
		changed := make(chan struct{})
		go func() {
			p.ClearMarks("b")
			p.MarkAt("d", 1, nil)
			close(changed)
		}()
		beat.Receive(t, changed, "who makes a mark beside who reads them")
		return true
	})
	if got, want := names(got), "a@1+0 b@1+0 c@1+0 "; got != want {
		t.Errorf("read: %s, want %s", got, want)
	}
	if got, want := names(p.GetEntries()), "a@1+0 c@1+0 d@1+0 "; got != want {
		t.Errorf("left: %s, want %s", got, want)
	}
}

func TestPerformanceErrors(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	p := w.Performance()
	p.MeasureTimes("measure", 0, 1, nil)
	for _, marks := range [][2]string{{"none", ""}, {"", "none"}, {"measure", ""}} {
		_, err := p.Measure("m", marks[0], marks[1])
		var exception *js.DOMException
		if !errors.Is(err, js.ErrNoMark) || !errors.As(err, &exception) || exception.Name != "SyntaxError" {
			t.Errorf("%q: %v", marks, err)
		}
	}
	for _, ms := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, mark := p.MarkAt("m", ms, nil)
		_, start := p.MeasureTimes("m", ms, 1, nil)
		_, end := p.MeasureTimes("m", 1, ms, nil)
		for _, err := range []error{mark, start, end} {
			if !errors.Is(err, js.ErrTime) {
				t.Errorf("%v: %v", ms, err)
			}
		}
	}
	if n := len(p.GetEntries()); n != 1 {
		t.Errorf("%d entries", n)
	}
}

func TestPerformanceJSON(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		defer w.loop.Close()
		e, _ := w.Performance().MeasureTimes("m", 1, 3.5, []int{7})
		for _, c := range []struct {
			value any
			want  string
		}{
			{e, `{"name":"m","entryType":"measure","startTime":1,"duration":2.5,"detail":[7]}`},
			{w.Performance(), `{"timeOrigin":946684800000}`},
		} {
			if got, err := json.Marshal(c.value); err != nil || string(got) != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		}
	})
}
