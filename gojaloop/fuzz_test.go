package gojaloop_test

// Random programs, for which this host must print what Node prints. With Node installed, new ones are tried by
//
//	go test -run '^$' -fuzz FuzzAgainstNode ./gojaloop
//
// and without -fuzz the recorded output of Node for some of them is compared.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// randomProgram makes a program whose order Node determines. Timers have delays far enough apart that only their order can
// matter; they and immediates are set where it is certain which is first.
func randomProgram(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	g.b.WriteString("const log = console.log\nprocess.on('unhandledRejection', r => log('unhandled', r))\n")
	g.b.WriteString("process.on('rejectionHandled', () => log('handled late'))\n")
	g.b.WriteString("process.on('uncaughtException', e => log('uncaught', e))\nsetTimeout(() => {\n")
	g.body(0, 4)
	g.b.WriteString("}, 1)\n")
	return g.b.String()
}

type generator struct {
	*rand.Rand
	b strings.Builder
	n int // marks
}

func (g *generator) mark() int { g.n++; return g.n }

// body writes statements. depth bounds how deep they nest.
func (g *generator) body(depth, most int) {
	for range 1 + g.IntN(most) {
		g.statement(depth)
	}
}

func (g *generator) statement(depth int) {
	m := g.mark()
	fmt.Fprintf(&g.b, "log(%d)\n", m)
	if depth == 4 {
		return
	}
	inner := func() { g.body(depth+1, 3) }
	switch g.IntN(13) {
	case 0, 1:
		fmt.Fprintf(&g.b, "process.nextTick(() => {\n")
		inner()
		g.b.WriteString("})\n")
	case 2, 3:
		g.b.WriteString("queueMicrotask(() => {\n")
		inner()
		g.b.WriteString("})\n")
	case 4, 5:
		g.b.WriteString("Promise.resolve().then(() => {\n")
		inner()
		fmt.Fprintf(&g.b, "}).then(() => log('then', %d)).finally(() => log('finally', %d))\n", m, m)
	case 6:
		g.b.WriteString("setImmediate(() => {\n")
		inner()
		g.b.WriteString("})\n")
	case 7:
		g.b.WriteString(";(async () => {\n")
		inner()
		g.b.WriteString("await null\n")
		inner()
		g.b.WriteString("await { then(r) { log('thenable'); r() } }\n")
		inner()
		fmt.Fprintf(&g.b, "})().then(() => log('async', %d))\n", m)
	case 8:
		fmt.Fprintf(&g.b, "{ const p = Promise.reject(%d)\n", m)
		switch g.IntN(4) {
		case 0:
			g.b.WriteString("process.nextTick(() => p.catch(() => log('caught')))\n")
		case 1:
			g.b.WriteString("queueMicrotask(() => p.catch(() => log('caught')))\n")
		case 2:
			g.b.WriteString("setImmediate(() => p.catch(() => log('caught')))\n")
		}
		g.b.WriteString("}\n")
	case 9:
		fmt.Fprintf(&g.b, "queueMicrotask(() => { throw %d })\n", m)
	case 10:
		fmt.Fprintf(&g.b, "setImmediate(() => { process.nextTick(() => log('tick of', %d)); throw %d })\n", m, m)
	case 11:
		fmt.Fprintf(&g.b, "{ const i = setImmediate(() => log('immediate', %d)); setImmediate(() => log('next to', %d)); if (%v) clearImmediate(i) }\n", m, m, g.IntN(2) == 0)
	case 12:
		kind := []string{"all", "race", "any", "allSettled"}[g.IntN(4)]
		fmt.Fprintf(&g.b, "Promise.%s([Promise.resolve(1), %d, new Promise(r => setImmediate(r, 3))]).then(v => log('%s', String(v)))\n", kind, m, kind)
	}
}

const recordedPrograms = "testdata/programs.txt"

func TestRandomPrograms(t *testing.T) {
	const n = 150
	if *record {
		var b strings.Builder
		for seed := range uint64(n) {
			fmt.Fprintf(&b, "%s\x00", byNode(t, randomProgram(seed)))
		}
		if err := os.WriteFile(recordedPrograms, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(recordedPrograms)
	if err != nil {
		t.Fatal(err)
	}
	outputs := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	if len(outputs) != n {
		t.Fatalf("%d outputs are recorded, want %d", len(outputs), n)
	}
	for seed, want := range outputs {
		program := randomProgram(uint64(seed))
		if got := byHost(t, program); got != want {
			t.Fatalf("seed %d\n%s\nprints\n%s\nand by Node it would print\n%s", seed, program, got, want)
		}
	}
}

func FuzzAgainstNode(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(func(t *testing.T, seed uint64) {
		if _, err := exec.LookPath("node"); err != nil {
			t.Skip("Node is missing: ", err)
		}
		program := randomProgram(seed)
		if got, want := byHost(t, program), byNode(t, program); got != want {
			t.Errorf("%s\nprints\n%s\nand by Node it would print\n%s", program, got, want)
		}
	})
}
