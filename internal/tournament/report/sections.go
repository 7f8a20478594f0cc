// The sections around the figures: conformance, caveats, environment.

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// provisional says who is ranked without having been held to the conformance suite. A loop that loses work may be fast.
func (d *document) provisional() string {
	held := func(impl string) bool {
		return slices.ContainsFunc(d.a.Run.Checks, func(c record.Conformity) bool { return c.Impl == impl && len(c.Checks) > 0 })
	}
	var ranked, unheld []string
	for _, impl := range d.a.Run.Impls {
		if d.a.Ranked(impl.Name) {
			ranked = append(ranked, impl.Name)
			if !held(impl.Name) {
				unheld = append(unheld, impl.Name)
			}
		}
	}
	switch len(unheld) {
	case 0:
		return ""
	case len(ranked):
		return "This ranking is provisional: the conformance suite was not run."
	}
	return "This ranking is provisional: the conformance suite was not run on " + list(codes(unheld)) + "."
}

// conformance shows how far each contestant meets the requirements: a table by group, then every deviation.
func (d *document) conformance() section {
	var out []block
	held := slices.DeleteFunc(slices.Clone(d.a.Run.Checks), func(c record.Conformity) bool { return len(c.Checks) == 0 })
	if len(held) == 0 {
		return section{"Conformance", "The conformance suite was not run, so the ranking is provisional.", nil}
	}
	var impls, groups []string
	outcomes := map[string]map[string]bench.Check{} // contestant, check
	members := map[string][]string{}
	for _, c := range held {
		impls = append(impls, c.Impl)
		outcomes[c.Impl] = map[string]bench.Check{}
		for _, ch := range c.Checks {
			outcomes[c.Impl][ch.Name] = ch
			group, _, _ := strings.Cut(ch.Name, "_")
			if !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
			if !slices.Contains(members[group], ch.Name) {
				members[group] = append(members[group], ch.Name)
			}
		}
	}
	sort.Strings(groups)
	t := table{head: append([]string{"requirement", "checks"}, codes(impls)...)}
	full := table{head: append([]string{"check"}, codes(impls)...)}
	for _, group := range groups {
		row := []cell{{text: strings.TrimSpace(group + " " + topics[group])}, countCell(len(members[group]))}
		for _, impl := range impls {
			row = append(row, groupOutcome(outcomes[impl], members[group]))
		}
		t.rows = append(t.rows, row)
		for _, name := range members[group] {
			line := words(plain(name))
			for _, impl := range impls {
				o := cmp.Or(outcomes[impl][name].Outcome, "–")
				if o == bench.Fail || o == bench.NoResult {
					o = "**" + o + "**"
				}
				line = append(line, cell{text: o})
			}
			full.rows = append(full.rows, line)
		}
	}
	out = append(out,
		para("One suite is held against every contestant. “✓”: all checks of the group pass; “n/a”: the contestant has no such capability; "+
			"“diverges”: a known and declared divergence, which the suite confirms. A contestant that fails a check it claims to "+
			"meet is shown but not ranked."),
		t,
	)
	if open := unchecked(groups); len(open) > 0 {
		out = append(out, para("Without a check in this run: "+list(open)+". D05, D11 to D13, D15, D19 and D20 are about promises, "+
			"which the tests of the packages that have them check."))
	}
	out = append(out, details{"Every check", []block{full}})
	for _, c := range held {
		if b := deviations(c); b != nil {
			out = append(out, b)
		}
	}
	return section{"Conformance", d.conforming(held), out}
}

// conformity counts the checks of a contestant, without those that do not apply.
func (d *document) conformity(impl string) (passed, total, diverges int) {
	for _, c := range d.a.Run.Checks {
		if c.Impl != impl {
			continue
		}
		for _, ch := range c.Checks {
			switch ch.Outcome {
			case bench.Pass:
				passed++
				total++
			case bench.Diverges:
				diverges++
				total++
			case bench.NotApplicable:
			default:
				total++
			}
		}
	}
	return passed, total, diverges
}

