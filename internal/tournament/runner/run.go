// Package runner measures: every cell in a process of its own, round after round, in a new order each time, all contestants
// of a figure back to back, each for the same time. It stores raw results and judges nothing.
package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/environ"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// Config says what to run.
type Config struct {
	record.Options
	Aim      time.Duration        // the time to fill with rounds where neither their number nor a budget was asked for
	Bench    string               // the program whose benchmarks are run; with its role in the environment it acts as a test binary
	Cells    []bench.Cell         // all cells that it has
	Figures  []record.Figure      // in the order of reports
	Checks   []record.Requirement // of the suite
	Out      string               // folder of results
	Seed     uint64               // of the shuffles, 0: a random one
	Fresh    bool                 // do not resume an interrupted run
	Procs    int                  // GOMAXPROCS of the cells
	Timeout  time.Duration        // of one cell
	Source   record.Source        // what the binary was built from
	Command  string               // how to repeat this
	Speaks   map[string]Program   // who is a program that speaks the line protocol, by name
	Roles    record.Roles         // who the reports turn on
	Impls    []record.Impl        // everyone who may take part
	Env      []string             // of the children; nil: this process's
	Progress Progress
}

// ErrInterrupted says that the run was ended from outside. What it has measured is kept; Run's error says more.
var ErrInterrupted = errors.New("interrupted")

// givenUp is how often a cell may fail before it is left alone: once may be chance, and a watchdog's patience is
// expensive.
const givenUp = 2

// mostRounds is the number beyond which more rounds would show only what a run can hardly have caught: differences of a few per cent.
const mostRounds = 30

type runner struct {
	Config
	rec    *record.Run
	raw    *record.Raw
	done   map[record.Done]bool
	dir    string    // where results go until the run is complete
	head   []string  // configuration lines that the binary prints
	from   time.Time // start of this session
	stolen time.Duration
	took   map[string]time.Duration // what each cell took when it last ran, for the time that is left
}

// Run runs the tournament, or the rest of an interrupted one, and returns its description. The results are in cfg.Out
// when the run is complete, and in a folder below it otherwise.
func Run(ctx context.Context, cfg Config) (*record.Run, error) {
	r := &runner{Config: cfg, dir: record.Partial(cfg.Out), from: time.Now(), stolen: environ.Stolen(), took: map[string]time.Duration{}}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, err
	}
	err := r.open()
	if err != nil {
		return nil, err
	}
	defer cfg.Progress.Close()
	err = r.phases(ctx)
	if ctx.Err() != nil {
		err = r.interrupted()
	}
	session := &r.rec.Sessions[len(r.rec.Sessions)-1]
	session.Ended = time.Now().UTC().Truncate(time.Second)
	if all := time.Since(r.from) * time.Duration(r.rec.Env.Cores); all > 0 {
		session.Stolen = float64(environ.Stolen()-r.stolen) / float64(all)
	}
	r.rec.Complete = err == nil
	err = errors.Join(err, r.close())
	if err != nil {
		return r.rec, err
	}
	return r.rec, record.Promote(cfg.Out)
}

// interrupted says what becomes of an interrupted run. Before the number of rounds is fixed there is nothing to go on from.
func (r *runner) interrupted() error {
	switch {
	case r.rec.Rounds == 0:
		return fmt.Errorf("%w before measuring began; the same command starts anew", ErrInterrupted)
	case r.Fresh:
		return fmt.Errorf("%w; the same command without -fresh goes on from here", ErrInterrupted)
	}
	return fmt.Errorf("%w; the same command goes on from here", ErrInterrupted)
}

// open prepares the record: a new one, or that of the run to resume.
func (r *runner) open() error {
	binary, err := inspect(r.Bench)
	if err != nil {
		return err
	}
	now := &record.Run{
		Options: r.Options, Command: r.Command, Seed: r.Seed, Source: r.Source, Binary: binary,
		Env: environ.Capture(r.Procs), Roles: r.Roles, Impls: r.Impls, Figures: r.Figures,
	}
	if now.Seed == 0 {
		now.Seed = rand.Uint64()>>1 | 1
	}
	r.rec = now
	before, why := r.resumable(now)
	if before != nil {
		r.rec = before
	} else if err := os.Remove(r.failures()); err != nil && !record.Missing(err) {
		return err
	}
	if why != "" {
		r.Progress.Say("starting anew: %s", why)
	}
	r.rec.Sessions = append(r.rec.Sessions, record.Session{Started: r.from.UTC().Truncate(time.Second)})
	return nil
}

