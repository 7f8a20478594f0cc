// Package runner measures: every cell in a process of its own, round after round, in a new order each time, all contestants
// of a benchmark back to back. It stores raw results and judges nothing.
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

	"github.com/turnloop/turnloop/internal/tournament/environ"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// Config says what to run.
type Config struct {
	record.Options
	LeastRounds int                // rounds that are kept where the budget has no time for all of Rounds; 0: all
	Bench       string             // the program whose benchmarks are run; with its role in the environment it acts as a test binary
	Cells       []string           // all cells that it has, by name
	Out         string             // folder of results
	Seed        uint64             // of the shuffles, 0: a random one
	Fresh       bool               // do not resume an interrupted run
	Procs       int                // GOMAXPROCS of the cells
	Timeout     time.Duration      // of one cell
	Source      record.Source      // what the binary was built from
	Command     string             // how to repeat this
	Speaks      map[string]Program // who is a program that speaks the line protocol, by name
	Roles       record.Roles       // who the reports turn on
	Impls       []record.Impl      // everyone who may take part
	Benchmarks  []record.Benchmark // descriptions
	Env         []string           // of the children; nil: this process's
	Progress    Progress
}

// ErrInterrupted says that the run was ended from outside. What it has measured is kept; Run's error says more.
var ErrInterrupted = errors.New("interrupted")

// givenUp is how often a cell may fail before it is left alone: once may be chance, and a watchdog's patience is
// expensive.
const givenUp = 2

type runner struct {
	Config
	rec  *record.Run
	raw  *record.Raw
	done map[record.Done]bool
	dir  string    // where results go until the run is complete
	head []string  // configuration lines that the binary prints
	from time.Time // start of this session

	stolen time.Duration // processor time that the host had stolen when this session started
}

// Run runs the tournament, or the rest of an interrupted one, and returns its description. The results are in cfg.Out
// when the run is complete, and in a folder below it otherwise.
func Run(ctx context.Context, cfg Config) (*record.Run, error) {
	r := &runner{Config: cfg, dir: record.Partial(cfg.Out), from: time.Now(), stolen: environ.Stolen()}
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
	session.Ended, session.LoadAfter = time.Now().UTC().Truncate(time.Second), environ.LoadAverage()
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

// interrupted says what becomes of an interrupted run. Before the plan is made there is nothing to go on from.
func (r *runner) interrupted() error {
	switch {
	case !r.rec.Planned:
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
		Env: environ.Capture(r.Procs), Roles: r.Roles, Impls: r.Impls, Benchmarks: r.Benchmarks, Blocks: true,
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
	r.rec.Sessions = append(r.rec.Sessions, record.Session{
		Started: r.from.UTC().Truncate(time.Second), LoadBefore: environ.LoadAverage(),
	})
	return nil
}

// resumable returns the interrupted run in the folder if it can go on, and otherwise why not.
func (r *runner) resumable(now *record.Run) (*record.Run, string) {
	before, err := record.Load(r.dir)
	var asked record.Options
	if err == nil {
		asked = before.Options
		asked.Rounds += before.Dropped
	}
	switch {
	case record.Missing(err):
		return nil, ""
	case err != nil:
		return nil, err.Error()
	case r.Fresh:
		return nil, "the interrupted run is ignored, as asked"
	case !before.Planned:
		return nil, "the interrupted run had not begun to measure"
	case asked != now.Options || (r.Seed != 0 && before.Seed != now.Seed):
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
	before.Raw = record.Seal{} // no longer valid once something is appended; the end of the run makes a new one
	if err := record.Save(r.dir, before); err != nil {
		return nil, err.Error()
	}
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
	if !r.rec.Planned {
		for _, phase := range []func(context.Context) error{r.list, r.conform, r.warmUp} {
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
		r.raw, r.done, r.rec.Planned = raw, map[record.Done]bool{}, true
		if err := record.Save(r.dir, r.rec); err != nil {
			return err
		}
	}
	return r.rounds(ctx)
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

// rounds runs what is left of all rounds.
func (r *runner) rounds(ctx context.Context) error {
	est := r.expect(1)
	whole := len(r.done) == 0
	for round := 1; round <= r.rec.Rounds; round++ {
		began := time.Now()
		if err := r.round(ctx, round, &est); err != nil {
			return err
		}
		if round > 1 || !whole || r.rec.Rounds == 1 {
			continue
		}
		if err := r.correct(time.Since(began)); err != nil {
			return err
		}
		est = r.expect(2)
	}
	return nil
}

// expect announces the rounds that are left, and returns what they are expected to take.
func (r *runner) expect(first int) (est estimate) {
	total := 0
	for round := first; round <= r.rec.Rounds; round++ {
		ahead, cells := r.ahead(round)
		est.add(ahead)
		total += cells
	}
	r.Progress.Phase(fmt.Sprintf("%d rounds of %d cells, seed %d", r.rec.Rounds-first+1, r.running(), r.rec.Seed), total)
	return est
}

// ahead returns what is left of a round: its planned time, and its cells.
func (r *runner) ahead(round int) (planned time.Duration, cells int) {
	for _, c := range r.measured() {
		if !r.done[record.Done{Round: round, Name: c.Name}] {
			planned += cost(c, time.Duration(r.rec.StartupNS))
			cells++
		}
	}
	return planned, cells
}

// round measures what is left of a round.
func (r *runner) round(ctx context.Context, round int, est *estimate) error {
	for _, i := range order(r.rec.Seed, round, r.rec.Cells) {
		c := &r.rec.Cells[i]
		if r.done[record.Done{Round: round, Name: c.Name}] || !c.Runs() {
			continue
		}
		r.Progress.Step(fmt.Sprintf("round %d/%d %s", round, r.rec.Rounds, short(c.Name)), est.left())
		began := time.Now()
		if err := r.cell(ctx, c, round); err != nil {
			return err
		}
		est.done(cost(c, time.Duration(r.rec.StartupNS)), time.Since(began))
	}
	return nil
}

// cell measures one cell once. Only what ends the whole run is an error; a failure of the cell is recorded.
func (r *runner) cell(ctx context.Context, c *record.Cell, round int) error {
	began := time.Now()
	outs, err := r.measure(ctx, c, strconv.Itoa(c.Iters)+"x", 1)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.failed(c, round, err)
		return record.Save(r.dir, r.rec)
	}
	if round == 1 && tuningFor(r.Mode).lacks(c, r.rec.Need(c.Bench)) { // it was slow in the warm-up only, perhaps
		showed := warmth{iters: outs[0].Iters, nsPerOp: outs[0].NsPerOp, wall: time.Since(began)}
		c.WarmNS = min(c.WarmNS, perIteration(showed, c.Setup, fixed(c, time.Duration(r.rec.StartupNS))))
	}
	line := outs[0].Line
	if c.Of != "" {
		line = relabel(line, c)
	}
	return r.raw.Append(round, line, outs[0].Units)
}

func (r *runner) failed(c *record.Cell, round int, err error) {
	c.Failures = append(c.Failures, record.Failure{Round: round, Reason: err.Error()})
	c.Abandoned = len(c.Failures) >= givenUp
	r.Progress.Say("%s failed: %v", short(c.Name), err)
	if c.Abandoned {
		r.Progress.Say("%s is left out from here on", short(c.Name))
	}
}

func (r *runner) running() int {
	n := 0
	for i := range r.rec.Cells {
		if r.rec.Cells[i].Runs() {
			n++
		}
	}
	return n
}

// order returns the order of the cells in a round, as indexes: the benchmarks shuffled, and within each its contestants, so
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
