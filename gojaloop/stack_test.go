package gojaloop_test

// The stacks of errors, as scripts see them.

import (
	"strings"
	"testing"

	"github.com/turnloop/turnloop/gojaloop"
)

// A stack has Node's form wherever it is looked at by its name, is what Error.prepareStackTrace makes of it, and stays what a script
// has made it.
func TestStacks(t *testing.T) {
	const f = "function f(m) { return new Error(m) }\n"
	for _, c := range []struct{ name, source, want string }{
		{"an error", f + "f('a').stack", "Error: a|    at f (a.js:1:24)|    at a.js:2:1"},
		{"a message of two lines", f + "f('a\\nb').stack", "Error: a|b|    at f (a.js:1:24)|    at a.js:2:1"},
		{"no message", "new Error().stack", "Error|    at a.js:1:1"},
		{"one of the language", "try { null.x } catch (e) { e.stack }", "TypeError: Cannot read properties of undefined (reading 'x')|    at a.js:1:12"},
		{"one of a class", "class E extends Error { constructor() { super('a'); this.name = 'E' } }\nnew E().stack", "E: a|    at a.js:2:1"},
		{"optional", f + "f('a')?.stack.split('\\n').length + String(undefined?.stack)", "3undefined"},
		{"set", f + "const e = f('a'); e.stack = 'mine\\n'; e.stack += '!'; e.stack", "mine|!"},
		{"deleted", f + "const e = f('a'); delete e.stack; String(e.stack)", "undefined"},
		{"of no error", "const o = { stack: [1], get() { return this.stack.pop() + this.stack.length } }; o.get()", "1"},
		{"of a class above", "class A { get stack() { return 'a' } } class B extends A { get() { return super.stack } } new B().get()", "a"},
		{"of nothing", "try { undefined.stack } catch (e) { e.message }", "Cannot read properties of undefined (reading 'stack')"},
		{"printed", f + "const e = f('a'); e.stack; console.log(e)", "Error: a|    at f (a.js:1:24)|    at a.js:2:11|"},
		{"not enumerable", f + "const e = f('a'); e.stack; Object.keys(e).length", "0"},
		{"frozen", f + "const e = Object.freeze(f('a')); e.stack.includes('at f (a.js:1:24')", "true"},
		{"a limit", f + "Error.stackTraceLimit = 1; f('a').stack", "Error: a|    at f (a.js:1:24)"},
		{"no limit", f + "Error.stackTraceLimit = Math.max(10, undefined); f('a').stack.split('\\n').length", "3"},
		{"call sites", f + `Error.prepareStackTrace = (e, sites) => [e.message, ...sites.map(s =>
			[s.getFunctionName(), s.getFileName(), s.getLineNumber(), s.getColumnNumber(), s.isNative(), s.isEval(), String(s)].join())]
		f('a').stack.join('|')`, "a|f,a.js,1,24,false,false,f (a.js:1:24)|,a.js,4,3,false,false,a.js:4:3"},
		{"in native code", "Error.prepareStackTrace = (e, sites) => sites.map(s => s.getFileName()).join(); [1].map(() => new Error().stack)[0]", "a.js,,a.js"},
		{"prepared by what looks at it", f + "Error.prepareStackTrace = e => e.stack.length; f('').stack > 20", "true"},
		{"preparing throws", f + "Error.prepareStackTrace = () => { throw 7 }; try { f('a').stack } catch (e) { e }", "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			h := newHost(t, gojaloop.WithOutput(&out, &out))
			v, err := h.Run(ctx, "a.js", c.source)
			if err != nil {
				t.Fatal(err)
			}
			if out.Len() == 0 {
				out.WriteString(v.String())
			}
			if got := strings.ReplaceAll(out.String(), "\n", "|"); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}
