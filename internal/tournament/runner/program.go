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
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Program is how such an entrant is started.
type Program struct {
	Args []string // the program and its arguments
}

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
			if names = append(names, name); len(names) > longestList {
				return fmt.Errorf("it has listed %d benchmarks, and goes on", len(names))
			}
		}
	})
	return names, err
}

const (
	longestList = 1000    // benchmarks
	longestLine = 1 << 16 // bytes
)

// measure runs a figure in a process of its own, with as many operations as take the window. What it says is held to the clock that
// goes on meanwhile.
func (p Program) measure(ctx context.Context, cell, name string, figure *record.Figure, limit time.Duration) (out bench.Output, err error) {
	err = p.talk(ctx, limit, func(t *talk) error {
		if _, err = t.run(cell, name, 1); err != nil { // which starts the program
			return err
		}
		var once time.Duration // what a single operation takes, and all that goes with it
		for n, tries := 1, 0; ; {
			began := time.Now()
			if out, err = t.run(cell, name, n); err != nil {
				return err
			}
			wall := time.Since(began)
			if n == 1 {
				once = wall
			}
			if err := out.Sane(figure.Unit, wall); err != nil {
				return err
			}
			perOp, _ := out.Value("sec/op")
			says, added := time.Duration(perOp*float64(n)*float64(time.Second)), wall-once
			if enough := max(says, added); enough < figure.Window && n < mostOperations {
				next := float64(figure.Window) * 1.2 / max(float64(enough), 1) * float64(n)
				n = int(min(max(next, float64(n+1)), 100*float64(n), mostOperations))
				continue
			}
			// Who is late on a busy machine gets another chance; who lies does so again.
			if err = honest(n, says, wall, added); err == nil || tries == 2 {
				return err
			}
			tries++
		}
	})
	return out, err
}

const mostOperations = 1e9

// honest compares the time that a program says its operations took with the time that passed until it said so: with all of it, and with
// how much of it more operations have added. Something may go on besides the operations, such as making what they need. More than three
// times as much as they themselves take does not.
func honest(n int, says, wall, added time.Duration) error {
	switch {
	case says > wall || says < added/4:
		return fmt.Errorf("it says that %d operations took %v; by the clock it was %v", n, says, added)
	case n >= mostOperations:
		return fmt.Errorf("%d operations take it %v, which is less than a processor needs for nothing", n, wall)
	}
	return nil
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
	var log bounded
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
	err = fn(&talk{in, bufio.NewReaderSize(out, longestLine)})
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
	if _, skipped := errors.AsType[bench.Skipped](err); err != nil && !skipped && log.text.Len() > 0 {
		err = fmt.Errorf("%w; it says %s", err, lastLine(log.text.String()))
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
	line, err := t.out.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("the program ended its output: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, bufio.ErrBufferFull):
		err = fmt.Errorf("its line has more than %d bytes", longestLine)
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// run asks for count operations of a figure.
func (t *talk) run(cell, name string, count int) (bench.Output, error) {
	if err := t.say(fmt.Sprintf("run %s %d", name, count)); err != nil {
		return bench.Output{}, err
	}
	line, err := t.hear()
	if err != nil {
		return bench.Output{}, err
	}
	if text, ok := strings.CutPrefix(line, "error "); ok {
		return bench.Output{}, errors.New(text)
	}
	if reason, ok := strings.CutPrefix(line, "skip "+name); ok {
		return bench.Output{}, bench.Skipped(strings.TrimSpace(reason))
	}
	figures, ok := strings.CutPrefix(line, "Benchmark"+name)
	if !ok {
		return bench.Output{}, fmt.Errorf("asked for %s, got %q", name, line)
	}
	out, err := bench.ParseOutput(cell+figures, cell)
	if err != nil {
		return bench.Output{}, fmt.Errorf("%w in %q", err, line)
	}
	if out.Iters != count {
		return bench.Output{}, fmt.Errorf("asked for %d operations, got %d", count, out.Iters)
	}
	return out, nil
}
