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
	"sync"
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

// takes tells whether this process gets one of the places that a manner such as slow:PLACES:FOLDER has for its processes.
func takes(manner string) bool {
	words := strings.SplitN(manner, ":", 3)
	places, _ := strconv.Atoi(words[1])
	for i := range places {
		if f, err := os.OpenFile(filepath.Join(words[2], strconv.Itoa(i)), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			return f.Close() == nil
		}
	}
	return false
}

// speak answers as the protocol says, with the faults of its manner. An operation takes a microsecond.
func speak(manner string) (code int) {
	slow := sync.OnceValue(func() bool { return takes(manner) })
	stall := strings.HasPrefix(manner, "stall:")
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
		case stall, strings.HasPrefix(manner, "slow:") && slow():
			fmt.Printf("Benchmark%s %s 40000000 ns/op\n", words[1], words[2])
			stall = false
		case manner == "gibberish":
			fmt.Printf("Benchmark%s %s quick\n", words[1], words[2])
		default:
			fmt.Printf("Benchmark%s %s 1000 ns/op 2.5 x-ns/op\n", words[1], words[2])
		}
	}
	if manner == "bad end" {
		return 3
	}
	return 0
}

func program(t *testing.T, manner string) Program {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Program{Args: []string{exe, "speak", manner}}
}

// TestRunWithProgram: a program of another language has its cells in every round beside the others, under its own name.
func TestRunWithProgram(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	cfg, _ := config(t, "")
	cfg.Speaks = map[string]Program{"other": program(t, "well")}
	cfg.Impls = append(cfg.Impls, record.Impl{Name: "other"})
	cfg.Conformance = false
	run, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := measured(t, cfg.Out)
	for _, name := range []string{"Quick/impl=other", "Slow/impl=other/op=x/size=1"} {
		if len(got[name]) != cfg.Rounds {
			t.Errorf("%s was measured in the rounds %v", name, got[name])
		}
		if c := cell(t, run, "Benchmark"+name); c.Iters < 1000 {
			t.Errorf("%s runs %d iterations of a microsecond", name, c.Iters)
		}
	}
	if c := cell(t, run, "BenchmarkSlow/impl=other/op=gone"); c.NA != "there is no such thing here" {
		t.Errorf("a skipped cell is %+v", c)
	}
	raw, err := os.ReadFile(filepath.Join(cfg.Out, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), " 2.5 x-ns/op") {
		t.Error("further units of the program are lost")
	}
}

// TestProgramFaults: what does not keep the protocol is told as what it is, in bounded time, and never becomes a figure.
func TestProgramFaults(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	c := &record.Cell{Cell: bench.Cell{Name: "BenchmarkQuick/impl=other", Bench: "Quick", Impl: "other"}}
	for manner, says := range map[string]string{
		"mute": "hung", "dies": "a library is missing", "refuses": "no descriptors", "other count": "asked for 5 operations, got 3",
		"other cell": "asked for Quick, got", "gibberish": "0 results", "bad end": "exit status 3",
	} {
		limit := time.Minute
		if manner == "mute" {
			limit = 200 * time.Millisecond
		}
		outs, err := program(t, manner).measure(t.Context(), c, "5x", 1, limit)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v; want %q", manner, outs, err, says)
		}
	}
	if names, err := program(t, "odd list").list(t.Context(), time.Minute); err == nil {
		t.Errorf("an odd list is taken for %q", names)
	}
	if _, err := (Program{Args: []string{"/no/such/program"}}).list(t.Context(), time.Minute); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a program: %v", err)
	}
}
