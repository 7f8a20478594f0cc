package policy

// Tests of the bars, on figures that are made up.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// jitter returns ten times around ns nanoseconds, none equal, the same for the same arguments.
func jitter(ns, spread float64) []float64 {
	out := make([]float64, 10)
	for i := range out {
		out[i] = ns * 1e-9 * (1 + spread*(float64(i*7%10)-4.5)/10)
	}
	return out
}

// flat returns ten equal values.
func flat(v float64) []float64 { return slices.Repeat([]float64{v}, 10) }

// split takes benchmark@contestant@unit apart; the unit is the time unless it is given.
func split(name string) (bench, impl, unit string) {
	parts := append(strings.Split(name, "@"), "sec/op")
	return parts[0], parts[1], parts[2]
}

// samples writes figures of ten rounds as measurements, and reads them.
func samples(values map[string][]float64) *stats.Samples {
	type cell struct{ bench, impl string }
	units := map[cell]map[string][]float64{}
	for name, vs := range values {
		b, impl, unit := split(name)
		if units[cell{b, impl}] == nil {
			units[cell{b, impl}] = map[string][]float64{}
		}
		units[cell{b, impl}][unit] = vs
	}
	var raw strings.Builder
	for round := range 10 {
		fmt.Fprintf(&raw, "round: %d\n", round+1)
		for c, of := range units {
			name, variant, ok := strings.Cut(c.bench, "/")
			if ok {
				variant = "/" + variant
			}
			fmt.Fprintf(&raw, "Benchmark%s/impl=%s%s 1000", name, c.impl, variant)
			for unit, vs := range of {
				fmt.Fprintf(&raw, " %v %s", vs[round], unit)
			}
			raw.WriteString("\n")
		}
	}
	s, err := stats.Read(strings.NewReader(raw.String()), "raw")
	if err != nil {
		panic(err)
	}
	return s
}

// analyse makes a run of figures, benchmark@contestant@unit, and holds it against the bars.
func analyse(values map[string][]float64) *stats.Analysis {
	run := &record.Run{Complete: true}
	run.Rounds = 10
	for _, name := range []string{"main", "rival", "baseline"} {
		run.Impls = append(run.Impls, record.Impl{Name: name, Ranked: true})
	}
	run.Roles = record.Roles{Subject: subject, Reference: reference, Control: control}
	run.Impls = append(run.Impls, record.Impl{Name: control})
	var names []string
	for name := range values {
		b, impl, _ := split(name)
		names = append(names, b+"@"+impl)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		b, impl, _ := split(name)
		c := record.Cell{Cell: bench.Cell{Bench: b, Impl: impl}, Iters: 1000}
		if of, ok := strings.CutSuffix(impl, record.Again); ok {
			c.Of = of
		}
		run.Cells = append(run.Cells, c)
		short, _, _ := strings.Cut(b, "/")
		if !slices.ContainsFunc(run.Benchmarks, func(b record.Benchmark) bool { return b.Name == short }) {
			run.Benchmarks = append(run.Benchmarks, record.Benchmark{
				Name: short, Category: "Other", Units: []string{"ns/op", "p99-ns/op", "B/op", "allocs/op", "B/timer"}})
		}
	}
	a := stats.Analyse(run, samples(values))
	a.Hold(Bars)
	return a
}

// The policy is about one loop: who enters another one is held against nothing.
func TestNoBarsForOthers(t *testing.T) {
	a := analyse(map[string][]float64{"Submit@main": jitter(10, 0.01), "Submit@baseline": jitter(100, 0.01)})
	if len(a.Bars) == 0 {
		t.Fatal("no bars")
	}
	a.Run.Roles.Subject = "rival"
	if a.Hold(Bars); len(a.Bars) != 0 {
		t.Errorf("bars of somebody else: %+v", a.Bars)
	}
}