// resumable returns the interrupted run in the folder if it can go on, and otherwise why not.
func (r *runner) resumable(now *record.Run) (*record.Run, string) {
	before, err := record.Load(r.dir)
	switch {
	case record.Missing(err):
		return nil, ""
	case err != nil:
		return nil, err.Error()
	case r.Fresh:
		return nil, "the interrupted run is ignored, as asked"
	case before.Rounds == 0:
		return nil, "the interrupted run had not begun to measure"
	case before.Options != now.Options || (r.Seed != 0 && before.Seed != now.Seed):
		return nil, "the interrupted run had other flags"
	case before.Binary.SHA256 != now.Binary.SHA256 || before.Source != now.Source:
		return nil, "the interrupted run measured another binary or commit"
	}
	if diff := append(environ.Differences(before.Env, now.Env), environ.Settings(before.Env, now.Env)...); len(diff) > 0 {
		return nil, "the interrupted run was in another environment (" + strings.Join(diff, "; ") + ")"
	}
	raw, done, err := record.ResumeRaw(r.dir)
	if err != nil {
		return nil, err.Error()
	}
	r.raw, r.done = raw, done
	return before, ""
}

func (r *runner) close() error {
	var err error
	if r.raw != nil {
		err = errors.Join(r.raw.Close(), record.SealRaw(r.dir, r.rec))
	}
	return errors.Join(err, record.Save(r.dir, r.rec))
}

// phases takes the phases in turn.
func (r *runner) phases(ctx context.Context) error {
	if r.rec.Rounds == 0 {
		for _, phase := range []func(context.Context) error{r.prepare, r.conform, r.discarded} {
			if err := phase(ctx); err != nil {
				return err
			}
			if err := record.Save(r.dir, r.rec); err != nil {
				return err
			}
		}
		raw, err := record.CreateRaw(r.dir, r.header())
		if err != nil {
			return err
		}
		r.raw, r.done = raw, map[record.Done]bool{}
		if err := r.fix(); err != nil {
			return err
		}
		if err := record.Save(r.dir, r.rec); err != nil {
			return err
		}
	}
	r.Progress.Phase(fmt.Sprintf("%d rounds of %d cells, seed %d", r.rec.Rounds, r.running(), r.rec.Seed), r.rec.Rounds*r.running()-len(r.done))
	for round := 1; round <= r.rec.Rounds; round++ {
		if err := r.round(ctx, round, r.measured); err != nil {
			return err
		}
	}
	return nil
}

// header is the configuration that holds for all results. The round is added per result.
func (r *runner) header() []string {
	lines := r.head
	add := func(key, value string) {
		if value != "" {
			lines = append(lines, key+": "+value)
		}
	}
	add("commit", r.rec.Source.Commit)
	if r.rec.Source.Dirty {
		add("tree", "dirty")
	}
	add("go", r.rec.Binary.Go)
	add("kernel", r.rec.Env.Kernel)
	add("container", r.rec.Env.Container)
	add("cpu-limit", r.rec.Env.CPULimit)
	add("gomaxprocs", strconv.Itoa(r.rec.Env.GOMAXPROCS))
	add("mode", r.rec.Mode)
	return lines
}

// discarded runs a round whose results do not count. It finds out who has no such cell, and how long a round takes.
func (r *runner) discarded(ctx context.Context) error {
	r.Progress.Phase(fmt.Sprintf("a round of %d cells that does not count", r.running()), r.running())
	return r.round(ctx, 0, func(c *record.Cell, _ int, out bench.Output, err error) error {
		if skipped, ok := errors.AsType[bench.Skipped](err); ok {
			c.NA = string(skipped)
			return nil
		}
		if err != nil {
			r.failed(c, 0, err)
		}
		return nil
	})
}

