package stats

// What a run tells: who is ahead of whom in which figure, and as a whole.

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// An Analysis is everything that reports say of a run.
type Analysis struct {
	Run         *record.Run `json:"-"`
	Loops       []Loop      `json:"loops"`       // who is ranked, the best first, and then who is not
	Figures     []Row       `json:"figures"`     // in the order of the run
	Common      []string    `json:"common"`      // the figures that all ranked loops have, over which means are taken
	Comparisons int         `json:"comparisons"` // the size of the family
	Told        int         `json:"told"`        // how many of it are told
	Ahead       int         `json:"ahead"`       // figures in which the subject is ahead of the best other loop
	Behind      int         `json:"behind"`      // and in which it is behind
	Open        int         `json:"open"`        // and in which the run does not tell
	Pairs       []Pair      `json:"control_pairs,omitempty"`
}

// A Loop is a contestant as a whole.
type Loop struct {
	Name     string             `json:"name"`
	About    string             `json:"about,omitempty"`
	Rank     int                `json:"rank,omitempty"`     // neighbours that are not told apart share one; 0: not ranked
	Unranked string             `json:"unranked,omitempty"` // why it is not
	To       map[string]Verdict `json:"to,omitempty"`       // the geometric mean of its cost to that of each other ranked loop
}

// A Row is a figure.
type Row struct {
	record.Figure
	Cells map[string]Cell `json:"cells"`          // by contestant
	Best  string          `json:"best,omitempty"` // the other ranked loop that costs least
}

// A Cell is a figure of a contestant. To is its ratio to the subject, which only other ranked loops have.
type Cell struct {
	Median float64  `json:"median,omitempty"`
	Rounds Values   `json:"rounds,omitempty"`
	To     *Verdict `json:"to,omitempty"`
	NA     string   `json:"na,omitempty"`   // why there is no such cell
	Lost   string   `json:"lost,omitempty"` // why it has no value
}

// A Pair is the same contestant run twice.
type Pair struct {
	Figure string `json:"figure"`
	Impl   string `json:"impl"`
	Verdict
}

// Against is the verdict on the best other loop's ratio to the subject, nil if there is none.
func (r *Row) Against() *Verdict { return r.Cells[r.Best].To }

// Row returns a figure, nil if the run does not have it.
func (a *Analysis) Row(name string) *Row {
	for i := range a.Figures {
		if a.Figures[i].Name == name {
			return &a.Figures[i]
		}
	}
	return nil
}

// LoadTable reads a run and its measurements.
func LoadTable(dir string) (*record.Run, *Table, error) {
	run, raw, err := record.Read(dir)
	if err != nil {
		return nil, nil, err
	}
	table, err := NewTable(run, raw)
	return run, table, err
}

// Load reads a run and analyses it.
func Load(dir string) (*Analysis, error) {
	run, table, err := LoadTable(dir)
	if err != nil {
		return nil, err
	}
	return Analyse(run, table), nil
}