// conforming counts each contestant's checks.
func (d *document) conforming(held []record.Conformity) string {
	var parts []string
	for _, c := range held {
		passed, total, diverges := d.conformity(c.Impl)
		part := fmt.Sprintf("`%s` %d of %d", c.Impl, passed, total)
		if diverges > 0 {
			part += fmt.Sprintf(" (diverges in %d)", diverges)
		}
		if failed := len(c.Failed()); failed > 0 {
			part += fmt.Sprintf(" (**fails %d**)", failed)
		}
		parts = append(parts, part)
	}
	return "Checks passed of those that apply: " + list(parts) + "."
}

// unchecked lists the codes of docs/requirements.md for which no check was run.
func unchecked(groups []string) []string {
	var out []string
	for n := 1; n <= 20; n++ {
		if code := fmt.Sprintf("D%02d", n); !slices.Contains(groups, code) {
			out = append(out, strings.TrimSpace(code+" "+topics[code]))
		}
	}
	return out
}

// topics says in words what the codes of docs/requirements.md stand for.
var topics = map[string]string{
	"D01": "no zombie states",
	"D02": "microtasks",
	"D03": "no lost wake-up",
	"D04": "runs once",
	"D05": "Promisify: one owner",
	"D06": "panics and Goexit",
	"D07": "wake storms",
	"D08": "re-entrancy",
	"D09": "priority lanes",
	"D10": "queue order and retention",
	"D11": "promise registry: compaction",
	"D12": "Promisify: context",
	"D13": "promise registry: scavenging",
	"D14": "no allocation",
	"D15": "promise registry: pace",
	"D16": "Shutdown and Close",
	"D17": "overload",
	"D18": "cached time",
	"D19": "ToChannel",
	"D20": "promise registry: threshold",
	"IO":  "descriptors",
}

// groupOutcome summarises the checks of a group. It sorts by the share that pass.
func groupOutcome(outcomes map[string]bench.Check, names []string) cell {
	count := map[string]int{}
	for _, n := range names {
		count[cmp.Or(outcomes[n].Outcome, bench.NotApplicable)]++
	}
	applicable := len(names) - count[bench.NotApplicable]
	var parts []string
	switch {
	case applicable == 0:
		return cell{text: "n/a"}
	case count[bench.Pass] == applicable && applicable == len(names):
		return cell{text: "✓", key: 1, by: true}
	case count[bench.Pass] == applicable:
		parts = append(parts, "✓")
	default:
		parts = append(parts, fmt.Sprintf("%d of %d", count[bench.Pass], applicable))
	}
	for _, o := range []string{bench.Fail, bench.NoResult, bench.Diverges, bench.NotApplicable} {
		if n := count[o]; n > 0 {
			text := fmt.Sprintf("%d %s", n, o)
			if o == bench.Fail || o == bench.NoResult {
				text = "**" + text + "**"
			}
			parts = append(parts, text)
		}
	}
	return cell{text: strings.Join(parts, ", "), key: float64(count[bench.Pass]) / float64(applicable), by: true}
}

// deviations lists the checks that a contestant fails or diverges from, with the reasons. Checks with the same reason stand
// together.
func deviations(c record.Conformity) block {
	failed, diverging := 0, 0
	names, order := map[[2]string][]string{}, [][2]string{}
	for _, ch := range c.Checks {
		switch ch.Outcome {
		case bench.Fail, bench.NoResult:
			failed++
		case bench.Diverges:
			diverging++
		default:
			continue
		}
		why := [2]string{ch.Outcome, cmp.Or(plain(ch.Reason), "no reason given")}
		if names[why] == nil {
			order = append(order, why)
		}
		names[why] = append(names[why], plain(ch.Name))
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(x, y [2]string) int {
		switch {
		case x[0] == bench.Diverges && y[0] != bench.Diverges:
			return 1
		case x[0] != bench.Diverges && y[0] == bench.Diverges:
			return -1
		}
		return 0
	})
	t := table{head: []string{"requirements", "outcome", "reason"}, words: 3}
	for _, why := range order {
		outcome := why[0]
		if outcome != bench.Diverges {
			outcome = "**" + outcome + "**"
		}
		t.rows = append(t.rows, words(strings.Join(names[why], ", "), outcome, why[1]))
	}
	summary := fmt.Sprintf("`%s`: %s", c.Impl, count(diverging, "declared divergence"))
	if failed > 0 {
		summary = fmt.Sprintf("`%s`: %d failed, %s", c.Impl, failed, count(diverging, "declared divergence"))
	}
	inside := []block{t}
	if c.Note != "" {
		inside = append([]block{para(plain(c.Note))}, t)
	}
	return details{summary, inside}
}