// fix decides how many rounds there are: as many as were asked for, or as there is time for, and never fewer than the least. With a
// budget that is too short for these, the last figures are left out.
func (r *runner) fix() error {
	least := record.FewestRounds
	if r.Asked > 0 {
		least = r.Asked
	}
	whole := r.Budget
	if whole == 0 {
		whole = r.Aim
	}
	left := whole - time.Since(r.from)
	for i := len(r.rec.Figures) - 1; i > 0 && r.Budget > 0 && r.ahead(0)*time.Duration(least) > left; i-- {
		figure := &r.rec.Figures[i]
		if figure.LeftOut == "" {
			figure.LeftOut = fmt.Sprintf("%v is too short for %d rounds with it", r.Budget, least)
			r.Progress.Say("%s is left out: %s", figure.Name, figure.LeftOut)
		}
	}
	r.rec.Rounds = r.Asked
	if r.Asked == 0 {
		r.rec.Rounds = min(max(int(left/max(r.ahead(0), 1)), least), mostRounds)
	}
	if r.running() == 0 {
		return errors.New("none of the cells can be measured (see failures.txt)")
	}
	return nil
}

// ahead is how long the rest of a round will take, by what its cells took last. Round 0 is a whole one.
func (r *runner) ahead(round int) (left time.Duration) {
	for i := range r.rec.Cells {
		if c := &r.rec.Cells[i]; r.runs(c) && (round == 0 || !r.done[record.Done{Round: round, Name: c.Name}]) {
			left += r.took[c.Name]
		}
	}
	return left
}

// runs tells whether a cell takes part in the rounds.
func (r *runner) runs(c *record.Cell) bool { return c.Runs() && r.rec.Figure(c.Bench).LeftOut == "" }

func (r *runner) running() int {
	n := 0
	for i := range r.rec.Cells {
		if r.runs(&r.rec.Cells[i]) {
			n++
		}
	}
	return n
}

// round measures what is left of a round, and hands the results to book.
func (r *runner) round(ctx context.Context, round int, book func(*record.Cell, int, bench.Output, error) error) error {
	whole := r.ahead(0)
	for _, i := range order(r.rec.Seed, round, r.rec.Cells) {
		c := &r.rec.Cells[i]
		if r.done[record.Done{Round: round, Name: c.Name}] || !r.runs(c) {
			continue
		}
		left := max(r.Budget, r.Aim) // until a round has told how long the cells take
		if round > 0 {
			left = r.ahead(round) + whole*time.Duration(max(r.rec.Rounds-round, 0))
		}
		r.Progress.Step(fmt.Sprintf("round %d/%d %s", round, r.rec.Rounds, short(c.Name)), left)
		began := time.Now()
		out, err := r.measure(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.took[c.Name] = time.Since(began)
		if err := book(c, round, out, err); err != nil {
			return err
		}
	}
	return nil
}

// measured keeps a result. A failure of a cell is recorded, and ends nothing but the cell.
func (r *runner) measured(c *record.Cell, round int, out bench.Output, err error) error {
	r.done[record.Done{Round: round, Name: c.Name}] = true
	if err != nil {
		r.failed(c, round, err)
		return record.Save(r.dir, r.rec)
	}
	line := out.Line
	if c.Of != "" {
		line = relabel(line, c)
	}
	return r.raw.Append(round, line, out.Units)
}

func (r *runner) failed(c *record.Cell, round int, err error) {
	c.Failures = append(c.Failures, record.Failure{Round: round, Reason: err.Error()})
	c.Abandoned = len(c.Failures) >= givenUp
	r.Progress.Say("%s failed: %v", short(c.Name), err)
	if c.Abandoned {
		r.Progress.Say("%s is left out from here on", short(c.Name))
	}
}

// order returns the order of the cells in a round, as indexes: the figures shuffled, and within each its contestants, so
// that what is compared is measured close in time. It depends on the seed and the round only, so that a resumed round continues
// as it would have.
func order(seed uint64, round int, cells []record.Cell) []int {
	blocks := map[string][]int{}
	var names []string
	for i, c := range cells {
		if blocks[c.Bench] == nil {
			names = append(names, c.Bench)
		}
		blocks[c.Bench] = append(blocks[c.Bench], i)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	var out []int
	for _, n := range rng.Perm(len(names)) {
		block := blocks[names[n]]
		for _, i := range rng.Perm(len(block)) {
			out = append(out, block[i])
		}
	}
	return out
}

// short is a cell's name for people.
func short(name string) string { return strings.TrimPrefix(name, "Benchmark") }

func (r *runner) failures() string { return filepath.Join(r.Out, "failures.txt") }

// failureLog keeps the whole output of a process that failed.
func (r *runner) failureLog(what, output string) error {
	f, err := os.OpenFile(r.failures(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "=== %s\n%s\n", what, output)
	return errors.Join(err, f.Close())
}