// Analyse decides everything at once. The family is each figure of each other ranked loop against the subject, and the mean of each ranked
// loop against each other.
func Analyse(run *record.Run, table *Table) *Analysis {
	a := &Analysis{Run: run}
	subject := run.Roles.Subject
	var ranked []string
	for _, impl := range run.Impls {
		if run.Unranked(impl.Name) == "" {
			ranked = append(ranked, impl.Name)
		}
	}
	var cells, pairs, means []Evidence
	type place struct {
		row  int
		impl string
	}
	var places []place
	for _, figure := range run.Figures {
		if figure.LeftOut != "" {
			continue
		}
		row := Row{Figure: figure, Cells: cellsOf(run, table, figure.Name)}
		for _, impl := range ranked {
			logs := row.Cells[impl].Rounds.over(row.Cells[subject].Rounds)
			if e, ok := Within(logs); ok && impl != subject {
				cells, places = append(cells, e), append(places, place{len(a.Figures), impl})
			}
		}
		if len(ranked) > 0 && !slices.ContainsFunc(ranked, func(impl string) bool { return row.Cells[impl].Rounds == nil }) {
			a.Common = append(a.Common, figure.Name)
		}
		a.Figures = append(a.Figures, row)
	}
	type match struct{ impl, to string }
	var matches []match
	if len(a.Common) > 0 {
		for i, impl := range ranked {
			for _, to := range ranked[i+1:] {
				if e, ok := Within(table.mean(a.Common, impl, to)); ok {
					means, matches = append(means, e), append(matches, match{impl, to})
				}
			}
		}
	}
	verdicts := Judge(cells, means)
	a.Comparisons = len(cells) + len(means)
	for i, at := range places {
		cell := a.Figures[at.row].Cells[at.impl]
		cell.To = &verdicts[0][i]
		a.Figures[at.row].Cells[at.impl] = cell
		if cell.To.Told {
			a.Told++
		}
	}
	a.count(ranked)
	to := map[string]map[string]Verdict{}
	for _, impl := range ranked {
		to[impl] = map[string]Verdict{}
	}
	for i, m := range matches {
		v := verdicts[1][i]
		if v.Told {
			a.Told++
		}
		to[m.impl][m.to], to[m.to][m.impl] = v, v.Inverse()
	}
	a.rank(ranked, to)
	// A control pair is judged as one more comparison beside those of the cells, and counts in none.
	for _, cell := range run.Cells {
		if e, ok := Within(table.Values(cell.Bench, cell.Impl).over(table.Values(cell.Bench, cell.Of))); ok && cell.Of != "" {
			pairs = append(pairs, e)
			a.Pairs = append(a.Pairs, Pair{Figure: cell.Bench, Impl: cell.Of})
		}
	}
	for i, v := range Judge(append(slices.Clip(cells), pairs...), means)[0][len(cells):] {
		a.Pairs[i].Verdict = v
	}
	return a
}

// Inverse is the verdict on the inverse ratio.
func (v Verdict) Inverse() Verdict {
	v.Ratio, v.Low, v.High = 1/v.Ratio, 1/v.High, 1/v.Low
	return v
}

// cellsOf collects what there is of a figure, and why the rest is not there.
func cellsOf(run *record.Run, table *Table, figure string) map[string]Cell {
	out := map[string]Cell{}
	for _, c := range run.Cells {
		if c.Bench != figure || c.Of != "" {
			continue
		}
		cell := Cell{NA: c.NA, Rounds: table.Values(figure, c.Impl)}
		cell.Median = cell.Rounds.median()
		if n := len(c.Failures); n > 0 && c.NA == "" {
			cell.Lost = c.Failures[n-1].Reason
		}
		if math.IsNaN(cell.Median) || c.Abandoned { // what was given up after some rounds counts in none
			cell.Median, cell.Rounds = 0, nil
		}
		out[c.Impl] = cell
	}
	return out
}

// count finds the best other loop of each figure, and in how many figures the subject is ahead of it.
func (a *Analysis) count(ranked []string) {
	for i := range a.Figures {
		row := &a.Figures[i]
		for _, impl := range ranked {
			if to := row.Cells[impl].To; to != nil && (row.Best == "" || to.Ratio < row.Against().Ratio) {
				row.Best = impl
			}
		}
		switch v := row.Against(); {
		case v == nil:
		case v.Above():
			a.Ahead++
		case v.Below():
			a.Behind++
		default:
			a.Open++
		}
	}
}

// rank orders the loops by their means. A loop has a rank of its own only if it is told apart from the one before it.
func (a *Analysis) rank(ranked []string, to map[string]map[string]Verdict) {
	order := slices.Clone(ranked)
	if len(order) > 1 {
		slices.SortStableFunc(order, func(x, y string) int {
			return cmp.Compare(to[x][y].Ratio, 1) // a ratio to oneself is not asked for
		})
	}
	for i, impl := range order {
		l := Loop{Name: impl, About: a.Run.Impl(impl).About, To: to[impl]}
		switch {
		case len(a.Common) == 0:
		case i == 0, a.Loops[i-1].To[impl].Told:
			l.Rank = i + 1
		default:
			l.Rank = a.Loops[i-1].Rank
		}
		a.Loops = append(a.Loops, l)
	}
	for _, impl := range a.Run.Impls {
		if why := a.Run.Unranked(impl.Name); why != "" && !strings.HasSuffix(impl.Name, record.Again) {
			a.Loops = append(a.Loops, Loop{Name: impl.Name, About: impl.About, Unranked: why})
		}
	}
}