// caveats says what may be wrong with the figures.
func (d *document) caveats() section {
	run := d.a.Run
	items := bullets{
		"Figures hold for this machine on that day. Timings of different machines are never compared.",
		"Intervals are order-statistic 95 % intervals of the median over rounds; they do not cover what is the same in every round, such as " +
			"code alignment.",
	}
	if lacks := run.Lacks(); len(lacks) > 0 {
		items = append(items, "This run does not say "+list(lacks)+": it was made before runs did, or where it cannot be found out. So it cannot be checked.")
	}
	if run.Mode == record.Quick {
		items = append(items, "Quick mode: each measurement lasts a few milliseconds, and benchmarks that take long to prepare, and some variants of others, are left out.")
	}
	if run.Dropped > 0 {
		items = append(items, fmt.Sprintf("The budget had no time for %s more: every interval is wider for it.", count(run.Dropped, "round")))
	}
	if run.OverBy != "" {
		items = append(items, "The budget did not suffice: "+plain(run.OverBy)+".")
	}
	if n := len(run.Sessions); n > 1 {
		items = append(items, fmt.Sprintf("The run was interrupted and resumed; it took %d sessions.", n))
	}
	for _, s := range run.Sessions {
		if len(s.LoadBefore) > 0 && s.LoadBefore[0] > float64(run.Env.Cores)/2 {
			items = append(items, fmt.Sprintf("When measuring began (%s), the load was %s already, more than half of %s: other work may have "+
				"taken time from all contestants.", s.Started.UTC().Format(time.RFC3339), loads(s.LoadBefore), count(run.Env.Cores, "core")))
		}
		if s.Stolen > 0.02 {
			items = append(items, fmt.Sprintf("While measuring went on (%s), the host kept %s of the processors' time from this machine: "+
				"figures tell of its other guests too.", s.Started.UTC().Format(time.RFC3339), stats.FormatPercent(s.Stolen)))
		}
	}
	if run.Rounds < 6 {
		items = append(items, "Fewer than six rounds give no intervals.")
	}
	if s := d.roundSpeed(); s != "" {
		items = append(items, s)
	}
	if run.Env.Governor != "" && run.Env.Governor != "performance" {
		items = append(items, "The CPU frequency governor is "+plain(run.Env.Governor)+", so the clock may vary.")
	}
	items = append(items, d.pairItem())

	out := []block{items}
	notes := table{words: 2, head: []string{"contestant", "what to know of its figures"}}
	for _, impl := range run.Impls {
		if impl.Note != "" {
			notes.rows = append(notes.rows, words("`"+impl.Name+"`", capital(plain(impl.Note))))
		}
	}
	if len(notes.rows) > 0 {
		out = append(out, notes)
	}
	kinds := map[string]table{}
	var order []string
	for _, f := range d.a.Flags {
		t, seen := kinds[f.Kind]
		if !seen {
			order = append(order, f.Kind)
			t = table{head: []string{"figure", "contestant", "what"}, words: 3}
		}
		t.rows = append(t.rows, words(spaced(f.Bench), "`"+f.Impl+"`", plain(f.Text)))
		kinds[f.Kind] = t
	}
	for _, kind := range order {
		out = append(out, details{fmt.Sprintf("Flag “%s”: %s", kind, count(len(kinds[kind].rows), "figure")), []block{kinds[kind]}})
	}
	if len(order) == 0 {
		out = append(out, para("No figure was flagged as an outlier, drifting, imprecise, failed or too fast to be true."))
	}
	lead := "What may be wrong with the figures"
	if n := len(d.a.Flags); n > 0 {
		lead += fmt.Sprintf("; %s", count(n, "flag"))
	}
	return section{"Caveats", lead + ".", out}
}

// roundSpeed says how evenly fast the machine was.
func (d *document) roundSpeed() string {
	if len(d.a.Speed) < 2 {
		return ""
	}
	slow, fast := d.a.Speed[0], d.a.Speed[0]
	for _, s := range d.a.Speed {
		if s.Factor > slow.Factor {
			slow = s
		}
		if s.Factor < fast.Factor {
			fast = s
		}
	}
	return fmt.Sprintf("Over all cells, the slowest round (%d) took %s more than the typical one, the fastest (%d) %s less. Since every round "+
		"measures every cell, this hits all contestants alike.",
		slow.Round, stats.FormatPercent(math.Max(slow.Factor-1, 0)), fast.Round, stats.FormatPercent(math.Max(1-fast.Factor, 0)))
}

