package modules

// Tests of what an embedder has; those of the modules themselves are in package gojaloop/cmd/loopjs.

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dop251/goja"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// started makes a program on a loop that runs until the test ends, in a folder of these files.
func started(t *testing.T, files map[string]string, opts ...Option) (*gojaloop.Host, *Program) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	host := newHost(t)
	p, err := New(host, opts...)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- host.Loop().Run(context.Background()) }()
	t.Cleanup(func() {
		host.Loop().Close()
		<-ended
	})
	return host, p
}

func newHost(t *testing.T, opts ...gojaloop.Option) *gojaloop.Host {
	t.Helper()
	loop, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	host, err := gojaloop.New(loop, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return host
}

// Without Node's modules a script has its files alone, and packages that have the names of Node's; process stays the host's.
func TestWithoutNode(t *testing.T) {
	ctx, cancel := beat.Context(t.Context())
	defer cancel()
	host, p := started(t, map[string]string{
		"main.ts": `import events from 'events'
export const found: string[] = [events, require('./data.json').n, typeof process.binding, typeof process.chdir]
for (const f of [() => require('fs'), () => require('node:fs'), () => require('module')]) try { f(); found.push('there') } catch (e) { found.push(e.code) }
for (const s of ['fs', 'node:fs']) await import(s).then(() => found.push('there'), e => found.push(e.message.replace(/ imported.*/, '')))
export const all = () => found.join()`,
		"data.json":                    `{"n": 5}`,
		"node_modules/events/index.js": "module.exports = 'of a package'",
	})
	if err := p.Load(ctx, "main", "./main.ts"); err != nil {
		t.Fatal(err)
	}
	const want = "of a package,5,undefined,undefined,MODULE_NOT_FOUND,ERR_UNKNOWN_BUILTIN_MODULE,MODULE_NOT_FOUND," +
		"Cannot find package 'fs',No such built-in module: node:fs; WithNode of package modules adds them"
	if got, err := host.Call(ctx, "main.all"); got != want || err != nil {
		t.Errorf("it finds\n%v, want\n%v, %v", got, want, err)
	}
}

// The errors of Load are what the module throws, or is wrong with, at its place in the source.
func TestLoadFails(t *testing.T) {
	ctx, cancel := beat.Context(t.Context())
	defer cancel()
	_, p := started(t, map[string]string{
		"throws.ts": "interface X {}\nexport const x: X = {}\nthrow new TypeError('mine')\n",
		"awaits.ts": "await null\nthrow new TypeError('mine')\n",
		"syntax.ts": "export const\n",
	})
	for _, c := range []struct{ specifier, text, stack string }{
		{"./throws.ts", "TypeError: mine", "throws.ts:3:7"},
		{"./throws.ts", "TypeError: mine", "throws.ts:3:7"}, // and again
		{"./awaits.ts", "TypeError: mine", "awaits.ts:2:7"},
		{"./syntax.ts", "SyntaxError: Unexpected end of input", ""},
		{"./none.ts", "Error: Cannot find module", ""},
	} {
		var e *gojaloop.Error
		if err := p.Load(ctx, "m", c.specifier); !errors.As(err, &e) || !strings.Contains(e.Message, c.text) || !strings.Contains(e.Stack, c.stack) {
			t.Errorf("%s: %v", c.specifier, err)
		}
	}
	ended, end := context.WithCancel(ctx)
	end()
	if err := p.Load(ended, "m", "./awaits.ts"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestRefused(t *testing.T) {
	for name, f := range map[string]func() (*Program, error){
		"nil host":     func() (*Program, error) { return New(nil) },
		"option 0":     func() (*Program, error) { return New(newHost(t), nil) },
		"WithCache":    func() (*Program, error) { return New(newHost(t), WithCache(nil)) },
		"WithTrace":    func() (*Program, error) { return New(newHost(t), WithTrace(nil)) },
		"in a sandbox": func() (*Program, error) { return New(newHost(t, gojaloop.WithSandbox())) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Programs with one cache compile a source once, on any goroutines; a file that has changed is compiled anew.
func TestCache(t *testing.T) {
	dir, cache := t.TempDir(), new(Cache)
	file := filepath.Join(dir, "a.ts")
	for _, text := range []string{"const n: number = 1; console.log(n)", "const n: number = 2; console.log(n)"} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		for range 3 {
			var out bytes.Buffer
			host := newHost(t, gojaloop.WithOutput(&out, &out))
			p, err := New(host, WithCache(cache))
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				err := p.Run(context.Background(), file)
				if want := strings.TrimSpace(strings.Split(text, "=")[1][:2]) + "\n"; err == nil && out.String() != want {
					err = errors.New("it prints " + out.String())
				}
				ended <- err
			}()
		}
		for range 3 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	if len(cache.units) != 2 {
		t.Errorf("the cache has %d sources", len(cache.units))
	}
}

// An await at the top that never ends, and an exception, have Node's exit codes; what Go work there is, a trace hears of.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, text string
		code       int
	}{
		{"ends.mjs", "import fs from 'fs'; await fs.promises.readFile(import.meta.filename); process.exitCode = 3", 3},
		{"waits.mjs", "await new Promise(() => {})", 13},
		{"throws.cjs", "null.x", 1},
	} {
		file := filepath.Join(dir, c.name)
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		var began, ended atomic.Int32
		host := newHost(t, gojaloop.WithOutput(&out, &out))
		p, err := New(host, WithNode(), WithTrace(func(string) func() { began.Add(1); return func() { ended.Add(1) } }))
		if err != nil {
			t.Fatal(err)
		}
		err = p.Run(context.Background(), file)
		var exit *gojaloop.ExitError
		var e *gojaloop.Error
		if c.code != 1 && (!errors.As(err, &exit) || exit.Code != c.code) || c.code == 1 && !errors.As(err, &e) {
			t.Errorf("%s: %v", c.name, err)
		}
		if strings.Contains(out.String(), "unsettled") != (c.code == 13) {
			t.Errorf("%s prints %s", c.name, &out)
		}
		if n := began.Load(); n != ended.Load() || (n > 0) != (c.code == 3) {
			t.Errorf("%s: %d pieces of work have begun, %d have ended", c.name, n, ended.Load())
		}
	}
}

// What a module exports keeps its bindings: the global of Load sees what changes.
func TestLoadKeepsBindings(t *testing.T) {
	ctx, cancel := beat.Context(t.Context())
	defer cancel()
	host, p := started(t, map[string]string{"a.ts": "export let n: number = 0\nexport const up = () => { n++ }\n"})
	if err := p.Load(ctx, "a", "./a.ts"); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Call(ctx, "a.up"); err != nil {
		t.Fatal(err)
	}
	err := host.Do(ctx, func(vm *goja.Runtime) error {
		if n := vm.Get("a").ToObject(vm).Get("n").ToInteger(); n != 1 {
			t.Errorf("it sees %d", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
