// Entrants that are programs in any language. They speak a line protocol on standard input and output, in UTF-8:
//
//	list            -> "bench NAME" for each benchmark that the program has, and "end"
//	run NAME COUNT  -> one line in Go's benchmark format, "BenchmarkNAME COUNT VALUE ns/op [VALUE UNIT]...", where COUNT
//	                   operations were done and the time is that of these; or "skip NAME reason"; or "error text"
//	end of input    -> the program exits with status 0
//
// NAME is the name of a cell without "Benchmark" and without the contestant, as in Submit or Timer/op=cancel/pending=0.

package runner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Program is how such an entrant is started.
type Program struct {
	Args []string // the program and its arguments
}

// errSkipped says that the program has no such cell after all, and why.
type errSkipped string

func (e errSkipped) Error() string { return "skipped: " + string(e) }

// list asks for the names of the benchmarks.
func (p Program) list(ctx context.Context, limit time.Duration) (names []string, err error) {
	err = p.talk(ctx, limit, func(t *talk) error {
		if err := t.say("list"); err != nil {
			return err
		}
		for {
			line, err := t.hear()
			if err != nil {
				return err
			}
			if line == "end" {
				return nil
			}
			name, ok := strings.CutPrefix(line, "bench ")
			if !ok || name == "" || strings.ContainsAny(name, " \t") {
				return fmt.Errorf("%q is neither a benchmark nor the end of the list", line)
			}
			names = append(names, name)
		}
	})
	return names, err
}

// measure runs a cell the given number of times in a process of its own. If benchtime is a time, it finds the count first.
func (p Program) measure(ctx context.Context, c *record.Cell, benchtime string, times int, limit time.Duration) ([]bench.Output, error) {
	var outs []bench.Output
	err := p.talk(ctx, limit, func(t *talk) error {
		count, fixed := strings.CutSuffix(benchtime, "x")
		for range times {
			var out bench.Output
			var err error
			if fixed {
				n, convErr := strconv.Atoi(count)
				if convErr != nil {
					return convErr
				}
				out, err = t.run(c, n)
			} else {
				out, err = t.fill(c, benchtime)
			}
			if err != nil {
				return err
			}
			outs = append(outs, out)
		}
		return nil
	})
	return outs, err
}

// A talk is a conversation with a process of the program.
type talk struct {
	in  io.Writer
	out *bufio.Reader
}

// talk starts the program, calls fn to talk to it, and ends it as the protocol says. A program that takes longer than limit is
// killed, with all processes that it has started.
func (p Program) talk(ctx context.Context, limit time.Duration, fn func(*talk) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: killed after %v", errHung, limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	var log bytes.Buffer
	cmd.Stderr = &log
	isolate(cmd)
	cmd.Cancel = func() error { kill(cmd); return nil }
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = fn(&talk{in, bufio.NewReader(out)})
	if err != nil {
		kill(cmd)
	}
	if closed := in.Close(); err == nil {
		err = closed
	}
	if err == nil {
		_, err = io.Copy(io.Discard, out) // until it exits
	}
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if _, skipped := errors.AsType[errSkipped](err); err != nil && !skipped && log.Len() > 0 {
		err = fmt.Errorf("%w; it says %s", err, lastLine(log.String()))
	}
	return err
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (t *talk) say(line string) error {
	_, err := io.WriteString(t.in, line+"\n")
	return err
}

func (t *talk) hear() (string, error) {
	line, err := t.out.ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the program ended its output: %w", io.ErrUnexpectedEOF)
	}
	return strings.TrimRight(line, "\r\n"), err
}

// run asks for count operations.
func (t *talk) run(c *record.Cell, count int) (bench.Output, error) {
	if err := t.say(fmt.Sprintf("run %s %d", c.Bench, count)); err != nil {
		return bench.Output{}, err
	}
	line, err := t.hear()
	if err != nil {
		return bench.Output{}, err
	}
	if text, ok := strings.CutPrefix(line, "error "); ok {
		return bench.Output{}, errors.New(text)
	}
	if reason, ok := strings.CutPrefix(line, "skip "+c.Bench); ok {
		return bench.Output{}, errSkipped(strings.TrimSpace(reason))
	}
	figures, ok := strings.CutPrefix(line, "Benchmark"+c.Bench)
	if !ok {
		return bench.Output{}, fmt.Errorf("asked for %s, got %q", c.Bench, line)
	}
	outs, err := bench.ParseOutput(c.Target()+figures, c.Target(), 1)
	if err != nil {
		return bench.Output{}, fmt.Errorf("%w in %q", err, line)
	}
	if outs[0].Iters != count {
		return bench.Output{}, fmt.Errorf("asked for %d operations, got %d", count, outs[0].Iters)
	}
	return outs[0], nil
}

// fill finds the count that takes as long as benchtime says.
func (t *talk) fill(c *record.Cell, benchtime string) (bench.Output, error) {
	want, err := time.ParseDuration(benchtime)
	if err != nil {
		return bench.Output{}, err
	}
	for n := 1; ; {
		out, err := t.run(c, n)
		if err != nil || out.NsPerOp*float64(n) >= float64(want) || n >= 1e9 {
			return out, err
		}
		next := float64(want) * overshoot / math.Max(out.NsPerOp, 0.1)
		n = int(math.Min(math.Max(next, float64(n+1)), math.Min(100*float64(n), 1e9)))
	}
}
