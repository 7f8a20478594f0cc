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
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

var (
	barRounds = flag.Int("bars", 0, "`rounds` in which the bars are measured; 0: they are not")
	onlyBars  = flag.String("only", "", "measure only bars that match the `regexp`")
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
	inRedis   = "examples/redis"
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
	judge(t, all, measured, clock)
}

// judge holds all bars to their limits at once.
func judge(t *testing.T, all []bar, measured []map[string][]float64, clock float64) {
	var evidence []stats.Evidence
	at := make([]int, len(all)) // of a bar in the evidence
	over := make([]string, len(all))
	for i, b := range all {
		limit := b.limit
		if b.clock {
			limit *= clock
		}
		if b.rate {
			limit = 1 / limit
		}
		own := measured[i][b.of]
		for _, name := range b.over {
			if over[i] == "" || middle(measured[i][name]) < middle(measured[i][over[i]]) {
				over[i] = name
			}
		}
		logs := make([]float64, len(own))
		for k, v := range own {
			switch {
			case over[i] == "":
				logs[k] = math.Log(v / limit)
			case b.plus:
				logs[k] = math.Log(v / (measured[i][over[i]][k] + limit))
			default:
				logs[k] = math.Log(v / measured[i][over[i]][k] / limit)
			}
		}
		at[i] = -1
		if e, ok := stats.Within(logs); ok && !math.IsInf(e.Mean, 0) && !math.IsNaN(e.Mean) {
			at[i] = len(evidence)
			evidence = append(evidence, e)
		}
	}
	verdicts := stats.Judge(evidence)[0]
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "bar\tunit\tover\tlimit\tshare of it\t95 %\t")
	for i, b := range all {
		word, share, interval := "not measured", "", ""
		switch own := middle(measured[i][b.of]); {
		case at[i] >= 0:
			v := verdicts[at[i]]
			share, interval = stats.Digits(v.Ratio), v.FormatInterval()
			word = "open"
			if v.Below() {
				word = "met"
			} else if v.Above() {
				word = "MISSED"
			}
		case b.limit == 0 && own == 0:
			word = "met"
		case b.limit == 0 && own > 0:
			word = "MISSED"
		}
		if word == "MISSED" {
			t.Errorf("%s is missed", b.what)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%g\t%s\t%s\t%s\n", b.what, b.unit, over[i], b.limit, share, interval, word)
	}
	w.Flush()
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
