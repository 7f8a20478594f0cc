package tournament_test

// The bars: what the production loop is held to, each beside what it is a ratio to in the same round. "make bars" asks for them, on a quiet
// machine; nothing else does.

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/environ"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

var (
	barRounds = flag.Int("bars", 0, "`rounds` in which the bars are measured; 0: they are not")
	onlyBars  = flag.String("only", "", "measure only bars that match the `regexp`")
	ofRecord  = flag.String("record", "results/native", "`folder`, from the root, of the run that the bars of the ranking are read from")
)

// A bar is a limit of a benchmark's value: as a ratio to another's, or to the best of several, or in the unit itself.
type bar struct {
	what  string
	in    string // the package's folder
	of    string // the benchmark, without "Benchmark"
	unit  string // empty: ns/op
	over  []string
	limit float64
	rate  bool // the limit is of operations per second, at least
	plus  bool // the limit is of the difference, not of the ratio
	clock bool // the limit is on a machine where time.Now takes 40 ns
}

const (
	field     = "internal/tournament"
	inLoop    = "eventloop"
	inPromise = "eventloop/promise"
	inThread  = "eventloop/threadlet"
	inHost    = "gojaloop"
	inLoopjs  = "gojaloop/cmd/loopjs"
	inRedis   = "examples/redis"
	inWheel   = "internal/wheel"
	spent     = "cpu-ns/op"
	allocated = "allocs/op"
	late      = "p99-ns/op"
	half      = "p50-ns/op"
)

func impl(name, impl string) string {
	return strings.TrimPrefix(bench.CellName(name, impl), "Benchmark")
}

func impls(name string, impls ...string) (out []string) {
	for _, i := range impls {
		out = append(out, impl(name, i))
	}
	return out
}

