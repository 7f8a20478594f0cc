// Package costs holds packages to a table of what each of their public calls costs on its usual path, for tests. The rows are
// benchmarks, too.
//
// What is counted does not depend on how busy the machine is: allocations, their bytes, and the callbacks that the loop runs.
package costs

// The table, how a row is measured, and which names need one.

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/race"
	"github.com/turnloop/turnloop/internal/sched"
)

// Row is one public function or method, and the most that a call of it costs.
type Row struct {
	name                 string // as go doc has it, or that and what is special behind a comma
	allocs, bytes, steps uint64
	within               func(e *Env, fn func()) // runs fn where calls are made, and waits for it
	prepare              func(e *Env) (call func())
}

// Env is what a row is measured in.
type Env struct {
	testing.TB
	*eventloop.Loop // which runs
}

// Must fails the test on an error.
func (e *Env) Must(err error) {
	if err != nil {
		e.Helper()
		e.Error(err)
	}
}

// Off is a row of calls that another goroutine than the loop's makes: each costs at most so many allocations, bytes and callbacks
// of the loop. prepare is called once, on that goroutine. What a call brings need not be over when it returns.
func Off(name string, allocs, bytes, steps uint64, prepare func(e *Env) (call func())) Row {
	return In(func(_ *Env, fn func()) { fn() }, name, allocs, bytes, steps, prepare)
}

// On is a row of calls that a callback of the loop makes, many of them in one. prepare is called there, too.
func On(name string, allocs, bytes, steps uint64, prepare func(e *Env) (call func())) Row {
	return In(onLoop, name, allocs, bytes, steps, prepare)
}

// In is a row of calls that are made within another function, many of them in one. prepare is called there, too.
func In(within func(e *Env, fn func()), name string, allocs, bytes, steps uint64, prepare func(e *Env) (call func())) Row {
	return Row{name, allocs, bytes, steps, within, prepare}
}

// run makes n calls, and waits until the loop has done what they bring.
func (r Row) run(e *Env, call func(), n int) {
	r.within(e, func() {
		for range n {
			call()
		}
	})
	for range 3 { // a task for what the calls have brought, and for what that has brought
		onLoop(e, func() {})
	}
	for e.Metrics().Workers > 0 {
		runtime.Gosched()
	}
	onLoop(e, func() {})
}

// onLoop runs fn on the loop, and waits for it.
func onLoop(e *Env, fn func()) {
	done := make(chan struct{})
	e.Must(e.Submit(func() { defer close(done); fn() }))
	<-done
}

// start returns an environment, and its call.
func (r Row) start(tb testing.TB, opts ...eventloop.Option) (e *Env, call func()) {
	l, err := eventloop.New(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	e = &Env{tb, l}
	go l.Run(context.Background())
	tb.Cleanup(func() {
		_ = l.Close()
		<-l.Done()
	})
	r.within(e, func() { call = r.prepare(e) })
	return e, call
}

const (
	each  = 256 // calls over which a cost is averaged
	slack = 32  // bytes a call: something else in the process may allocate, and queues are as long as the loop is late
)

// Check tests that no row costs more than it says, and that every exported function and method of the package in the folder has a
// row, or matches a regular expression in excused, whose value is the reason. A name that a recipe uses is not excused.
func Check(t *testing.T, rows []Row, excused map[string]string) {
	checkNames(t, rows, excused)
	if race.Enabled || sched.Exploring || testing.CoverMode() != "" || runtime.GOOS != "linux" || bits.UintSize != 64 {
		t.Log("the rows are those of an ordinary build for 64 bits of Linux")
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector empties pools
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got, most := r.steps, r.callbacks(t); most > got {
				t.Errorf("the loop runs %d callbacks for each, want at most %d", most, got)
			}
			var allocs, bytes uint64
			for range 3 { // something else in this process may allocate, too
				if allocs, bytes = r.memory(t); allocs <= r.allocs && bytes <= r.bytes+slack {
					return
				}
			}
			t.Errorf("%d allocations of %d bytes for each, want at most %d of %d", allocs, bytes, r.allocs, r.bytes)
		})
	}
}

// memory returns what each call allocates. What measuring allocates is taken off.
func (r Row) memory(t *testing.T) (allocs, bytes uint64) {
	e, call := r.start(t)
	r.run(e, call, each)
	runtime.GC()
	var s [3]runtime.MemStats
	runtime.ReadMemStats(&s[0])
	r.run(e, func() {}, each)
	runtime.ReadMemStats(&s[1])
	r.run(e, call, each)
	runtime.ReadMemStats(&s[2])
	of := func(before, between, after uint64) uint64 {
		return (max(after+before, 2*between) - 2*between + each/2) / each
	}
	return of(s[0].Mallocs, s[1].Mallocs, s[2].Mallocs), of(s[0].TotalAlloc, s[1].TotalAlloc, s[2].TotalAlloc)
}

func (r Row) callbacks(t *testing.T) uint64 {
	e, call := r.start(t, eventloop.WithMetrics(true))
	r.run(e, call, each)
	before := e.Metrics().Run
	r.run(e, call, each)
	return (e.Metrics().Run - before) / each
}

// Benchmark has the rows as benchmarks.
func Benchmark(b *testing.B, rows []Row) {
	for _, r := range rows {
		b.Run(r.name, func(b *testing.B) {
			e, call := r.start(b)
			b.ReportAllocs()
			b.ResetTimer()
			r.run(e, call, b.N)
		})
	}
}

func checkNames(t *testing.T, rows []Row, excused map[string]string) {
	have, used, recipes := map[string]bool{}, map[string]bool{}, recipeNames(t)
	for _, r := range rows {
		name, _, _ := strings.Cut(r.name, ",")
		have[name] = true
	}
	for _, name := range exported(t, ".") {
		if have[name] {
			delete(have, name)
			continue
		}
		because := ""
		for pattern, why := range excused {
			if regexp.MustCompile(pattern).MatchString(name) {
				used[pattern], because = true, why
			}
		}
		last := name[strings.LastIndexByte(name, '.')+1:]
		switch {
		case because == "":
			t.Errorf("%s has no row", name)
		case slices.Contains(recipes, last):
			t.Errorf("%s has no row although %q, but recipes use it", name, because)
		}
	}
	for name := range have {
		t.Errorf("there is no %s", name)
	}
	for pattern := range excused {
		if !used[pattern] {
			t.Errorf("%s excuses nothing", pattern)
		}
	}
}

// exported returns the functions and methods of a package that its users can name.
func exported(t *testing.T, dir string) (names []string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				of, exported := receiver(fn.Recv.List[0].Type)
				if !exported {
					continue
				}
				name = of + "." + name
			}
			if !slices.Contains(names, name) { // files for several systems have it
				names = append(names, name)
			}
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(x ast.Expr) (name string, exported bool) {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name, x.IsExported()
	}
	panic(fmt.Sprintf("costs: a receiver of type %T", x))
}

// recipeNames returns the exported names that the programs of the recipes select, apart from those of texts, which everything has.
func recipeNames(t *testing.T) (names []string) {
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "recipes", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no recipes", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, program, _ := strings.Cut(string(text), "```go\n")
		program, _, _ = strings.Cut(program, "\n```")
		for _, m := range regexp.MustCompile(`\.([A-Z]\w*)`).FindAllStringSubmatch(program, -1) {
			if m[1] != "Error" && m[1] != "String" {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// root returns the folder of the module, above that of the test.
func root(t *testing.T) string {
	dir := "."
	for range 10 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Join("..", dir)
	}
	t.Fatal("no go.mod above the test")
	return ""
}