func TestBars(t *testing.T) {
	a := analyse(map[string][]float64{
		"Submit@baseline": jitter(100, 0.01), "Submit@main": jitter(17, 0.01), "Submit@channel": jitter(34, 0.01),
		"MultiProducer@main": jitter(25, 0.01), "MultiProducer@channel": jitter(70, 0.2),
	})
	var got []string
	for _, b := range a.Bars {
		got = append(got, b.What+" | "+b.Demand+" | "+string(b.State)+" | "+b.Note)
	}
	want := []string{
		"Submit, one producer | at most 0.20 × baseline | met | ",
		"Submit, one producer | at most 0.40 × channel | missed | by 25\u00a0%",
		"MultiProducer | at most 0.15 × baseline | not measured | baseline in MultiProducer: does not take part",
		"MultiProducer | at most 0.35 × channel | missed | by 2.1\u00a0%; the interval reaches the bar",
		"Submit, allocations | 0 allocs/op | not measured | main in Submit: not measured",
		"geometric mean over all cells | first of all contestants | met | ",
		"geometric mean in each category | at most 1.00 × baseline | met | ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("bars:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// withRivals adds the rivals to an analysis' field.
func withRivals(values map[string][]float64) *stats.Analysis {
	a := analyse(values)
	for _, r := range Bars.Rivals {
		a.Run.Impls = append(a.Run.Impls, record.Impl{Name: r, Ranked: true})
	}
	a = stats.Analyse(a.Run, samples(values))
	a.Hold(Bars)
	return a
}

func TestBarsOfDescriptors(t *testing.T) {
	values := map[string][]float64{
		"FDRoundTrip@alternateone": jitter(20000, 0.01), "FDRoundTrip@alternatetwo": jitter(9000, 0.01),
		"FDRoundTrip@alternatethree": jitter(30000, 0.01), "FDRoundTrip@netpair": jitter(2000, 0.01),
		"FDRoundTrip@blocking": jitter(9000, 0.01),
	}
	bars := func() (out []string) {
		for _, b := range withRivals(values).Bars {
			if b.What == "FDRoundTrip" {
				out = append(out, b.Of+" | "+b.Demand+" | "+string(b.State)+" | "+b.Note)
			}
		}
		return out
	}
	want := []string{
		"main | at most 1.35 × netpair | not measured | main in FDRoundTrip: does not take part",
	}
	if got := bars(); !slices.Equal(got, want) {
		t.Errorf("before the subject watches descriptors:\n%s", strings.Join(got, "\n"))
	}
	values["FDRoundTrip@main"] = jitter(2500, 0.01)
	want = []string{
		"main | at most 1.35 × netpair | met | ",
	}
	if got := bars(); !slices.Equal(got, want) {
		t.Errorf("when it does:\n%s", strings.Join(got, "\n"))
	}
}

// What a wake-up cannot do without is measured without a descriptor.
func TestBarOfIdleWakes(t *testing.T) {
	a := analyse(map[string][]float64{
		"WakeFromIdle/fd=0@channel@p50-sec/op":  jitter(250, 0.01),
		"WakeFromIdle/fd=1@blocking@p50-sec/op": jitter(2000, 0.01), "WakeFromIdle/fd=1@main@p50-sec/op": jitter(400, 0.01),
	})
	i := slices.IndexFunc(a.Bars, func(b stats.Bar) bool { return strings.HasSuffix(b.Demand, "blocking") })
	if got, want := a.Bars[i].Note, "by 100\u00a0%; channel itself is at 0.12×"; got != want {
		t.Errorf("%+v, want the note %q", a.Bars[i], want)
	}
}

// A bar on a rate is about operations per second: less is worse.
func TestBarsOfServers(t *testing.T) {
	values := map[string][]float64{
		"Echo/conns=64@net": jitter(11100, 0.01), "Echo/conns=64@gnet": jitter(10100, 0.01), "Echo/conns=64@main": jitter(10000, 0.01),
		"Echo/conns=512@net": jitter(6700, 0.01), "Echo/conns=512@gnet": jitter(12000, 0.01), "Echo/conns=512@main": jitter(10000, 0.01),
	}
	bars := func() (out []string) {
		for _, b := range analyse(values).Bars {
			if what, ok := strings.CutPrefix(b.What, "Echo, "); ok {
				out = append(out, strings.Join([]string{what, b.Demand, b.Measured, string(b.State), b.Note}, " | "))
			}
		}
		return out
	}
	want := []string{
		"64 connections, requests per second | at least 1.00 × gnet | 1.01× (1.01× to 1.01×) | met | ",
		"64 connections, requests per second | at least 1.10 × net | 1.11× (1.11× to 1.11×) | met | ",
		"512 connections, requests per second | at least 1.00 × gnet | 1.20× (1.20× to 1.20×) | met | ",
		"512 connections, requests per second | at least 1.10 × net | 0.67× (0.67× to 0.67×) | missed | by 39\u00a0%",
	}
	if got := bars(); !slices.Equal(got, want) {
		t.Errorf("bars:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// The interval around the bar is told on either side.
	values["Echo/conns=64@net"], values["Echo/conns=64@gnet"] = jitter(11100, 0.2), jitter(9900, 0.2)
	values["Echo/conns=64@main"] = slices.Repeat([]float64{1e-5}, 10)
	for i, want := range []string{"missed | by 1.0\u00a0%; the interval reaches the bar", "met | the interval reaches beyond the bar"} {
		if got := bars()[i]; !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	delete(values, "Echo/conns=64@main")
	if got, want := bars()[0], "not measured | main in Echo/conns=64: does not take part"; !strings.HasSuffix(got, want) {
		t.Errorf("without a figure of the subject: %s, want %s", got, want)
	}
}

// What only the subject has is held against the clock, a count of allocations, and a control.
func TestBarsOfPromises(t *testing.T) {
	values := map[string][]float64{
		"Promise/op=then@main": jitter(140, 0.01), "Promise/op=then@main@allocs/op": flat(1), "Promise/op=then@goja": jitter(2000, 0.01),
		"Promise/op=promisify@main": jitter(900, 0.01), "Promise/op=promisify@goroutine": jitter(500, 0.01),
	}
	bars := func(clock float64) (out []string) {
		a := analyse(values)
		a.Run.Env.TimeNowNS = clock
		a.Hold(Bars)
		for _, b := range a.Bars {
			if strings.HasPrefix(b.What, "promise") || strings.HasPrefix(b.What, "Promisify") {
				out = append(out, strings.ReplaceAll(strings.Join([]string{b.What, b.Demand, string(b.State), b.Note}, " | "), "\u00a0", " "))
			}
		}
		return out
	}
	chain := "promise Then chain, per link | at most 150 ns where time.Now takes 40 ns; it takes "
	for clock, want := range map[float64][]string{
		40: {
			chain + "40 ns here: 150 ns | met | ",
			"promise Then chain, allocations per link | at most 1 allocs/op | met | ",
			"Promisify, round trip | at most 1.50 × goroutine | missed | by 20 %",
		},
		20: {
			chain + "20 ns here: 75.0 ns | missed | by 87 %",
			"promise Then chain, allocations per link | at most 1 allocs/op | met | ",
			"Promisify, round trip | at most 1.50 × goroutine | missed | by 20 %",
		},
	} {
		if got := bars(clock); !slices.Equal(got, want) {
			t.Errorf("bars:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}

	values["Promise/op=then@main@allocs/op"] = flat(2)
	delete(values, "Promise/op=promisify@goroutine")
	for i, want := range map[int]string{
		1: "at most 1 allocs/op | missed | by 100 %",
		2: "not measured | goroutine in Promise/op=promisify: does not take part",
	} {
		if got := bars(40)[i]; !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What a threadlet's server uses is held against package net by its own unit, and what a connection holds as well.
func TestBarsOfThreadlets(t *testing.T) {
	values := map[string][]float64{
		"ThreadletEcho/conns=64@main": jitter(10000, 0.01), "ThreadletEcho/conns=64@net": jitter(9000, 0.01),
		"ThreadletEcho/conns=64@main@cpu-sec/op": jitter(8000, 0.01), "ThreadletEcho/conns=64@net@cpu-sec/op": jitter(10000, 0.01),
		"ConnectionFootprint/what=idle@main@B/conn": flat(300), "ConnectionFootprint/what=idle@net@B/conn": flat(2000),
		"Metrics/metrics=off@main": jitter(10, 0.01), "Metrics/metrics=exact@main": jitter(46, 0.01), "Metrics/metrics=sampled@main": jitter(20, 0.01),
	}
	var got []string
	for _, b := range analyse(values).Bars {
		if strings.HasPrefix(b.What, "threadlet") || strings.HasPrefix(b.What, "idle") || strings.HasPrefix(b.What, "metrics") {
			got = append(got, strings.ReplaceAll(strings.Join([]string{b.What, b.Demand, string(b.State), b.Note}, " | "), "\u00a0", " "))
		}
	}
	want := []string{
		"threadlet echo, 64 connections, processor time | at most 0.90 × net | met | ",
		"threadlet echo, 64 connections, requests per second | at least 1.00 × net | missed | by 10 %",
		"idle connection, heap and stack | at most 0.10 × net | missed | by 50 %",
		"idle connection, resident | at most 0.10 × net | not measured | main in ConnectionFootprint/what=idle: not measured",
		"metrics off | level with a build without them | not measured | there is no such build; compare BenchmarkMetrics of eventloop at two commits",
		"metrics, recording | at most 5 ns besides the clock | not measured | only the loop's own tests reach it: BenchmarkRecording of eventloop",
		"metrics, exact, to none | at most 30.0 ns more | missed | by 20 %",
		"metrics, sampled, to none | at most 2.5 × | met | ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("bars:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The best other is the ranked loop that comes out best in that benchmark, whoever it is.
func TestBarsOfTheBest(t *testing.T) {
	values := map[string][]float64{
		"InternalPriority@main@p99-sec/op": jitter(700, 0.01), "InternalPriority@alternateone@p99-sec/op": jitter(900, 0.01),
		"InternalPriority@alternatetwo@p99-sec/op": jitter(500, 0.01), "InternalPriority@channel@p99-sec/op": jitter(100, 0.01),
		"BusyInternalPriority@main@p99-sec/op": jitter(700, 0.01), "BusyInternalPriority@alternateone@p99-sec/op": jitter(300, 0.01),
	}
	var got []string
	for _, b := range withRivals(values).Bars {
		if strings.HasPrefix(b.What, "InternalPriority") {
			got = append(got, b.Demand+" | "+string(b.State)+" | "+strings.ReplaceAll(b.Note, "\u00a0", " "))
		}
	}
	want := []string{"at most 1.50 × the best other, alternatetwo | met | ", "at most 2.00 × the best other, alternateone | missed | by 17 %"}
	if !slices.Equal(got, want) {
		t.Errorf("bars:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A rival's bars are about its place among the rivals, whatever the others do.
func TestBarsOfRivals(t *testing.T) {
	a := withRivals(map[string][]float64{
		"A@main": jitter(100, 0.01), "A@main-again": jitter(105, 0.01),
		"Submit@main": jitter(10, 0.01), "Submit@alternateone": jitter(70, 0.01), "Submit@alternatetwo": jitter(30, 0.01),
		"Submit@alternatethree":      jitter(31, 0.01),
		"MultiProducer@alternateone": jitter(70, 0.01), "MultiProducer@alternatetwo": jitter(60, 0.01),
		"MultiProducer@alternatethree":      jitter(40, 0.01),
		"Microtask/kind=chain@alternateone": jitter(40, 0.01), "Microtask/kind=chain@alternatetwo": jitter(10, 0.01),
		"Microtask/kind=chain@alternatethree": jitter(9, 0.01), "Microtask/kind=fanout@alternateone": jitter(40, 0.01),
		"Microtask/kind=fanout@alternatetwo": jitter(10, 0.01), "Microtask/kind=fanout@alternatethree": jitter(40, 0.01),
	})
	var got []string
	for _, b := range a.Bars {
		if b.Of == "alternatetwo" {
			got = append(got, strings.Join([]string{b.What, b.Demand, b.Measured, string(b.State), b.Note}, " | "))
		}
	}
	want := []string{
		"Submit | first of the rivals | 0.97× of alternatethree (0.97–0.97) | met | but not beyond noise",
		"MultiProducer | first of the rivals | 1.50× of alternatethree (1.50–1.50) | missed | by 50\u00a0%",
		"Microtask | first of the rivals | 0.53× of alternatethree (0.53–0.53) | met | ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("bars:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	a = withRivals(map[string][]float64{"Submit@alternateone": jitter(70, 0.01), "Submit@alternatetwo": jitter(30, 0.01)})
	if b := a.Bars[len(a.Bars)-1]; b.What != "Submit" || b.State != stats.NotMeasured || b.Note != "alternatethree in Submit: does not take part" {
		t.Errorf("without one of the rivals: %+v", b)
	}
}

func TestToBeTheFirstOfOneIsNoMerit(t *testing.T) {
	mean := func(values map[string][]float64) stats.Bar {
		bars := analyse(values).Bars
		return bars[slices.IndexFunc(bars, func(b stats.Bar) bool { return b.What == "geometric mean over all cells" })]
	}
	with := mean(map[string][]float64{"A@main": jitter(50, 0.01), "A@baseline": jitter(100, 0.01)})
	if with.State != stats.Met || with.Measured != "rank 1 of 2 over 1 figures" {
		t.Errorf("against the reference alone: %+v", with)
	}
	if alone := mean(map[string][]float64{"A@main": jitter(50, 0.01)}); alone.State != stats.NotMeasured || alone.Note == "" || alone.Measured != "" {
		t.Errorf("alone: %+v", alone)
	}
}