func bars() (out []bar) {
	beside := func(what, name, unit, over string, limit float64) {
		out = append(out, bar{what: what, in: field, of: impl(name, "main"), unit: unit, over: impls(name, over), limit: limit})
	}
	within := func(what, in, of, unit, over string, limit float64) {
		out = append(out, bar{what: what, in: in, of: of, unit: unit, over: []string{over}, limit: limit})
	}
	atMost := func(what, in, of, unit string, limit float64) {
		out = append(out, bar{what: what, in: in, of: of, unit: unit, limit: limit})
	}
	rate := func() { out[len(out)-1].rate = true }
	rivals := []string{"alternateone", "alternatetwo", "alternatethree"}

	beside("Submit, one producer", "Submit", "", "baseline", 0.20)
	beside("Submit, one producer", "Submit", "", "channel", 0.40)
	beside("MultiProducer", "MultiProducer", "", "baseline", 0.15)
	beside("MultiProducer", "MultiProducer", "", "channel", 0.35)
	beside("PingPongLatency", "PingPongLatency/fd=0", "", "baseline", 0.65)
	beside("PingPongLatency", "PingPongLatency/fd=0", "", "channel", 1.05)
	out = append(out,
		bar{what: "InternalPriority", in: field, of: impl("InternalPriority", "main"), unit: late, over: impls("InternalPriority", rivals...), limit: 1.5},
		bar{what: "InternalPriority beside goroutines that compute", in: field, of: impl("BusyInternalPriority", "main"), over: impls("BusyInternalPriority", rivals...), limit: 2},
		bar{what: "SubmitOnLoop", in: field, of: impl("SubmitOnLoop", "main"), over: impls("SubmitOnLoop", append(rivals, "baseline")...), limit: 1.2})
	beside("BusyNeighbours, median", "BusyNeighbours", half, "baseline", 1.1)
	beside("BusyNeighbours, mean", "BusyNeighbours", "", "baseline", 1.1)
	within("round trip with a descriptor to without", field, impl("PingPongLatency/fd=1", "main"), "", impl("PingPongLatency/fd=0", "main"), 1.2)
	within("wake with a descriptor to without", field, impl("WakeFromIdle/fd=1", "main"), half, impl("WakePlain", "main"), 1.2)
	beside("round trip with a descriptor", "PingPongLatency/fd=1", "", "blocking", 0.10)
	beside("wake with a descriptor", "WakeFromIdle/fd=1", half, "blocking", 0.10)
	beside("FDRoundTrip", "FDRoundTrip", "", "netpair", 1.35)
	for _, echo := range []string{"Echo/conns=64", "EchoMany/conns=512"} {
		beside("requests per second, "+echo, echo, "", "gnet", 1.0)
		rate()
		beside("requests per second, "+echo, echo, "", "net", 1.1)
		rate()
	}
	atMost("Microtask chain", field, impl("Microtask/kind=chain", "main"), "", 15)
	out[len(out)-1].clock = true
	for _, name := range []string{"Microtask/kind=chain", "Submit", "PendingTimers/op=fire/pending=0", "FDRoundTrip"} {
		atMost(name+", allocations", field, impl(name, "main"), allocated, 0)
	}
	beside("timer schedule+cancel, none pending", "PendingTimers/op=cancel/pending=0", "", "runtime", 0.4)
	beside("timer schedule+cancel, 100 000 pending", "PendingTimers/op=cancel/pending=100000", "", "runtime", 0.4)
	within("timer schedule+cancel, 1 000 000 pending to 1 000", field, impl("PendingTimers/op=cancel/pending=1000000", "main"), "", impl("PendingTimers/op=cancel/pending=1000", "main"), 2)
	atMost("memory of a pending timer", field, impl("Footprint/what=timer", "main"), "B/timer", 96)
	atMost("memory of an idle loop beyond its stack", field, impl("Footprint/what=loop", "main"), "B/loop", 8<<10)
	atMost("memory kept after a burst of 1 000 000 tasks", field, impl("BurstMemory", "main"), "B/burst", 1<<20)
	within("Call", "eventloop/flow", "Call/loop", "", "Call/channels", 1.5)
	atMost("Call, allocations", "eventloop/flow", "Call/loop", allocated, 4)
	atMost("promise Then chain, per link", inPromise, "Chain/untyped", "ns/link", 150)
	out[len(out)-1].clock = true
	within("Promisify, round trip", inLoop, "Promisify/loop", "", "Promisify/goroutines", 1.5)
	within("metrics, exact, to none", inLoop, "Metrics/metrics=exact/submit", "", "Metrics/metrics=off/submit", 30)
	out[len(out)-1].plus = true
	within("metrics, sampled, to none", inLoop, "Metrics/metrics=sampled/submit", "", "Metrics/metrics=off/submit", 2.5)
	atMost("metrics, recording besides the clock", inLoop, "Recording/recording=exact", "ns-besides-clock", 5)
	within("threadlet, yield there and back", inThread, "Yield/threadlets", "", "Yield/channels", 0.40)
	within("threadlet, spawn and end", inThread, "Spawn/threadlets", "", "Spawn/goroutines", 0.35)
	for _, e := range []struct {
		server, conns string
		cpu           float64
	}{{"blocked", "64", 0.90}, {"blocked", "512", 0.93}, {"idle", "512", 0.87}} {
		of, over := "Echo/server="+e.server+"/conns="+e.conns, "Echo/server=net/conns="+e.conns
		within("threadlet echo, "+e.server+", "+e.conns+", processor time", inThread, of, spent, over, e.cpu)
		if e.server == "blocked" {
			within("threadlet echo, "+e.conns+", requests per second", inThread, of, "", over, 1.0)
			rate()
		}
	}
	for server, limit := range map[string]float64{"blocked": 1.05, "borrowed": 0.5, "idle": 0.1} {
		for _, unit := range []string{"B/conn", "resident-B/conn"} {
			within("connection, "+server, inThread, "Connection/server="+server, unit, "Connection/server=net", limit)
		}
	}
	for _, p := range []struct {
		pipeline string
		cpu      float64
	}{{"1", 1.2}, {"16", 1.05}} {
		server := func(name string) string { return "Server/server=" + name + "/pipeline=" + p.pipeline }
		within("RESP, pipeline "+p.pipeline+", processor time", inRedis, server("threadlets"), spent, server("net"), 0.9)
		within("RESP, pipeline "+p.pipeline+", requests per second", inRedis, server("threadlets"), "", server("net"), 1.1)
		rate()
		within("RESP, pipeline "+p.pipeline+", processor time", inRedis, server("threadlets"), spent, server("redis"), p.cpu)
		within("RESP, pipeline "+p.pipeline+", requests per second", inRedis, server("threadlets"), "", server("redis"), 0.9)
		rate()
	}
	for script, limit := range map[string]float64{"storm": 0.40, "chain": 0.45, "clear": 0.67, "immediates": 1.0, "await": 1.05, "RunOnLoop": 0.80} {
		within("script, "+script, inHost, "Host/"+script, "", "Other/"+script, limit)
	}
	for _, order := range []string{"equal", "rising", "falling", "shuffled", "hours"} {
		atMost("the wheel's longest step, "+order, inWheel, "WorstStep/order="+order, "worst-cpu-ns", 1e6)
	}
	for _, l := range []struct{ list, in, few, many string }{
		{"listeners", inHost, "4000", "16000"}, {"headers", inHost, "4000", "16000"}, {"chunks", inHost, "4000", "16000"},
		{"events", inLoopjs, "10000", "40000"}, {"lines", inLoopjs, "10000", "40000"},
	} {
		list := "Lists/list=" + l.list + "/n="
		within("lists in scripts, four times as many "+l.list, l.in, list+l.many, spent, list+l.few, 6)
	}
	return out
}

