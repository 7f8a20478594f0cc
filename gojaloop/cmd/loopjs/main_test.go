package main

// Tests of the command, in processes of its own.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

// The tests run the command as users do: with an environment variable set, this test binary is the command.
const asCommand = "LOOPJS_TEST_AS_COMMAND"

// asUsers is its value for the patience that users have; with any other the command waits as long as it takes on a busy machine.
const asUsers = "as users"

func TestMain(m *testing.M) {
	if how := os.Getenv(asCommand); how != "" {
		if how != asUsers {
			patience = time.Hour
		}
		quit(command(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// loopjs returns the command, to be run in a folder. It is killed when a watchdog gives it up.
func loopjs(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := beat.Context(t.Context())
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Dir = dir
	// Under the race detector a process sleeps for a second before it ends, unless it is told not to.
	cmd.Env = append(os.Environ(), asCommand+"=1", "NAME=value", "GORACE=atexit_sleep_ms=10")
	return cmd
}

// run runs the command, and returns its output and its exit code.
func run(t testing.TB, cmd *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// lines reads lines of an output in the background, so that a test can wait for one.
type lines struct {
	t    *testing.T
	came chan string
}

// begin starts a command, of which pipe is an output, and reads it.
func begin(t *testing.T, cmd *exec.Cmd, pipe func() (io.ReadCloser, error)) *lines {
	t.Helper()
	out, err := pipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return readLines(t, out)
}

func readLines(t *testing.T, r io.Reader) *lines {
	l := &lines{t, make(chan string, 1000)}
	go func() {
		defer close(l.came)
		s := bufio.NewScanner(r)
		for s.Scan() {
			l.came <- s.Text()
		}
	}()
	return l
}

// await returns the first line that has the text in it.
func (l *lines) await(text string) string {
	l.t.Helper()
	late, stop := beat.After(beat.Beats)
	defer stop()
	for {
		select {
		case line, ok := <-l.came:
			if !ok {
				l.t.Fatalf("the output is over, without %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-late:
			l.t.Fatalf("there is no %q", text)
		}
	}
}

// folder writes files into a folder of their own, whose name has no symbolic links.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type files = map[string]string

// commandCases are command lines with their exact output, and texts that the errors contain. DIR stands for the
// folder.
var commandCases = []struct {
	name   string
	args   []string
	stdin  string
	files  files
	stdout string
	stderr []string // texts among the errors; empty: there are no errors
	code   int
}{
	{name: "eval", args: []string{"-e", "console.log(1 + 1, process.argv.length, process.argv[1])", "a"}, stdout: "2 2 a\n"},
	{name: "loops that await, one in the other", args: []string{"a.mjs"}, files: files{"a.mjs": "async function* g(n) { for (let i = 0; i < n; i++) yield i }\n" +
		"for await (const a of g(2)) { for await (const b of g(2)) for await (const error of g(1)) console.log(a, b, { error }, 'iter more temp error') }\n" +
		"try { for await (const a of g(2)) for await (const b of [Promise.reject(new Error('mine'))]) console.log(b) } catch (e) { console.log(e.message) }"},
		stdout: "0 0 { error: 0 } iter more temp error\n0 1 { error: 0 } iter more temp error\n1 0 { error: 0 } iter more temp error\n1 1 { error: 0 } iter more temp error\nmine\n"},
	{name: "names of classes", args: []string{"a.ts"}, files: files{"a.ts": "class Job { static made: Job[] = []; static make() { return new Job() } }\nclass N { static name = 'own' }\n" +
		"console.log(Job.name, Job.make().constructor.name, Job.made, N.name, (() => {}).name === '')\nexport {}"},
		stdout: "Job Job [] own true\n"},
	{name: "call sites", args: []string{"main.js"}, files: files{ // as package depd looks for its caller
		"main.js": "const site = require('./lib')\nfunction caller() { return site() }\nconsole.log(caller(), Error.prepareStackTrace)",
		"lib.js": `function stack() {
	const o = {}, limit = Error.stackTraceLimit, prepare = Error.prepareStackTrace
	Error.prepareStackTrace = (_, sites) => sites
	Error.stackTraceLimit = Math.max(10, limit)
	Error.captureStackTrace(o)
	const sites = o.stack.slice(1)
	Error.prepareStackTrace = prepare
	Error.stackTraceLimit = limit
	return sites
}
module.exports = () => stack().slice(1, 3).map(s => [s.getFileName().split('/').pop(), s.getLineNumber(), s.getFunctionName(), s.isEval()].join())`,
	}, stdout: "[ 'main.js,2,caller,false', 'main.js,3,,false' ] undefined\n"},
	{name: "captured", args: []string{"-p", "function E() { Error.captureStackTrace(this, E) }; const e = (() => new E())(); [e.stack, Object.keys(e), Error.captureStackTrace.length]"},
		stdout: "[ 'Error\\n    at [eval]:1:69\\n    at [eval]:1:77', [], 2 ]\n"},
	{name: "print", args: []string{"-p", "({ a: [1, 2] })"}, stdout: "{ a: [ 1, 2 ] }\n"},
	{name: "print code", args: []string{"-p", "-e", "1 + 1"}, stdout: "2\n"},
	{name: "print awaited", args: []string{"-p", "await Promise.resolve('text')"}, stdout: "text\n"},
	{name: "print types", args: []string{"-p", "let n: number = 5; n"}, stdout: "5\n"},
	{name: "standard input", stdin: "console.log(typeof require, __filename)", stdout: "function [stdin]\n"},
	{name: "dash", args: []string{"-", "x"}, stdin: "console.log(process.argv.slice(2))", stdout: "[ 'x' ]\n"},
	{name: "environment", args: []string{"-p", "process.env.NAME"}, stdout: "value\n"},
	{name: "folder", args: []string{"-p", "process.cwd() === require('path').resolve('.')"}, stdout: "true\n"},
	{name: "stdout.write", args: []string{"-e", "process.stdout.write('a'); process.stdout.write(new Uint8Array([98, 10])); process.stderr.write('c')"}, stdout: "ab\n", stderr: []string{"c"}},

	{name: "CommonJS", args: []string{"main.js", "--flag", "x"}, files: files{
		"main.js":                         "#!/usr/bin/env loopjs\nconst a = require('./a'); console.log(a.name, require('./data.json').n, require('pkg'), require('pkg/sub'), require.main === module, process.argv.slice(2), this === exports)",
		"a.js":                            "exports.name = 'a'; exports.b = require('./b')",
		"b.js":                            "exports.partial = Object.keys(require('./a'))",
		"data.json":                       `{"n": 5}`,
		"node_modules/pkg/package.json":   `{"name": "pkg", "exports": {".": {"import": "./esm.mjs", "require": "./cjs.js"}, "./*": "./lib/*.js"}}`,
		"node_modules/pkg/cjs.js":         "module.exports = 'cjs'",
		"node_modules/pkg/lib/sub.js":     "module.exports = 'sub'",
		"node_modules/unused/ignored.txt": "",
	}, stdout: "a 5 cjs sub true [ '--flag', 'x' ] true\n"},
	{name: "require cache", args: []string{"-e", "const a = require('./a'); console.log(a === require('./a.js'), Object.keys(require.cache).length, require.resolve('./a') === require('path').resolve('a.js')); try { require('./throws') } catch (e) { console.log(e.message) } try { require('./throws') } catch (e) { console.log(e.message) }"},
		files: files{"a.js": "", "throws.js": "globalThis.n = (globalThis.n || 0) + 1; throw new Error('time ' + n)"}, stdout: "true 1 true\ntime 1\ntime 2\n"},
	{name: "ES module", args: []string{"main.mjs"}, files: files{
		"main.mjs": "import d, { count, up } from './m.mjs'\nimport * as all from './m.mjs'\nimport cjs, { named } from './c.cjs'\nimport { readFileSync } from 'node:fs'\nimport { x } from './star.mjs'\nup()\nconsole.log(d.name, count, all.count, cjs.named === named, typeof readFileSync, x, this)\nconsole.log(import.meta.url.startsWith('file:///'), import.meta.filename.endsWith('main.mjs'), import.meta.dirname === process.cwd())\n",
		"m.mjs":    "export let count = 0\nexport const up = () => { count++ }\nexport default class Named {}\n",
		"c.cjs":    "exports.named = {}",
		"star.mjs": "export * from './x.mjs'",
		"x.mjs":    "export const x = 'x'",
	}, stdout: "Named 1 1 true function x undefined\ntrue true true\n"},
	{name: "cycle", args: []string{"a.mjs"}, files: files{
		"a.mjs": "import { callA } from './b.mjs'\nexport const a = 'a'\nexport function hello() { return 'hello' }\nconsole.log(callA())\n",
		"b.mjs": "import { a, hello } from './a.mjs'\nexport function callA() { return hello() + ' ' + a }\ntry { a } catch (e) { console.log(e.name) }\n",
	}, stdout: "ReferenceError\nhello a\n"},
	{name: "await at the top", args: []string{"main.mjs"}, files: files{
		"main.mjs":  "import './first.mjs'\nimport { v } from './second.mjs'\nconsole.log('main', v)\nfor await (const x of [Promise.resolve(1), 2]) console.log(x)\nconsole.log((await import('./third.mjs')).default)\nexport {}\n",
		"first.mjs": "console.log('first')\nawait new Promise(r => setTimeout(r, 1))\nconsole.log('first over')\n", "second.mjs": "export const v = await 'v'\nconsole.log('second')\n", "third.mjs": "export default 3",
	}, stdout: "first\nsecond\nfirst over\nmain v\n1\n2\n3\n"},
	{name: "async generators", args: []string{"main.js"}, files: files{
		"main.js": "async function* g() { yield 1; yield 2 }\n;(async () => { for await (const x of g()) console.log(x) })()\nclass It { async *[Symbol.asyncIterator]() { yield 'a' } }\n;(async () => { for await (const x of new It()) console.log(x) })()",
	}, stdout: "1\na\n2\n"},
	{name: "dynamic import", args: []string{"main.js"}, files: files{
		"main.js": "const p = './m.mjs'; import('./m.mjs').then(m => console.log(m.a)).then(() => import(p)).then(m => console.log(m.default)).then(() => import('./no.mjs')).catch(e => console.log(e.code))",
		"m.mjs":   "export const a = 1\nexport default 'd'",
	}, stdout: "1\nd\nERR_MODULE_NOT_FOUND\n"},
	{name: "dynamic import by a variable", args: []string{"main.mjs"}, files: files{
		"main.mjs":                    "const [a, b] = ['p', './no.mjs']\nconsole.log((await import(a)).default)\nimport(b).catch(e => console.log(e.code))\n",
		"node_modules/p/package.json": `{"exports": {"import": "./m.mjs", "require": "./c.cjs"}}`,
		"node_modules/p/m.mjs":        "export default 'esm'", "node_modules/p/c.cjs": "module.exports = 'cjs'",
	}, stdout: "esm\nERR_MODULE_NOT_FOUND\n"},
	{name: "shebang of a module", args: []string{"main.mjs"}, files: files{"main.mjs": "#!/usr/bin/env loopjs\nconsole.log(import.meta.resolve('./no.js').endsWith('/no.js'))\n"}, stdout: "true\n"},
	{name: "missing export", args: []string{"main.mjs"}, files: files{"main.mjs": "import { a, nope } from './x.mjs'\nconsole.log(a, nope)\n", "x.mjs": "export const a = 1"},
		stderr: []string{"DIR/main.mjs:1\nimport { a, nope } from './x.mjs'\n            ^^^^\n\nSyntaxError: The requested module './x.mjs' does not provide an export named 'nope'\n"}, code: 1},
	{name: "missing export of a module that awaits", args: []string{"main.mjs"}, files: files{"main.mjs": "import d from './x.mjs'\nawait 1\nconsole.log(d)\n", "x.mjs": "export * from './y.mjs'", "y.mjs": "export const a = 1"},
		stderr: []string{"does not provide an export named 'default'"}, code: 1},
	{name: "missing export of CommonJS", args: []string{"main.mjs"}, files: files{"main.mjs": "import d, { a, nope } from './x.cjs'\nconsole.log(d, a, nope)\n", "x.cjs": "exports.a = 1"},
		stderr: []string{"SyntaxError: Named export 'nope' not found. The requested module './x.cjs' is a CommonJS module"}, code: 1},
	{name: "types are passed on", args: []string{"main.ts"}, files: files{"main.ts": "export { T } from './t'\nimport { T, f } from './t'\nconsole.log(f({ n: 1 } as T))\n", "t.ts": "export interface T { n: number }\nexport const f = (t: T) => t.n\n"}, stdout: "1\n"},
	{name: "type module", args: []string{"src/main"}, files: files{
		"package.json": `{"type": "module", "imports": {"#x": "./src/x.js"}, "name": "self", "exports": {"./x": "./src/x.js"}}`,
		"src/main.js":  "import { x } from '#x'\nimport { x as y } from 'self/x'\nconsole.log(x === y, typeof module)\n", "src/x.js": "export const x = {}",
	}, stdout: "true object\n"},
	{name: "TypeScript", args: []string{"main.ts"}, files: files{
		"main.ts": "import { type T, f } from './lib.js'\nenum Colour { Red, Green }\nclass P { constructor(private readonly n: number) {} get(): T { return { n: this.n } } }\nconsole.log(f(new P(3).get()), Colour[1], <number>(1 as any))\nabstract class A { abstract x: string }\nnamespace N { export const y = 1 }\nconsole.log(N.y satisfies number)\n",
		"lib.ts":  "export interface T { n: number }\nexport const f = (t: T): number => t.n * 2\n",
	}, stdout: "6 Green 1\n1\n"},
	{name: "JSX", args: []string{"main.tsx"}, files: files{
		"main.tsx": "const React = { createElement: (name: string, props: object | null, ...children: unknown[]) => ({ name, props, children }) }\nconsole.log(<a href='x'>text</a>)\n",
	}, stdout: "{ name: 'a', props: { href: 'x' }, children: [ 'text' ] }\n"},
	{name: "JSX of a runtime", args: []string{"main.tsx"}, files: files{
		"tsconfig.json":                    `{"compilerOptions": {"jsx": "react-jsx", "jsxImportSource": "mini"}} // with a comment`,
		"main.tsx":                         "console.log(<b>x</b>)\n",
		"node_modules/mini/jsx-runtime.js": "exports.jsx = (name, props) => name + ':' + props.children",
	}, stdout: "b:x\n"},

	{name: "exit code", args: []string{"-e", "process.exitCode = 4"}, code: 4},
	{name: "exit", args: []string{"-e", "process.on('exit', c => console.log('exit', c)); setTimeout(() => console.log('never'), 1); process.exit(7); console.log('never')"}, stdout: "exit 7\n", code: 7},
	{name: "exception", args: []string{"main.js"}, files: files{"main.js": "function f() {\n\tthrow new TypeError('wrong')\n}\nsetTimeout(() => f(), 1)\n"},
		stderr: []string{"DIR/main.js:2\n\tthrow new TypeError('wrong')\n\t^\n\nTypeError: wrong\n    at f (DIR/main.js:2:8)\n    at DIR/main.js:4:"}, code: 1},
	{name: "exception with properties", args: []string{"-e", "throw Object.assign(new Error('x'), { code: 'E', n: [1] })"}, stderr: []string{"[eval]:1\n", "Error: x\n    at [eval]:1:", "{\n  code: 'E',\n  n: [ 1 ]\n}\n"}, code: 1},
	{name: "exception of another kind", args: []string{"-e", "throw { a: 1 }"}, stderr: []string{"\n[eval]:1\nthrow { a: 1 }\n^\n{ a: 1 }\n"}, code: 1},
	{name: "exception in TypeScript", args: []string{"main.ts"}, files: files{"main.ts": "interface Unused {\n  a: string\n}\n\nfunction f(n: number): never {\n  throw new RangeError('far ' + n)\n}\nconst g = (x: unknown): void => f(x as number)\ng(5)\n"},
		stderr: []string{"DIR/main.ts:6\n  throw new RangeError('far ' + n)\n  ^\n\nRangeError: far 5\n    at f (DIR/main.ts:6:9)\n    at g (DIR/main.ts:8:33)\n    at DIR/main.ts:9:1"}, code: 1},
	{name: "exception in an imported module that awaits", args: []string{"main.mjs"}, files: files{"main.mjs": "import './bad.ts'\n", "bad.ts": "const n: number = await 1\nif (n) throw new Error('bad')\n"},
		stderr: []string{"file://DIR/bad.ts:2\nif (n) throw new Error('bad')\n       ^\n\nError: bad\n"}, code: 1},
	{name: "exception in required TypeScript", args: []string{"main.cts"}, files: files{
		"main.cts": "interface Unused { a: string }\nconst bad: { f(n: number): void } = require('./bad.ts')\nbad.f(1)\n",
		"bad.ts":   "type T = {\n  a: number\n}\n\nexports.f = (n: number): never => {\n  throw new Error('bad ' + n)\n}\n"},
		stderr: []string{"DIR/bad.ts:6\n  throw new Error('bad ' + n)\n  ^\n\nError: bad 1\n    at DIR/bad.ts:6:9\n    at DIR/main.cts:3:5"}, code: 1},
	{name: "exception in TypeScript while it is required", args: []string{"main.js"}, files: files{"main.js": "require('./bad.cts')\n", "bad.cts": "enum E {\n  A,\n}\nthrow new Error('bad ' + E.A)\n"},
		stderr: []string{"DIR/bad.cts:4\nthrow new Error('bad ' + E.A)\n^\n\nError: bad 0\n    at DIR/bad.cts:4:7"}, code: 1},
	{name: "exception is handled", args: []string{"-e", "process.on('uncaughtException', (e, o) => console.log(o, e.message)); setTimeout(() => console.log('on'), 1); throw new Error('x')"}, stdout: "uncaughtException x\non\n"},
	{name: "interval of timers/promises", args: []string{"-e", "const { setInterval: every } = require('timers/promises'); every(1, 'nobody asks'); every(1, 2, { signal: AbortSignal.abort() }).next().catch(e => console.log(e.name)); const i = every(1, 'v'); i.next().then(v => i.return(v.value)).then(v => { console.log(v); return i.throw(new Error('t')) }).catch(e => console.log(e.message))"}, stdout: "AbortError\n{ value: 'v', done: true }\nt\n"},
	{name: "exception in a listener of exit", args: []string{"-e", "process.on('exit', () => { console.log('exit'); throw new Error('x') })"}, stdout: "exit\n", stderr: []string{"Error: x\n    at [eval]:1:"}, code: 1},
	{name: "exception before one in a listener of exit", args: []string{"-e", "process.on('exit', c => { console.log(c); process.exitCode = 6; throw new Error('x') }); throw new Error('first')"}, stdout: "1\n", stderr: []string{"Error: first\n"}, code: 6},
	{name: "string is thrown", args: []string{"main.js"}, files: files{"main.js": "throw 'text'\n"}, stderr: []string{"\nDIR/main.js:1\nthrow 'text'\n^\ntext\n"}, code: 1},
	{name: "kills itself", args: []string{"-e", "process.on('SIGTERM', s => { console.log(s); process.exit(3) }); setInterval(() => {}, 1000); process.kill(process.pid, 'SIGTERM')"}, stdout: "SIGTERM\n", code: 3},
	{name: "warning", args: []string{"-e", "process.on('warning', w => console.log(w.name, w.message)); process.emitWarning('m', 'Kind')"}, stdout: "Kind m\n", stderr: []string{") Kind: m\n"}},
	{name: "rejection", args: []string{"-e", "Promise.reject(new Error('r')); setTimeout(() => console.log('never'), 50)"}, stderr: []string{"Error: r\n"}, code: 1},
	{name: "rejection with a number", args: []string{"-e", "Promise.reject(5)"}, stderr: []string{"ERR_UNHANDLED_REJECTION", `with the reason "5"`}, code: 1},
	{name: "module rejects", args: []string{"-e", "await 1; throw new Error('late')"}, stderr: []string{"Error: late\n"}, code: 1},
	{name: "never settles", args: []string{"main.mjs"}, files: files{"main.mjs": "await new Promise(() => {})"}, stderr: []string{"Warning: Detected unsettled top-level await at DIR/main.mjs\n"}, code: 13},
	{name: "never settles but exits", args: []string{"-e", "setTimeout(() => process.exit(2), 1); await new Promise(() => {})"}, code: 2},

	{name: "no such file", args: []string{"nope.js"}, stderr: []string{"Error: Cannot find module 'DIR/nope.js'", "code: 'MODULE_NOT_FOUND'"}, code: 1},
	{name: "no such module", args: []string{"main.js"}, files: files{"main.js": "require('./nope')"}, stderr: []string{"DIR/main.js:1\nrequire('./nope')\n", "Cannot find module './nope'\nRequire stack:\n- DIR/main.js", "code: 'MODULE_NOT_FOUND'"}, code: 1},
	{name: "no such import", args: []string{"main.mjs"}, files: files{"main.mjs": "console.log('never')\nimport 'nope'\n"}, stderr: []string{"Cannot find package 'nope' imported from DIR/main.mjs", "ERR_MODULE_NOT_FOUND"}, code: 1},
	{name: "no such built-in module", args: []string{"-e", "require('node:nope')"}, stderr: []string{"No such built-in module: node:nope"}, code: 1},
	{name: "syntax error", args: []string{"main.js"}, files: files{"main.js": "let a = 1\nlet b = a +* 2\n"}, stderr: []string{"DIR/main.js:2\nlet b = a +* 2\n           ^\n\n", "SyntaxError: Unexpected token '*'"}, code: 1},
	{name: "syntax error in what is imported", args: []string{"main.mjs"}, files: files{"main.mjs": "import './bad.mjs'", "bad.mjs": "export const\n"}, stderr: []string{"DIR/bad.mjs:2\n", "SyntaxError: Unexpected end of input"}, code: 1},
	{name: "syntax error in JSON", args: []string{"-e", "require('./x.json')"}, files: files{"x.json": "{"}, stderr: []string{"SyntaxError: DIR/x.json: "}, code: 1},
	{name: "check", args: []string{"-c", "main.ts"}, files: files{"main.ts": "console.log('never')"}},
	{name: "check fails", args: []string{"--check", "main.ts"}, files: files{"main.ts": "foo bar"}, stderr: []string{"DIR/main.ts:1\nfoo bar\n    ^^^\n\nSyntaxError: Unexpected identifier 'bar'"}, code: 1},
	{name: "bad option", args: []string{"--nope", "x.js"}, stderr: []string{"loopjs: bad option: --nope\n"}, code: 9},
	{name: "missing argument", args: []string{"-e"}, stderr: []string{"loopjs: -e requires an argument\n"}, code: 9},
	{name: "wrong time", args: []string{"--stall", "fast", "x.js"}, stderr: []string{`loopjs: --stall takes a time, as 50ms or 2s, not "fast"`}, code: 9},
	{name: "wrong number", args: []string{"--explore=0", "x.js"}, stderr: []string{`loopjs: --explore takes a number of runs, not "0"`}, code: 9},
	{name: "nothing to explore", args: []string{"--seed", "1"}, stderr: []string{"need a file"}, code: 9},

	{name: "large output", args: []string{"-e", "const line = 'x'.repeat(1023); for (let i = 0; i < 2048; i++) console.log(line)"}, stdout: strings.Repeat(strings.Repeat("x", 1023)+"\n", 2048)},
	{name: "input is read", args: []string{"-e", "let t = ''; process.stdin.setEncoding('utf8').on('data', d => t += d).on('end', () => console.log(t.length))"}, stdin: strings.Repeat("é", 100000), stdout: "100000\n"},
	{name: "input is iterated", args: []string{"-e", "let n = 0; for await (const c of process.stdin) n += c.length; console.log(n)"}, stdin: strings.Repeat("x", 100000), stdout: "100000\n"},
	{name: "input is read at once", args: []string{"-p", "require('fs').readFileSync(0, 'utf8').trim()"}, stdin: "text\n", stdout: "text\n"},
	{name: "readline", args: []string{"-e", "const rl = require('readline').createInterface({ input: process.stdin }); for await (const l of rl) console.log('<' + l + '>')"}, stdin: "a\r\nb\n\nc", stdout: "<a>\n<b>\n<>\n<c>\n"},
	{name: "questions", args: []string{"-e", "const rl = require('readline/promises').createInterface(process.stdin, process.stdout); const a = await rl.question('a? '), b = await rl.question('b? '); rl.close(); console.log(a, b)"}, stdin: "1\n2\n3\n", stdout: "a? b? 1 2\n"},
	{name: "lines between two loops", args: []string{"-e", "const rl = require('readline').createInterface({ input: process.stdin }), got = [(await rl[Symbol.asyncIterator]().next()).value]; for await (const l of rl) got.push(l); console.log(got.join())"}, stdin: "one\ntwo\nthree\r", stdout: "one,two,three\n"},
	{name: "a line and the end of input", args: []string{"-e", "const rl = require('readline').createInterface({ input: process.stdin }); rl.once('line', l => { console.log(l); rl.on('close', () => console.log('close')) })"}, stdin: "a\nb\n", stdout: "a\nclose\n"},
	{name: "file URLs", args: []string{"-e", "const { fileURLToPath: p, pathToFileURL: u } = require('url'); for (const x of ['file:///a%2Fb', 'http://a', {}]) try { console.log(p(x)) } catch (e) { console.log(e.code) } console.log(p(u('/a b/%#?~[')), u('/%#?~[').href)"},
		stdout: "ERR_INVALID_FILE_URL_PATH\nERR_INVALID_URL_SCHEME\nERR_INVALID_ARG_TYPE\n/a b/%#?~[ file:///%25%23%3F%7E%5B\n"},
	{name: "specifiers are URLs", args: []string{"main.mjs"}, files: files{
		"main.mjs": "import a from './a%20b.mjs?x#y'\nimport h from './c%23d.mjs'\nconsole.log(a, h)\nfor (const s of ['./d%2Fe.mjs', './%zz.mjs']) try { await import(s) } catch (e) { console.log(e.code) }\n",
		"a b.mjs":  "export default 1\n", "c#d.mjs": "export default 2\n",
	}, stdout: "1 2\nERR_INVALID_MODULE_SPECIFIER\nERR_INVALID_MODULE_SPECIFIER\n"},
	{name: "modules are known by their URLs", args: []string{"main.mjs"}, files: files{
		"main.mjs": `import a, { url } from './x.mjs?1'
import b from './x.mjs?2'
import c from './x.mjs?1'
import d from './x.mjs#1'
import e from './x.mjs'
import k from './c.cjs?1'
import l from './c.cjs?2'
console.log(a, b, c, d, e, url, k === l, (await import('./x.mjs?2')).default, require('./x.mjs').default)
`,
		"x.mjs": "globalThis.n = (globalThis.n || 0) + 1\nexport default n\nexport const url = import.meta.url.split('/').pop()\n", "c.cjs": "module.exports = {}\n",
	}, stdout: "1 2 1 3 4 x.mjs?1 true 2 4\n"},
	{name: "data URLs", args: []string{"main.mjs"}, files: files{"x.mjs": "", "main.mjs": `
import a, { length } from 'data:text/javascript,export default 1; export const length = import.meta.url%3F.length'
import b from 'data:text/javascript;charset=utf-8;base64,ZXhwb3J0IGRlZmF1bHQgJ2EnICsgMQ=='
console.log(a, length, b)
for (const code of ['import fs from "fs"; export const q = [typeof fs.readFileSync, import.meta.filename]', 'import "./x.mjs"', 'import "nope"', 'export const a = 1?b#c',
	'export const', 'export const stack = new Error("x").stack.split("(")[0]', 'import a from "data:text/javascript,export default 2"; export const b = a']) {
	await import('data:text/javascript,' + code).then(m => console.log({ ...m }), e => console.log(e.name, e.code))
}
for (const url of ['data:text/plain,hello', 'data:nothing']) await import(url).catch(e => console.log(e.code, e.message))
`}, stdout: "1 86 a1\n{ q: [ 'function', undefined ] }\nTypeError ERR_UNSUPPORTED_RESOLVE_REQUEST\nTypeError ERR_UNSUPPORTED_RESOLVE_REQUEST\n{ a: 1 }\nSyntaxError undefined\n" +
		"{\n  stack: 'Error: x\\n    at data:text/javascript,export const stack = new Error'\n}\n{ b: 2 }\n" +
		"ERR_UNKNOWN_MODULE_FORMAT Unknown module format: text/plain for URL data:text/plain,hello\nERR_INVALID_URL Invalid URL\n"},
	{name: "which exports count", args: []string{"main.js"}, files: files{
		"main.js": "for (const s of ['ab', 'ab.x', 'f/y.with-a-long-end', 'x/../../../q', 'x/%2e%2e/q', 'no/x', 'first', 'up']) try { console.log(require('p/' + s)) } catch (e) { console.log(e.code) }\n",
		"node_modules/p/package.json": `{ "exports": { "./*": "./*.js", "./a*": "./short.js", "./a*.x": "./long.js", "./f/*": "./short.js", "./*.with-a-long-end": "./long.js",
			"./no/*": null, "./first": { "node": null, "default": "./short.js" }, "./up": "./../q.js" } }`,
		"node_modules/p/short.js": "module.exports = 'short'\n", "node_modules/p/long.js": "module.exports = 'long'\n", "node_modules/q.js": "module.exports = 'of another'\n",
	}, stdout: "short\nlong\nshort\nERR_INVALID_MODULE_SPECIFIER\nERR_INVALID_MODULE_SPECIFIER\nERR_PACKAGE_PATH_NOT_EXPORTED\nERR_PACKAGE_PATH_NOT_EXPORTED\nERR_INVALID_PACKAGE_TARGET\n"},
	{name: "exit while input is open", args: []string{"-e", "process.stdin.on('data', () => process.exit(3))"}, stdin: "x", code: 3},
}

func TestCommand(t *testing.T) {
	for _, c := range commandCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, c.files)
			cmd := loopjs(t, dir, c.args...)
			cmd.Stdin = strings.NewReader(c.stdin)
			stdout, stderr, code := run(t, cmd)
			if stdout != c.stdout {
				t.Errorf("it prints\n%.2000q, want\n%.2000q", stdout, c.stdout)
			}
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			stderr = strings.ReplaceAll(stderr, dir, "DIR")
			for _, want := range c.stderr {
				if !strings.Contains(stderr, want) {
					t.Errorf("among the errors there is no\n%s", want)
				}
			}
			if len(c.stderr) == 0 && stderr != "" || t.Failed() {
				t.Errorf("errors:\n%s", stderr)
			}
		})
	}
}
