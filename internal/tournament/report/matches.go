// The subject figure by figure against the best other and the reference: what the verdict says of it, and the table of all.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// figureByFigure counts what the scored headlines show against the best other ranked loop.
func (d *document) figureByFigure() string {
	of := d.scored(true)
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf("Against the best other ranked loop `%s` is %s.%s", d.a.Run.Subject(), outcomes(of), worst(of))
}

// beyondMedians counts the same for high quantiles and means, which medians do not show.
func (d *document) beyondMedians() string {
	of := d.scored(false)
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf("In tails and means `%s` is %s.%s", d.a.Run.Subject(), outcomes(of), worst(of))
}

// scored returns the scored matches against the best other ranked loop: those of headlines, or those of the figures that
// headlines hide.
func (d *document) scored(headlines bool) []stats.Match {
	return slices.DeleteFunc(slices.Clone(d.a.ToBest), func(m stats.Match) bool { return !m.Scored || m.Headline != headlines })
}

// notScored lists the figures that do not count and in which the subject is worse than the best other ranked loop or the
// reference.
func (d *document) notScored() string {
	worse := slices.DeleteFunc(d.larger(), func(m stats.Match) bool { return m.Scored || !m.Large() })
	if len(worse) == 0 {
		return ""
	}
	return fmt.Sprintf("Not scored, but above 1.1×: %s.%s", count(len(worse), "figure"), worst(worse))
}

// outcomes counts what matches show.
func outcomes(of []stats.Match) string {
	n := map[stats.Outcome]int{}
	for _, m := range of {
		n[m.Outcome]++
	}
	return fmt.Sprintf("ahead in %d of %s, within %s in %d, behind in %d, and in %d nothing is shown",
		n[stats.Ahead], count(len(of), "figure"), stats.FormatPercent(stats.Margin), n[stats.Within], n[stats.Behind], n[stats.Open])
}

// worst names the match in which the subject takes most, if that is more than 1.1 times as much.
func worst(of []stats.Match) string {
	if len(of) == 0 {
		return ""
	}
	m := slices.MaxFunc(of, func(x, y stats.Match) int { return cmp.Compare(x.Ratio.Center, y.Ratio.Center) })
	if !m.Large() {
		return ""
	}
	return fmt.Sprintf(" At worst: %s, %s `%s`.", matchName(m), stats.FormatRatio(m.Ratio.Center), m.To)
}

// matchName is a match's figure: "Timer op=fire", "WakeFromIdle fd=0 p99".
func matchName(m stats.Match) string {
	unit := unitName(m.Unit)
	switch {
	case unit == "time" && !m.Headline:
		unit = "mean"
	case unit == "time" || unit == "p50":
		unit = ""
	}
	return strings.TrimSpace(spaced(m.Bench) + " " + unit)
}

// larger returns every match in which the subject takes more than 1.1 times as much, or is shown to be behind, the largest first.
func (d *document) larger() []stats.Match {
	all := slices.DeleteFunc(slices.Concat(d.a.ToBest, d.a.ToReference), func(m stats.Match) bool { return !m.Large() && m.Outcome != stats.Behind })
	slices.SortStableFunc(all, func(x, y stats.Match) int { return cmp.Compare(y.Ratio.Center, x.Ratio.Center) })
	seen := map[stats.Match]bool{} // the best other may be the reference
	return slices.DeleteFunc(all, func(m stats.Match) bool {
		key := stats.Match{Bench: m.Bench, Unit: m.Unit, To: m.To}
		was := seen[key]
		seen[key] = true
		return was
	})
}

// dearer lists the figures in which the subject takes more.
func (d *document) dearer() (section, bool) {
	t := table{words: 4, head: []string{"figure", "to", "shown", "counts", "ratio", "95 % interval"}}
	for _, m := range d.larger() {
		counts := "no"
		switch {
		case m.Scored && m.Headline:
			counts = "yes"
		case m.Scored:
			counts = "by its median"
		}
		t.rows = append(t.rows, []cell{{text: matchName(m)}, {text: "`" + m.To + "`"}, {text: string(m.Outcome)}, {text: counts},
			ratioCell(m.Ratio.Center), rangeCell(stats.FormatRatioRange(m.Ratio), m.Ratio, "×")})
	}
	lead := fmt.Sprintf("%s above 1.1× the best other ranked loop or %s, whether shown or not, or shown to be behind.",
		count(len(t.rows), "figure"), d.reference())
	return section{fmt.Sprintf("Where `%s` takes more", d.a.Run.Subject()), lead, []block{t}}, len(t.rows) > 0
}

// matched is the table of all matches.
func (d *document) matched() []block {
	t := table{words: 3, head: []string{"figure", "to", "shown", "ratio", "95 % interval", "p of a difference", "p of more than 10 % apart"}}
	for _, m := range append(slices.Clone(d.a.ToBest), d.a.ToReference...) {
		name := matchName(m)
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