// value measures a benchmark in a process of its own.
func value(t *testing.T, programs map[string]string, in, name, unit string) float64 {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, programs[in], "-test.run=^$", "-test.bench="+bench.Pattern("Benchmark"+name), "-test.benchtime=50ms")
	cmd.Dir = filepath.Join("..", "..", in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
		return math.NaN()
	}
	for r := benchfmt.NewReader(bytes.NewReader(out), name); r.Scan(); {
		got, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		base, parts := got.Name.Parts()
		if n := len(parts); n > 0 && parts[n-1][0] == '-' {
			parts = parts[:n-1]
		}
		if string(base)+string(bytes.Join(parts, nil)) != name {
			continue
		}
		for _, v := range got.Values {
			if v.OrigUnit == unit || v.OrigUnit == "" && v.Unit == unit {
				return map[bool]float64{true: v.OrigValue, false: v.Value}[v.OrigUnit != ""]
			}
		}
	}
	return math.NaN() // it is skipped
}

func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// TestBars measures the bars, and fails for those that are missed: not for those that the rounds do not tell.
func TestBars(t *testing.T) {
	if *barRounds == 0 {
		t.Skip(`"make bars" measures them`)
	}
	only := regexp.MustCompile(*onlyBars)
	all := slices.DeleteFunc(bars(), func(b bar) bool { return !only.MatchString(b.what) })
	programs := map[string]string{}
	for _, b := range all {
		if programs[b.in] != "" {
			continue
		}
		programs[b.in] = filepath.Join(t.TempDir(), "bench.test")
		cmd := exec.Command("go", "test", "-c", "-trimpath", "-o", programs[b.in], ".")
		cmd.Dir = filepath.Join("..", "..", b.in)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", b.in, err, out)
		}
	}
	clock := environ.Capture(1).TimeNowNS / 40
	measured := make([]map[string][]float64, len(all))
	for round := range *barRounds {
		for _, i := range rand.Perm(len(all)) {
			b := &all[i]
			if measured[i] == nil {
				measured[i] = map[string][]float64{}
			}
			names := append([]string{b.of}, b.over...)
			for _, k := range rand.Perm(len(names)) {
				unit := map[bool]string{true: "ns/op", false: b.unit}[b.unit == ""]
				measured[i][names[k]] = append(measured[i][names[k]], value(t, programs, b.in, names[k], unit))
			}
		}
		fmt.Fprintf(os.Stderr, "round %d/%d\n", round+1, *barRounds)
	}
	results := judge(all, measured, clock)
	if a, err := stats.Load(filepath.Join("..", "..", *ofRecord)); err != nil {
		t.Error(err)
	} else {
		results = append(results, slices.DeleteFunc(ranking(a), func(r result) bool { return !only.MatchString(r.what) })...)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "bar\tunit\tover\tlimit\tshare of it\t95 %\t")
	for _, r := range results {
		if r.word == missed {
			t.Errorf("%s is missed", r.what)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%g\t%s\t%s\t%s\n", r.what, r.unit, r.beside, r.limit, r.share, r.interval, r.word)
	}
	w.Flush()
}

