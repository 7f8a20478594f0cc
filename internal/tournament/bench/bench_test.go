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

func TestParseOutput(t *testing.T) {
	const name, head = "BenchmarkX/impl=a", "goos: linux\nBenchmarkX/impl=a\n"
	const good = head + "Unit p99-ns/op better=lower\nBenchmarkX/impl=a-2 \t 100\t 16 ns/op\t 3 p99-ns/op\nPASS\n"
	out, err := ParseOutput(good, name)
	if err != nil || out.Iters != 100 || len(out.Units) != 1 || !strings.HasPrefix(out.Line, "BenchmarkX") {
		t.Errorf("parsed %+v, %v", out, err)
	}
	skipped := head + "    x.go:3: n/a: no timers,\n        and that is a pity\n--- SKIP: BenchmarkX/impl=a\nPASS\n"
	if _, err := ParseOutput(skipped, name); err != Skipped("no timers, and that is a pity") {
		t.Errorf("of a skip: %v", err)
	}
	for what, text := range map[string]string{
		"nothing":     "PASS\n",
		"another":     "BenchmarkY/impl=a-2 \t 100\t 16 ns/op\n",
		"two results": good + good,
	} {
		if out, err := ParseOutput(text, name); err == nil {
			t.Errorf("%s is accepted: %+v", what, out)
		}
	}
	if got := ConfigLines(good); len(got) != 1 || got[0] != "goos: linux" {
		t.Errorf("configuration %q", got)
	}
}

// TestSane: what no machine can have measured is refused, with what is the matter, and what it can is not.
func TestSane(t *testing.T) {
	const name = "BenchmarkX/impl=a"
	for values, says := range map[string]string{
		"100 16 ns/op":               "",
		"100 16 ns/op 0 B/op":        "",
		"100 3000 ns/op 0 allocs/op": "",
		"100 -1 ns/op":               "-1 ns/op is no measurement",
		"100 0 ns/op":                "0 ns/op is no measurement",
		"100 NaN ns/op":              "NaN ns/op is no measurement",
		"100 16 ns/op -3 B/op":       "-3 B/op is no measurement",
		"100 +Inf ns/op":             "+Inf ns/op is more than there was",
		"100 1e300 ns/op":            "1e+300 ns/op is more than there was",
		"100 2e9 ns/op":              "is more than there was: the process has lived for 1s",
		"100 16 ns/op 2e9 p99-ns/op": "is more than there was",
		"100 16 p99-ns/op":           "it has no value in ns/op",
		"0 16 ns/op":                 "it has done no operation",
	} {
		out, err := ParseOutput(name+"-2 \t "+strings.ReplaceAll(values, " ", " \t ")+"\n", name)
		if err == nil {
			err = out.Sane("ns/op", time.Second)
		}
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) && !strings.Contains(err.Error(), "it has no result") {
			t.Errorf("%s: %v, want %q", values, err, says)
		}
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
		{Name: "D01_States", Outcome: Fail, Reason: "went backwards"}, // whatever it said before
		{Name: "D03_Wake", Outcome: Pass, Reason: ""},
		{Name: "D05_Owner", Outcome: NotApplicable, Reason: "no capability"},
		{Name: "D06_Panics", Outcome: Diverges, Reason: "ends the process"},
		{Name: "D07_Plain", Outcome: Pass, Reason: ""},
	}
	if got := ParseConformance(output, "main"); !reflect.DeepEqual(got, want) {
		t.Errorf("parsed %+v\nwant %+v", got, want)
	}
	if got := ParseConformance(output, "other"); len(got) != 0 {
		t.Errorf("another contestant's checks: %+v", got)
	}
	cut := output[:strings.Index(output, "=== RUN   TestConformance/impl=main/D06_Panics")]
	want = []Check{
		{Name: "D01_States", Outcome: Pass, Reason: ""}, {Name: "D03_Wake", Outcome: Pass, Reason: ""}, {Name: "D05_Owner", Outcome: NoResult, Reason: "no capability"},
	}
	if got := ParseConformance(cut, "main"); !reflect.DeepEqual(got, want) {
		t.Errorf("of a killed suite %+v\nwant %+v", got, want)
	}
}
