package runner

// Tests of entries that are programs.

import (
	"bufio"
	"errors"
	"fmt"
	"os"
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
			return 3
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
			fmt.Printf("Benchmark%s %s 1e12 ns/op\n", words[1], words[2])
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

// TestHonest: what a program says its operations took is compared with all the time that passed, and with what more operations added to it.
func TestHonest(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		what              string
		n                 int
		says, wall, added time.Duration
		want              string // nothing: it is honest
	}{
		{"as it was", 1000, 5 * ms, 6 * ms, 5 * ms, ""},
		{"with what it needs besides", 1000, 5 * ms, 30 * ms, 20 * ms, ""},
		{"more than passed", 1000, 7 * ms, 6 * ms, 5 * ms, "by the clock"},
		{"a fifth of what passed", 1000, 4 * ms, 30 * ms, 20 * ms, "by the clock"},
		{"for nothing", mostOperations, 5 * ms, 6 * ms, 5 * ms, "less than a processor needs"},
	} {
		if err := honest(c.n, c.says, c.wall, c.added); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// TestProgramFaults: what does not keep the protocol is told as what it is, and never becomes a figure.
func TestProgramFaults(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	figure := &record.Figure{Name: "Quick", Unit: "ns/op", Window: 5 * time.Millisecond}
	for manner, says := range map[string]string{
		"mute": "hung", "dies": "a library is missing", "refuses": "no descriptors", "other count": "asked for 1 operations, got 3",
		"other cell": "asked for Quick, got", "gibberish": "no result", "bad end": "exit status 3",
		"forges": "by the clock it was", "boasts": "is more than there was", "idles": "", "negative": "-5 ns/op is no measurement",
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