// A result is a bar and what came of it.
type result struct {
	bar
	beside, share, interval, word string
}

const (
	met     = "met"
	missed  = "MISSED"
	notTold = "not told" // by so few rounds
	none    = "not measured"
)

func (r *result) tell(v stats.Verdict) {
	r.share, r.interval, r.word = stats.Digits(v.Ratio), v.FormatInterval(), notTold
	if v.Below() {
		r.word = met
	} else if v.Above() {
		r.word = missed
	}
}

// judge holds all bars to their limits at once.
func judge(all []bar, measured []map[string][]float64, clock float64) []result {
	var evidence []stats.Evidence
	var of []*result
	results := make([]result, len(all))
	for i, b := range all {
		limit := b.limit
		if b.clock {
			limit *= clock
		}
		if b.rate {
			limit = 1 / limit
		}
		r := &results[i]
		r.bar, r.word = b, none
		own := measured[i][b.of]
		for _, name := range b.over {
			if r.beside == "" || middle(measured[i][name]) < middle(measured[i][r.beside]) {
				r.beside = name
			}
		}
		logs := make([]float64, len(own))
		for k, v := range own {
			switch {
			case r.beside == "": // a difference that is nothing, or less, is as far below as can be told
				logs[k] = math.Log(max(v, limit/10) / limit)
			case b.plus:
				logs[k] = math.Log(v / (measured[i][r.beside][k] + limit))
			default:
				logs[k] = math.Log(v / measured[i][r.beside][k] / limit)
			}
		}
		switch e, ok := stats.Within(logs); {
		case b.limit == 0 && middle(own) == 0:
			r.word = met
		case b.limit == 0 && middle(own) > 0:
			r.word = missed
		case ok && !math.IsInf(e.Mean, 0) && !math.IsNaN(e.Mean):
			evidence, of = append(evidence, e), append(of, r)
		}
	}
	for i, v := range stats.Judge(evidence)[0] {
		of[i].tell(v)
	}
	return results
}

// TestVerdictsOnBars: each way to be within a limit, beyond it, or neither.
func TestVerdictsOnBars(t *testing.T) {
	near := func(v float64) []float64 { return []float64{v * 0.99, v, v * 1.01, v * 0.98, v * 1.02} }
	wide := []float64{0.1, 10, 0.2, 5, 1}
	rows := []struct {
		bar
		own, over []float64
		word      string
	}{
		{bar{limit: 10}, near(5), nil, met}, {bar{limit: 10}, near(20), nil, missed}, {bar{limit: 1}, wide, nil, notTold}, {bar{limit: 1}, nil, nil, none},
		{bar{limit: 5}, []float64{-1, 0, 1, -2, 0.1}, nil, met}, {bar{limit: 0}, near(0), nil, met}, {bar{limit: 0}, near(1), nil, missed},
		{bar{limit: 0.5}, near(4), near(10), met}, {bar{limit: 0.5}, near(6), near(10), missed}, {bar{limit: 3, plus: true}, near(12), near(10), met},
		{bar{limit: 3, plus: true}, near(14), near(10), missed}, {bar{limit: 1.1, rate: true}, near(8), near(10), met},
		{bar{limit: 1.1, rate: true}, near(9.9), near(10), missed}, {bar{limit: 10, clock: true}, near(15), nil, met},
	}
	var all []bar
	var measured []map[string][]float64
	for _, row := range rows {
		row.of = "own"
		if row.bar.over = nil; row.over != nil {
			row.bar.over = []string{"over"}
		}
		all, measured = append(all, row.bar), append(measured, map[string][]float64{"own": row.own, "over": row.over})
	}
	for i, r := range judge(all, measured, 2) {
		if r.word != rows[i].word {
			t.Errorf("%+v is %q, want %q", rows[i], r.word, rows[i].word)
		}
	}
}

