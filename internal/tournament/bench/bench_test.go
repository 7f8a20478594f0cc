package bench

// Tests of names, and of what benchmarks print.

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestParseName(t *testing.T) {
	for printed, want := range map[string]Cell{
		"BenchmarkSubmit/impl=main-2":                        {"BenchmarkSubmit/impl=main", "Submit", "main"},
		"BenchmarkSubmit/impl=main-again-2":                  {"BenchmarkSubmit/impl=main-again", "Submit", "main-again"},
		"BenchmarkSubmit/impl=main":                          {"BenchmarkSubmit/impl=main", "Submit", "main"},
		"BenchmarkTimer/impl=main/op=cancel/pending=1000-16": {"BenchmarkTimer/impl=main/op=cancel/pending=1000", "Timer/op=cancel/pending=1000", "main"},
		"BenchmarkTimer/op=cancel/impl=main/pending=1000-16": {"BenchmarkTimer/op=cancel/impl=main/pending=1000", "Timer/op=cancel/pending=1000", "main"},
	} {
		if got, ok := ParseName(printed); !ok || got != want {
			t.Errorf("%s is %+v, want %+v", printed, got, want)
		}
	}
	if c, ok := ParseName("BenchmarkOther/size=3-2"); ok {
		t.Errorf("a benchmark without a contestant is %+v", c)
	}
}