func (d *document) pairItem() string {
	if len(d.a.Noise.Pairs) == 0 {
		return "There were no control pairs, so the noise floor is assumed."
	}
	var parts []string
	for _, p := range d.a.Noise.Pairs {
		parts = append(parts, fmt.Sprintf("%s `%s` %s", spaced(p.Bench), p.Impl, stats.FormatRatio(p.Ratio.Center)))
	}
	var floors []string
	for _, c := range d.a.Categories {
		if _, ok := d.a.Noise.Categories[c.Name]; ok {
			floors = append(floors, fmt.Sprintf("%s %s", c.Name, stats.FormatPercent(d.a.Noise.In(c.Name).Floor)))
		}
	}
	return fmt.Sprintf("Control pairs (one loop measured as if it were two contestants; 1× is perfect): %s. The noise floor of times by category, which is "+
		"the largest difference of a pair there and at least that of the mean over all: %s.", strings.Join(parts, ", "), strings.Join(floors, ", "))
}

// environment tells where the run took place.
func (d *document) environment() section {
	run, env := d.a.Run, d.a.Run.Env
	t := table{words: 2, head: []string{"what", "value"}}
	add := func(what, value string) {
		if value != "" {
			t.rows = append(t.rows, words(what, plain(value)))
		}
	}
	add("run", fmt.Sprintf("%s, %s mode, %s, seed %d, budget %v", run.Name, run.Mode, count(run.Rounds, "round"), run.Seed, run.Budget))
	if run.RoundNS > 0 {
		round, measured := time.Duration(run.RoundNS), time.Duration(run.MeasuredNS)
		add("plan of a round", fmt.Sprintf("%.1f s, of which %.1f s are measured; the rest starts and prepares processes",
			round.Seconds(), measured.Seconds()))
	}
	add("commit", d.commit())
	add("CPU", fmt.Sprintf("%s, %s", cmp.Or(env.CPU, "unknown"), count(env.Cores, "core")))
	add("machine", env.Machine)
	add("processors", env.Processors)
	if env.MemoryMiB > 0 {
		add("memory", fmt.Sprintf("%d MiB", env.MemoryMiB))
	}
	add("system", strings.TrimSpace(env.Kernel+" "+env.GOOS+"/"+env.GOARCH))
	add("container", cmp.Or(env.Container, "none"))
	add("CPU limit", cmp.Or(env.CPULimit, "none"))
	add("memory limit", cmp.Or(env.MemLimit, "none"))
	add("CPU governor", env.Governor)
	add("GOMAXPROCS", fmt.Sprint(env.GOMAXPROCS))
	add("GOGC, GOMEMLIMIT", env.GOGC+", "+env.GOMEMLIMIT)
	add("GODEBUG", env.GODEBUG)
	add("Go", run.Binary.Go)
	add("build", pairs(run.Binary.Settings))
	add("modules", pairs(run.Binary.Modules))
	add("benchmark binary", "sha256 "+run.Binary.SHA256)
	if run.Raw.SHA256 != "" {
		add("measurements", fmt.Sprintf("sha256 %s, %d lines", run.Raw.SHA256, run.Raw.Lines))
	}
	add("cost of time.Now", fmt.Sprintf("%.3g ns", env.TimeNowNS))
	for i, s := range run.Sessions {
		what := "session"
		if len(run.Sessions) > 1 {
			what = fmt.Sprintf("session %d", i+1)
		}
		value := s.Started.UTC().Format(time.RFC3339)
		if !s.Ended.IsZero() {
			value += fmt.Sprintf(", %v", s.Ended.Sub(s.Started))
		}
		add(what, value+", load before "+loads(s.LoadBefore)+", after "+loads(s.LoadAfter))
	}
	if len(env.Unknown) > 0 {
		add("not found out", list(env.Unknown))
	}
	return section{"Environment", d.summary(), []block{t}}
}

func pairs(m map[string]string) string {
	var out []string
	for k, v := range m {
		out = append(out, k+" "+v)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func loads(l []float64) string {
	if len(l) == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", l[0])
}