// ranking holds a run to the bars of the ranking.
func ranking(a *stats.Analysis) []result {
	first := result{bar: bar{what: "the ranking: first, and separated from the next", limit: 1}, word: none}
	behind := result{bar: bar{what: "the ranking: in no figure shown to be behind the best other by more", limit: 1.1}, word: none}
	if subject := a.Run.Roles.Subject; len(a.Loops) > 1 && a.Loops[0].Rank > 0 {
		next := a.Loops[0]
		if next.Name == subject {
			next = a.Loops[1]
		}
		first.beside = next.Name
		first.tell(next.To[subject].Inverse())
	}
	least := 0.0
	for _, row := range a.Figures {
		if v := row.Against(); v != nil && 1/v.High > least {
			least = 1 / v.High
			most := behind.limit
			behind.tell(stats.Verdict{Ratio: 1 / v.Ratio / most, Low: 1 / v.High / most, High: 1 / v.Low / most, Told: v.Told})
			behind.beside, behind.word = row.Name+" of "+row.Best, map[bool]string{true: missed, false: met}[least > most]
		}
	}
	return []result{first, behind}
}

// TestVerdictsOnTheRanking: who is first, or second, or alone; and who is first, with a figure in which another costs half.
func TestVerdictsOnTheRanking(t *testing.T) {
	for what, c := range map[string]struct {
		change        func(*recorded.Row)
		first, behind string
	}{
		"first":  {func(r *recorded.Row) { scale(r, r.Impl == "main", 0.1) }, met, met},
		"second": {func(r *recorded.Row) { scale(r, r.Impl == "main", 100) }, missed, missed},
		"alone":  {func(r *recorded.Row) { r.Impl = map[bool]string{true: "main"}[r.Impl == "main"] }, none, none},
		"behind": {func(*recorded.Row) {}, met, missed}, // by SubmitOnLoop
	} {
		rows := recorded.Rows(t, recorded.Container)
		for i := range rows {
			c.change(&rows[i])
		}
		rows = slices.DeleteFunc(rows, func(r recorded.Row) bool { return r.Impl == "" })
		a, err := stats.Load(recorded.Run(t, rows))
		if err != nil {
			t.Fatal(err)
		}
		if got := ranking(a); got[0].word != c.first || got[1].word != c.behind {
			t.Errorf("%s: %+v, want %s and %s", what, got, c.first, c.behind)
		}
	}
}

func scale(r *recorded.Row, chosen bool, by float64) {
	for i := range r.Values {
		if chosen {
			r.Values[i] *= by
		}
	}
}

// TestBarsAreOfBenchmarks: each bar names benchmarks that exist.
func TestBarsAreOfBenchmarks(t *testing.T) {
	for _, b := range bars() {
		for _, name := range append([]string{b.of}, b.over...) {
			first, _, _ := strings.Cut(name, "/")
			files, err := filepath.Glob(filepath.Join("..", "..", b.in, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				return err == nil && bytes.Contains(text, []byte("func Benchmark"+first+"(b *testing.B)"))
			}) {
				t.Errorf("%s: %s has no benchmark %s", b.what, b.in, first)
			}
		}
	}
}