func TestWithImpl(t *testing.T) {
	for name, want := range map[string]string{
		"BenchmarkX/impl=a":       "BenchmarkX/impl=b",
		"BenchmarkX/impl=a-2":     "BenchmarkX/impl=b-2",
		"BenchmarkX/impl=a/n=1-2": "BenchmarkX/impl=b/n=1-2",
		"BenchmarkX-2":            "BenchmarkX-2",
	} {
		if got := WithImpl(name, "b"); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestPatternSelectsOneCell(t *testing.T) {
	name := "BenchmarkTimer/impl=main/rate=1.5k"
	elems := strings.Split(Pattern(name), "/")
	for other, want := range map[string]bool{
		name: true, name + "x": false, "BenchmarkTimer/impl=main2/rate=1.5k": false, "BenchmarkTimer/impl=main/rate=1x5k": false,
	} {
		got := true
		for i, e := range strings.Split(other, "/") {
			got = got && regexp.MustCompile(elems[i]).MatchString(e)
		}
		if got != want {
			t.Errorf("%s matches %s: %v", Pattern(name), other, got)
		}
	}
}

func TestListing(t *testing.T) {
	const output = `goos: linux
cpu: Example
BenchmarkSubmit
BenchmarkSubmit/impl=main
BenchmarkSubmit/impl=main-2         	       1	      16 ns/op
BenchmarkSize
BenchmarkSize/impl=main
BenchmarkSize/impl=main-2           	       1	      96 B/loop
BenchmarkTimer
BenchmarkTimer/impl=main
BenchmarkTimer/impl=main/op=cancel
    bench_test.go:3: n/a: no timers,
        and that is a pity
--- SKIP: BenchmarkTimer/impl=main/op=cancel
BenchmarkTimer/impl=main/op=fire
    bench_test.go:9: lost a task
--- FAIL: BenchmarkTimer/impl=main/op=fire
--- FAIL: BenchmarkTimer/impl=main
--- FAIL: BenchmarkTimer
BenchmarkBurst
BenchmarkBurst/impl=main
panic: all is lost`
	var l Listing
	at := time.Unix(0, 0)
	for line := range strings.Lines(output) {
		l.Line(strings.TrimRight(line, "\n"), at)
		at = at.Add(time.Millisecond)
	}
	want := []Listed{
		{Cell: Cell{"BenchmarkSubmit/impl=main", "Submit", "main"}, Setup: time.Millisecond, ColdNS: 16},
		{Cell: Cell{"BenchmarkSize/impl=main", "Size", "main"}, Setup: time.Millisecond, Untimed: true},
		{Cell: Cell{"BenchmarkTimer/impl=main/op=cancel", "Timer/op=cancel", "main"}, Setup: 3 * time.Millisecond,
			Skipped: "n/a: no timers, and that is a pity"},
		{Cell: Cell{"BenchmarkTimer/impl=main/op=fire", "Timer/op=fire", "main"}, Setup: 2 * time.Millisecond, Failed: "lost a task"},
	}
	if got := l.Cells(); !reflect.DeepEqual(got, want) {
		t.Errorf("listed %+v\nwant %+v", got, want)
	}
	if l.Open() != "BenchmarkBurst/impl=main" {
		t.Errorf("the cell that did not end is %q", l.Open())
	}
}

func TestParseOutput(t *testing.T) {
	const good = "goos: linux\nUnit p99-ns/op better=lower\nBenchmarkX/impl=a-2 \t 100\t 16 ns/op\t 3 p99-ns/op\nPASS\n"
	outs, err := ParseOutput(good, "BenchmarkX/impl=a", 1)
	if err != nil {
		t.Fatal(err)
	}
	if out := outs[0]; out.Iters != 100 || out.NsPerOp != 16 || len(out.Units) != 1 || !strings.HasPrefix(out.Line, "BenchmarkX") {
		t.Errorf("parsed %+v", out)
	}
	if outs, err := ParseOutput(good+good, "BenchmarkX/impl=a", 2); err != nil || len(outs) != 2 || len(outs[1].Units) != 2 {
		t.Errorf("of two results %+v, %v", outs, err)
	}
	for what, text := range map[string]string{
		"nothing":     "PASS\n",
		"another":     "BenchmarkY/impl=a-2 \t 100\t 16 ns/op\n",
		"two results": good + good,
	} {
		if out, err := ParseOutput(text, "BenchmarkX/impl=a", 1); err == nil {
			t.Errorf("%s is accepted: %+v", what, out)
		}
	}
	if got := ConfigLines(good); len(got) != 1 || got[0] != "goos: linux" {
		t.Errorf("configuration %q", got)
	}
}

func TestParseConformance(t *testing.T) {
	const output = `=== RUN   TestConformance
=== RUN   TestConformance/impl=main
=== RUN   TestConformance/impl=main/D03_Wake
=== ATTR  TestConformance/impl=main/D03_Wake outcome pass
=== ATTR  TestConformance/impl=main/D03_Wake reason 
=== RUN   TestConformance/impl=main/D01_States
=== ATTR  TestConformance/impl=main/D01_States outcome pass
    x_test.go:4: went backwards
=== RUN   TestConformance/impl=main/D05_Owner
    x_test.go:5: no capability
=== RUN   TestConformance/impl=main/D06_Panics
=== ATTR  TestConformance/impl=main/D06_Panics outcome diverges
=== ATTR  TestConformance/impl=main/D06_Panics reason ends the process
=== RUN   TestConformance/impl=main/D07_Plain
=== RUN   TestConformance/impl=main/D07_Plain/deeper
--- FAIL: TestConformance (0.00s)
    --- FAIL: TestConformance/impl=main (0.00s)
        --- PASS: TestConformance/impl=main/D03_Wake (0.00s)
        --- FAIL: TestConformance/impl=main/D01_States (0.00s)
        --- SKIP: TestConformance/impl=main/D05_Owner (0.00s)
        --- SKIP: TestConformance/impl=main/D06_Panics (0.00s)
        --- PASS: TestConformance/impl=main/D07_Plain (0.00s)
            --- PASS: TestConformance/impl=main/D07_Plain/deeper (0.00s)
`
	want := []Check{
		{"D01_States", Fail, "went backwards"}, // whatever it said before
		{"D03_Wake", Pass, ""},
		{"D05_Owner", NotApplicable, "no capability"},
		{"D06_Panics", Diverges, "ends the process"},
		{"D07_Plain", Pass, ""},
	}
	if got := ParseConformance(output, "main"); !reflect.DeepEqual(got, want) {
		t.Errorf("parsed %+v\nwant %+v", got, want)
	}
	if got := ParseConformance(output, "other"); len(got) != 0 {
		t.Errorf("another contestant's checks: %+v", got)
	}
	cut := output[:strings.Index(output, "=== RUN   TestConformance/impl=main/D06_Panics")]
	want = []Check{
		{"D01_States", Pass, ""}, {"D03_Wake", Pass, ""}, {"D05_Owner", NoResult, "no capability"},
	}
	if got := ParseConformance(cut, "main"); !reflect.DeepEqual(got, want) {
		t.Errorf("of a killed suite %+v\nwant %+v", got, want)
	}
}
