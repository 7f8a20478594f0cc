// The subject figure by figure against the best other and the reference: what the verdict says of it, and the table of all.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// figureByFigure counts what the scored headlines show against the best other ranked loop, and lists where the subject takes more.
func (d *document) figureByFigure() string {
	var of []stats.Match
	for _, m := range d.a.ToBest {
		if m.Scored && m.Headline {
			of = append(of, m)
		}
	}
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf("Figure by figure, against the best other ranked loop, `%s` is %s. %s", d.a.Run.Subject(), outcomes(of), large(of))
}

// beyondMedians does so with what medians do not show, against the best other ranked loop and against the reference.
func (d *document) beyondMedians() string {
	var out []string
	for _, of := range []struct {
		whom string
		all  []stats.Match
	}{{"the best other ranked loop", d.a.ToBest}, {"`" + d.a.Run.Reference() + "`", d.a.ToReference}} {
		var details []stats.Match
		for _, m := range of.all {
			if m.Scored && !m.Headline {
				details = append(details, m)
			}
		}
		if len(details) > 0 {
			out = append(out, fmt.Sprintf("In tails, and in means where the headline is a median, it is against %s %s. %s", of.whom, outcomes(details), large(details)))
		}
	}
	return strings.Join(out, " ")
}

// notScored names what does not count and is worse than the best other ranked loop or the reference.
func (d *document) notScored() string {
	var worse []string
	seen := map[string]bool{}
	for _, m := range append(slices.Clone(d.a.ToBest), d.a.ToReference...) {
		key := m.Bench + m.Unit + m.To
		if !m.Scored && (m.Large() || m.Outcome == stats.Behind) && !seen[key] {
			seen[key] = true
			worse = append(worse, named(m))
		}
	}
	if len(worse) == 0 {
		return ""
	}
	return fmt.Sprintf("Not scored, but above 1.1×: %s.", list(worse))
}

// outcomes counts what matches show: "ahead in 3 of 10, within 10 % in 2 (shown), behind in 1; in 4 neither is shown".
func outcomes(of []stats.Match) string {
	n := map[stats.Outcome]int{}
	for _, m := range of {
		n[m.Outcome]++
	}
	return fmt.Sprintf("ahead in %d of %s, within %s in %d (shown by a test of equivalence) and behind in %d; in %d none of this is shown",
		n[stats.Ahead], count(len(of), "figure"), stats.FormatPercent(stats.Margin), n[stats.Within], n[stats.Behind], n[stats.Open])
}

// large lists every match in which the subject takes more than 1.1 times as much, the largest first.
func large(of []stats.Match) string {
	all := slices.DeleteFunc(slices.Clone(of), func(m stats.Match) bool { return !m.Large() })
	if len(all) == 0 {
		return "In none does it take more than 1.1×."
	}
	slices.SortStableFunc(all, func(x, y stats.Match) int { return cmp.Compare(y.Ratio.Center, x.Ratio.Center) })
	var items []string
	for _, m := range all {
		items = append(items, named(m))
	}
	return fmt.Sprintf("Above 1.1×: %s.", list(items))
}

// named writes a match: "Timer op=fire (1.24× `alternatetwo`, behind)".
func named(m stats.Match) string {
	unit := unitName(m.Unit)
	switch {
	case unit == "time" && !m.Headline:
		unit = "mean"
	case unit == "time" || unit == "p50":
		unit = ""
	}
	return fmt.Sprintf("%s (%s `%s`, %s)", strings.TrimSpace(spaced(m.Bench)+" "+unit), stats.FormatRatio(m.Ratio.Center), m.To, m.Outcome)
}

// matched is the table of all matches.
func (d *document) matched() []block {
	t := table{words: 3, head: []string{"figure", "to", "shown", "ratio", "95 % interval", "p of a difference", "p of more than 10 % apart"}}
	for _, m := range append(slices.Clone(d.a.ToBest), d.a.ToReference...) {
		name := spaced(m.Bench)
		if unit := unitName(m.Unit); unit != "time" || !m.Headline {
			name += ", " + strings.Replace(unit, "time", "mean", 1)
		}
		if !m.Scored {
			name += " (not scored)"
		}
		t.rows = append(t.rows, []cell{{text: name}, {text: "`" + m.To + "`"}, {text: string(m.Outcome)},
			{text: stats.FormatRatio(m.Ratio.Center)}, {text: stats.FormatRatioRange(m.Ratio)},
			{text: fmt.Sprintf("%.2g", m.Differ)}, {text: fmt.Sprintf("%.2g", m.Level)}})
	}
	if len(t.rows) == 0 {
		return nil
	}
	return []block{
		heading{3, "Figure by figure"},
		para("`" + d.a.Run.Subject() + "` against the best other ranked loop and against " + d.reference() + ", by ratios within rounds. Ahead and behind: a signed-rank test, " +
			"corrected by Benjamini and Hochberg, and beyond the noise floor. Within 10 %: two one-sided tests of being further apart, corrected likewise. " +
			"What neither shows is said to be not shown, which is not to be level."),
		details{"Every match", []block{t}},
	}
}
