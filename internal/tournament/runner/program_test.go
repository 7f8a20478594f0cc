package runner

// Tests of entries that are programs.

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// With two arguments this test binary is a program that speaks the line protocol, in the manner that the second names.
func init() {
	if len(os.Args) == 3 && os.Args[1] == "speak" {
		os.Exit(speak(os.Args[2]))
	}
}

// speak answers as the protocol says, with the faults of its manner. An operation takes a microsecond.
func speak(manner string) (code int) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case manner == "mute":
			hang()
		case manner == "dies":
			fmt.Fprintln(os.Stderr, "a library is missing")
			return 7
		case words[0] == "list" && manner == "odd list":
			fmt.Println("Submit")
		case words[0] == "list":
			fmt.Println("bench Quick\nbench Slow/op=x/size=1\nbench Slow/op=gone\nend")
		case words[1] == "Slow/op=gone":
			fmt.Println("skip Slow/op=gone there is no such thing here")
		case manner == "refuses":
			fmt.Println("error no descriptors")
		case manner == "other count":
			fmt.Printf("Benchmark%s 3 1000 ns/op\n", words[1])
		case manner == "other cell":
			fmt.Printf("BenchmarkOther %s 1000 ns/op\n", words[2])
		case manner == "gibberish":
			fmt.Printf("Benchmark%s %s quick\n", words[1], words[2])
		case manner == "forges": // it works, and says that it takes next to nothing
			work(words[2])
			fmt.Printf("Benchmark%s %s 0.6 ns/op\n", words[1], words[2])
		case manner == "boasts": // it says that it has worked
			fmt.Printf("Benchmark%s %s 1000 ns/op\n", words[1], words[2])
		case manner == "idles":
			fmt.Printf("Benchmark%s %s 0.0001 ns/op\n", words[1], words[2])
		case manner == "negative":
			fmt.Printf("Benchmark%s %s -5 ns/op\n", words[1], words[2])
		case manner == "no number":
			fmt.Printf("Benchmark%s %s NaN ns/op\n", words[1], words[2])
		case manner == "huge":
			fmt.Printf("Benchmark%s %s 1e300 ns/op\n", words[1], words[2])
		case manner == "missing":
			fmt.Printf("Benchmark%s %s 5 x/op\n", words[1], words[2])
		case manner == "endless":
			for {
				fmt.Print("Benchmark")
			}
		default:
			took := work(words[2])
			count, _ := strconv.Atoi(words[2])
			fmt.Printf("Benchmark%s %s %f ns/op 2.5 x/op\n", words[1], words[2], float64(took)/float64(count))
		}
	}
	if manner == "bad end" {
		return 3
	}
	return 0
}

// work does so many operations of a microsecond.
func work(count string) time.Duration {
	n, _ := strconv.Atoi(count)
	begin := time.Now()
	for time.Since(begin) < time.Duration(n)*time.Microsecond {
	}
	return time.Since(begin)
}

func program(t *testing.T, manner string) Program {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Program{Args: []string{exe, "speak", manner}}
}

// TestRunWithProgram: a program of another language has its cells in every round beside the others, under its own name; and one that
// has none to tell of, or ends when it is asked, loses its own cells and not the run.
func TestRunWithProgram(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	cfg, _ := config(t, "")
	cfg.Speaks = map[string]Program{"other": program(t, "well"), "odd": program(t, "odd list"), "dead": program(t, "dies"), "false": program(t, "forges")}
	for _, name := range []string{"other", "odd", "dead", "false"} {
		cfg.Impls = append(cfg.Impls, record.Impl{Name: name})
	}
	cfg.Conformance = false
	run, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range run.Cells {
		n := len(measured(t, cfg.Out)[strings.TrimPrefix(c.Name, "Benchmark")])
		if c.Impl == "false" && (n != 0 || !c.Abandoned) || c.Impl == "alpha" && n != run.Rounds {
			t.Errorf("%s was measured %d times in %d rounds: %v", c.Name, n, run.Rounds, c.Failures)
		}
	}
	for name, says := range map[string]string{"odd": "neither a benchmark nor the end", "dead": "a library is missing", "other": ""} {
		if lost := run.Impl(name).Lost; (lost == "") != (says == "") || !strings.Contains(lost, says) {
			t.Errorf("%s is lost because of %q, want %q", name, lost, says)
		}
	}
	raw, err := os.ReadFile(filepath.Join(cfg.Out, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), " 2.5 x/op") {
		t.Error("further units of the program are lost")
	}
}

// TestProgramFaults: what does not keep the protocol is told as what it is, and never becomes a figure.
func TestProgramFaults(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	figure := &record.Figure{Name: "Quick", Unit: "ns/op", Window: 5 * time.Millisecond}
	for manner, says := range map[string]string{
		"mute": "hung", "dies": "a library is missing", "refuses": "no descriptors", "other count": "asked for 1 operations, got 3",
		"other cell": "asked for Quick, got", "gibberish": "no result", "bad end": "exit status 3",
		"forges": "by the clock it was", "boasts": "", "idles": "", "negative": "-5 ns/op is no measurement",
		"no number": "NaN ns/op is no measurement", "huge": "1e+300 ns/op is more than there was", "missing": "it has no value in ns/op", "endless": "its line has more than",
	} {
		limit := time.Minute
		if manner == "mute" {
			limit = 200 * time.Millisecond
		}
		out, err := program(t, manner).measure(t.Context(), "BenchmarkQuick/impl=other", "Quick", figure, limit)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v; want %q", manner, out, err, says)
		}
	}
	out, err := program(t, "well").measure(t.Context(), "BenchmarkSlow/impl=other/op=gone", "Slow/op=gone", figure, time.Minute)
	if _, skipped := errors.AsType[bench.Skipped](err); !skipped {
		t.Errorf("what it does not have is %v, %v", out, err)
	}
	if _, err := (Program{Args: []string{"/no/such/program"}}).list(t.Context(), time.Minute); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a program: %v", err)
	}
}
