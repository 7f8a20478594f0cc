package tournament

// The benchmarks under go test -bench.

import (
	"flag"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMain lets go test -bench run the benchmarks, which are no functions of the test files, by the names that they have in reports.
func TestMain(m *testing.M) {
	Own().Role()
	flag.Parse()
	if bench := flag.Lookup("test.bench").Value; bench.String() != "" {
		if !profiled() {
			Own().Test()
		}
		if err := bench.Set("^BenchmarkAll$/" + bench.String()); err != nil {
			panic(err)
		}
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	os.Exit(m.Run())
}

// profiled tells whether a profile is asked for, which only go test itself can take.
func profiled() bool {
	return slices.ContainsFunc([]string{"cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace"}, func(name string) bool {
		return flag.Lookup("test."+name).Value.String() != ""
	})
}

// BenchmarkAll is all of them, for profiles: their names are then BenchmarkAll/Submit/impl=main.
func BenchmarkAll(b *testing.B) {
	for _, d := range Own().benchmarks() {
		b.Run(strings.TrimPrefix(d.Name, "Benchmark"), d.F)
	}
}
