package gojaloop_test

// The globals: what scripts print of them, compared with Node's output; and the host's own rules.

import (
	"bytes"
	"os"
	"testing"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/gojaloop"
)

// TestGlobals compares what scripts print of the globals with what Node 20 has printed; see -record. fetch reaches
// nothing: its requests are refused on loopback.
func TestGlobals(t *testing.T) {
	for _, name := range []string{"globals", "console", "url", "web"} {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile("testdata/" + name + ".js")
			if err != nil {
				t.Fatal(err)
			}
			expected := "testdata/" + name + ".txt"
			if *record {
				if err := os.WriteFile(expected, []byte(byNode(t, string(source))), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			h := newHost(t, gojaloop.WithOutput(&out, &errs))
			if _, err := h.Run(ctx, "script.js", string(source)); err != nil {
				t.Fatal(err)
			}
			if got := out.String() + "exit code 0\n"; got != string(want) {
				t.Errorf("it prints\n%s\nand by Node it would print\n%s", got, want)
			}
		})
	}
}

// A declaration finds the global, as in Node, although the host makes it only then.
func TestDeclaredGlobals(t *testing.T) {
	h := newHost(t)
	v, err := h.Run(ctx, "a.js", "var process = process || 'none', URL = globalThis.URL || 'none'; typeof process + ' ' + typeof URL")
	if err != nil || v.String() != "object function" {
		t.Errorf("%v, %v", v, err)
	}
	h = newHost(t)
	v, err = h.Run(ctx, "a.js", "const had = 'fetch' in globalThis; fetch; delete globalThis.fetch; had + ' ' + typeof fetch")
	if err != nil || v.String() != "true undefined" {
		t.Errorf("%v, %v", v, err)
	}
}

func TestSandbox(t *testing.T) {
	h := newHost(t, gojaloop.WithSandbox(), gojaloop.WithoutGlobals("Buffer"))
	v, err := h.Run(ctx, "a.js", "[typeof fetch, typeof require, typeof Buffer, Object.keys(process.env).length, process.argv.length, process.pid, process.cwd()].join()")
	if err != nil || v.String() != "undefined,undefined,undefined,0,0,0,/" {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := gojaloop.New(h.Loop(), gojaloop.WithoutGlobals("nothing")); err == nil {
		t.Error("a name that is none of the host's: no error")
	}
}

// An exception of a listener is an uncaught exception: no caller could catch it.
func TestListenersThatThrow(t *testing.T) {
	var seen []string
	h := newHost(t, gojaloop.WithUncaughtException(func(e *gojaloop.Error) { seen = append(seen, e.Message) }))
	h.Set("note", func(v goja.Value) { seen = append(seen, v.String()) })
	_, err := h.Run(ctx, "a.js", `
		const t = new EventTarget()
		t.addEventListener('x', () => { throw 'listener' })
		t.addEventListener('x', () => note('next'))
		t.dispatchEvent(new Event('x'))
		reportError('reported')
		note('on')`)
	if err != nil || len(seen) != 4 || seen[0] != "next" || seen[1] != "on" || seen[2] != "listener" || seen[3] != "reported" {
		t.Errorf("%v, %q", err, seen)
	}
}

// Where Node 20 deviates from the standards, the host follows the standards.
func TestStandards(t *testing.T) {
	for source, want := range map[string]string{
		"URL.canParse('d?r#g', 'a:b')":                                         "false",
		"new URL('/..', 'a:/b/c').href":                                        "a:/",
		"new URL('//e:80/..', 'a:/b').href":                                    "a://e:80/",
		"const u = new URL('a://h:5/b'); u.host = '::'; u.href":                "a://h:5/b",
		"const u = new URL('a://h:5/b'); u.pathname = '/./..'; u.href":         "a://h:5/",
		"const u = new URL('a:/b'); u.host = ''; u.href":                       "a:///b",
		"const u = new URL('a:/b'); u.host = 'x:90'; u.href":                   "a://x:90/b",
		"const u = new URL('a:///p'); u.hostname = '[::2]'; u.href":            "a://[::2]/p",
		"URL.parse('x') === null && URL.parse('/y', 'http://h').href":          "http://h/y",
		"new URL('blob:https://h:8/x').origin":                                 "https://h:8",
		"try { AbortSignal.timeout(-1) } catch (e) { e.name }":                 "TypeError",
		"try { structuredClone({}, { transfer: [{}] }) } catch (e) { e.name }": "DataCloneError",
		"const e = new EventTarget(), v = new Event('x', { cancelable: true }); e.addEventListener('x', v => v.preventDefault(), { passive: true }); e.dispatchEvent(v)": "true",
		"new EventTarget().addEventListener('x', null)":                             "undefined",
		"const { URL: U } = require('url'); U === URL":                              "true",
		"const { URLSearchParams: P } = require('node:url'); P === URLSearchParams": "true",
	} {
		if v, err := newHost(t).Run(ctx, "a.js", source); err != nil || v.String() != want {
			t.Errorf("%s: %v, %v, want %s", source, v, err, want)
		}
	}
}
