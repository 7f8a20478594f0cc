package gojaloop_test

// The program and the table of globals in docs/goja.md are true.

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/gojaloop"
)

// minimum are the globals of the Minimum Common Web API (ECMA-429, first edition)
// that a program can see.
var minimum = strings.Fields(`AbortController AbortSignal Blob ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy
	Crypto CryptoKey CustomEvent DecompressionStream DOMException ErrorEvent Event EventTarget File FormData Headers MessageChannel MessageEvent MessagePort
	Performance PromiseRejectionEvent ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest
	ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder TextDecoderStream TextEncoder
	TextEncoderStream TransformStream TransformStreamDefaultController URL URLPattern URLSearchParams WebAssembly WritableStream
	WritableStreamDefaultController WritableStreamDefaultWriter atob btoa clearInterval clearTimeout console crypto fetch globalThis navigator
	onerror onrejectionhandled onunhandledrejection performance queueMicrotask reportError self setInterval setTimeout structuredClone`)

// Each global stands in one row of the table, and exists if that row says so.
func TestTableOfGlobals(t *testing.T) {
	page, err := os.ReadFile("../docs/goja.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		for _, kind := range []string{"there", "partly", "not there"} {
			if strings.HasPrefix(line, "| "+kind+" |") {
				rows[kind] = line
			}
		}
	}
	named := func(kind, name string) bool {
		return regexp.MustCompile("`" + name + "`").MatchString(rows[kind])
	}
	h := newHost(t)
	for _, name := range minimum {
		v, err := h.Runtime().RunString("typeof " + name + " !== 'undefined' || '" + name + "' in globalThis")
		if err != nil {
			t.Fatal(err)
		}
		there := named("there", name) || named("partly", name)
		absent := named("not there", name)
		switch {
		case there == absent:
			t.Errorf("%s stands in %v rows", name, map[bool]string{true: "both", false: "no"}[there])
		case there != v.ToBoolean():
			t.Errorf("%s: there is %v, and the page says %v", name, v, there)
		}
	}
}

// The program at the top of docs/goja.md runs: its script uses what there is.
func TestProgramOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/goja.md")
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile("host\\.Run\\(ctx, \"main\\.js\", `([^`]+)`\\)").FindSubmatch(page)
	if script == nil {
		t.Fatal("the page has no script")
	}
	var out strings.Builder
	h := newHost(t, gojaloop.WithOutput(&out, &out))
	h.Set("lookup", h.Promisify(func(_ context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		name := args[0].String()
		return func(vm *goja.Runtime) (goja.Value, error) { return vm.ToValue([]string{name}), nil }, nil
	}))
	if _, err := h.Run(t.Context(), "main.js", string(script[1])); err != nil || out.String() != "[ 'localhost' ]\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
