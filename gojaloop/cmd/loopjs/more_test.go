package main

// Tests of the command's options, of sessions, and of ordinary scripts.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The help fits on a screen of 24 lines of 80 columns, one of which is the next prompt's.
func TestHelpFitsAScreen(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := run(t, loopjs(t, t.TempDir(), "--help"))
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) > 23 || stderr != "" || code != 0 {
		t.Errorf("%d lines, %q, exit code %d", len(lines), stderr, code)
	}
	for _, l := range lines {
		if len(l) > 80 {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
}

// Scripts of the host's tests, with Node's output: here with everything that the command adds. Scripts whose order
// depends on the length of a millisecond are left out.
func TestAsNode(t *testing.T) {
	const order = "../../testdata/order"
	for _, name := range []string{"async_functions", "before_exit", "before_exit_slow", "exit_code", "exit_now", "emitter"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asNode(t, order, name+".js", name+".txt")
		})
	}
}

// asNode compares a script's output with Node's: that of "node x.js" in its folder, and the exit code as the last line.
func asNode(t *testing.T, dir, script, output string) {
	want, err := os.ReadFile(filepath.Join(dir, output))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := run(t, loopjs(t, dir, script))
	if got := fmt.Sprintf("%sexit code %d\n", stdout, code); got != string(want) {
		t.Errorf("it prints\n%s\nand by Node it would print\n%s\n%s", got, want, stderr)
	}
}

// Scripts as people write them.
func TestOrdinaryScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.*js")
	if err != nil || len(scripts) < 6 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		t.Run(filepath.Base(script), func(t *testing.T) {
			t.Parallel()
			asNode(t, "testdata", filepath.Base(script), filepath.Base(script)+".txt")
		})
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	const input = "const x = await Promise.resolve(41)\nx + 1\nlet {a, ...r} = await {a: 1, b: 2}, q\nr\nfunction f() {\n  return 5\n}\nf()\nlet t = `two\nlines`\nt\nimport fs from 'fs'\n" +
		"throw new Error('no')\n{a: 1}\nfoo bar\nconst fs = await import('node:fs')\ntypeof fs.readFileSync\nlet n: number = 3\nn\n_ + 1\n" +
		"await Promise.reject(new Error('rejected'))\nsetTimeout(() => { throw 1 }, 1); await new Promise(r => setTimeout(r, 50))\nprocess.exitCode = 3\n"
	cmd := loopjs(t, t.TempDir(), "-i")
	cmd.Stdin = strings.NewReader(input)
	stdout, stderr, code := run(t, cmd)
	for _, want := range []string{"> 42\n", "> { b: 2 }\n", "> ... ... undefined\n> 5\n", "> ... undefined\n> 'two\\nlines'\n", "Uncaught SyntaxError: Cannot use an import statement", "Uncaught Error: no\n    at [repl]:1:7\n", "> { a: 1 }\n", "SyntaxError: Unexpected identifier 'bar'",
		"> 'function'\n", "> 3\n> 4\n", "Uncaught Error: rejected\n", "Uncaught 1\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if code != 3 || stderr != "" || t.Failed() {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	cmd = loopjs(t, t.TempDir(), "-i")
	cmd.Stdin = strings.NewReader("process.exit(4)\n")
	if _, _, code := run(t, cmd); code != 4 {
		t.Errorf("process.exit ends the session with %d", code)
	}
}

// A race shows in some order, and its seed repeats it.
func TestExplore(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{
		"race.js": "let data\nrequire('fs').readFile(__filename, 'utf8', (e, d) => { data = d })\nsetTimeout(() => console.log(data.length > 0), 50)\n",
		"orders.js": `let order = ''
setTimeout(() => order += 't', 1)
setImmediate(() => order += 'i')
for (const c of 'abc') require('fs').promises.readFile(__filename).then(() => order += c)
setTimeout(() => console.log(order, Date.now(), Math.random(), performance.now()), 5000)`,
	})
	_, stderr, code := run(t, loopjs(t, dir, "--explore=1000", "race.js"))
	var n, of, exit, seed int
	if at := strings.Index(stderr, "loopjs: run"); at < 0 || code != 1 {
		t.Fatalf("exit code %d: %s", code, stderr)
	} else if _, err := fmt.Sscanf(stderr[at:], "loopjs: run %d of %d fails with exit code %d; --seed %d repeats it", &n, &of, &exit, &seed); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, loopjs(t, dir, fmt.Sprint("--seed=", seed), "race.js")); code != 1 || !strings.Contains(stderr, "TypeError") {
		t.Errorf("the seed does not repeat it: %d, %s", code, stderr)
	}
	if _, stderr, code := run(t, loopjs(t, dir, "--explore=50", "orders.js")); code != 0 || !strings.Contains(stderr, "different things") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for seed := range 10 {
		first, _, _ := run(t, loopjs(t, dir, fmt.Sprint("--seed=", seed), "orders.js"))
		if again, _, _ := run(t, loopjs(t, dir, fmt.Sprint("--seed=", seed), "orders.js")); first != again || first == "" {
			t.Errorf("seed %d prints %q, and then %q", seed, first, again)
		}
	}
	if _, stderr, code := run(t, loopjs(t, dir, "--explore=2", "-e", "setInterval(() => {}, 60000)")); code != 0 || !strings.Contains(stderr, "2 were ended") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A callback that blocks is told with its place, while it blocks: it goes on until the test has seen it told.
func TestStall(t *testing.T) {
	t.Parallel()
	const text = "const { existsSync } = require('fs')\nfunction busy() {\n\twhile (!existsSync('seen'));\n}\nsetTimeout(() => busy(), 1)\n"
	told := ""
	for range 25 { // on a busy machine it is looked at for too short a time now and then, or blocks elsewhere before
		dir := folder(t, files{"main.js": text})
		cmd := loopjs(t, dir, "--stall=50ms", "main.js")
		l := begin(t, cmd, cmd.StderrPipe)
		l.await("loopjs: a callback has run for more than")
		for told = l.await("    at "); strings.HasSuffix(told, "main.js:1)"); { // the first line loads a module, and may take long
			told = l.await("    at ")
		}
		if err := os.WriteFile(filepath.Join(dir, "seen"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		for range l.came {
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if strings.Contains(told, "at busy ("+filepath.Join(dir, "main.js")+":3)") {
			return
		}
	}
	t.Errorf("it tells %s", told)
}

// The parts of Node's modules that scripts commonly need: each line prints true.
func TestNodeModules(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{"main.mjs": `
import fs from 'node:fs'
import { readFile, writeFile, readdir, mkdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import os from 'node:os'
import EventEmitter, { once } from 'node:events'
import util from 'node:util'
import assert from 'node:assert'
import { setTimeout as sleep, setInterval as every } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
let n = 0
const is = (a, b) => { n++; if (!util.isDeepStrictEqual(a, b)) console.log(n, a, b) }
await mkdir('d/e', { recursive: true })
await writeFile('d/x.txt', 'text')
await fs.promises.appendFile('d/x.txt', Buffer.from('!'))
is(await readFile('d/x.txt', 'utf8'), 'text!')
is((await readdir('d')).sort(), ['e', 'x.txt'])
is((await stat('d')).isDirectory(), true)
is(fs.statSync('d/x.txt').size, 5)
is(fs.existsSync('d/no'), false)
is(fs.readFileSync('d/x.txt').equals(Buffer.from('text!')), true)
await assert.rejects(readFile('no'), { code: 'ENOENT', syscall: 'open', path: 'no', message: "ENOENT: no such file or directory, open 'no'" })
assert.throws(() => fs.mkdirSync('d'), { code: 'EEXIST' })
assert.throws(() => fs.readFileSync('d'), { code: 'EISDIR' })
await rm('d', { recursive: true })
is(fs.existsSync('d'), false)
is(path.join('/a', '..', 'b', './c'), '/b/c')
is(path.relative('/a/b/c', '/a/d'), '../../d')
is(path.parse('/x/y.tar.gz'), { root: '/', dir: '/x', base: 'y.tar.gz', ext: '.gz', name: 'y.tar' })
is([path.basename('a/b.c', '.c'), path.extname('.x'), path.dirname('a'), path.normalize('a//b/../c/')], ['b', '', '.', 'a/c/'])
is(typeof os.hostname(), 'string')
const e = new EventEmitter()
e.once('x', (...a) => is(a, [1, 2]))
is([e.emit('x', 1, 2), e.emit('x')], [true, false])
process.nextTick(() => e.emit('y', 'z'))
is(await once(e, 'y'), ['z'])
assert.throws(() => e.emit('error', new Error('e')), /^Error: e$/)
is(await util.promisify((a, cb) => cb(null, a + 1))(1), 2)
is(util.inspect({ a: [1] }), '{ a: [ 1 ] }')
is(await sleep(1, 'slept'), 'slept')
is(await util.promisify(setTimeout)(1, 'v'), 'v')
is(await util.promisify(setImmediate)('w'), 'w')
let ticks = 0
for await (const x of every(1, 't')) if (++ticks === 3) { is(x, 't'); break }
is(fileURLToPath(pathToFileURL('/a b')), '/a b')
is(createHash('sha256').update('x').digest('hex').slice(0, 8), '2d711642')
is(createRequire(import.meta.url)('path'), path)
try { assert.strictEqual(1, 2) } catch (x) { is([x.code, x.message], ['ERR_ASSERTION', 'Expected values to be strictly equal:\n\n1 !== 2\n']) }
assert.deepStrictEqual(new Map([[1, { a: new Set([1]) }]]), new Map([[1, { a: new Set([1]) }]]))
assert.throws(() => assert.deepStrictEqual({ a: 1 }, { a: '1' }), { code: 'ERR_ASSERTION' })
console.log(n)
`})
	if stdout, stderr, code := run(t, loopjs(t, dir, "main.mjs")); stdout != "25\n" || code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}

// require looks in the folders of NODE_PATH, too, and import does not.
func TestNodePath(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{"lib/p/index.js": "module.exports = 7\n"})
	cmd := loopjs(t, dir, "-e", "console.log(require('p')); import('p').catch(e => console.log(e.code))")
	cmd.Env = append(cmd.Env, "NODE_PATH="+filepath.Join(dir, "lib"))
	if stdout, stderr, code := run(t, cmd); stdout != "7\nERR_MODULE_NOT_FOUND\n" || code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}

// Local time around changes of the clock. A time that comes once is what it is everywhere. One that is skipped, or comes twice, is
// goja's choice in three of four cases: docs/goja.md has a row of it, which this holds to goja.
func TestClockChanges(t *testing.T) {
	for _, c := range []struct{ zone, local, utc string }{
		{"America/New_York", "2026, 2, 8, 1, 59", "2026-03-08T06:59"},
		{"America/New_York", "2026, 2, 8, 3, 0", "2026-03-08T07:00"},
		{"America/New_York", "2026, 10, 1, 2, 0", "2026-11-01T07:00"},
		{"America/New_York", "2026, 10, 1, 1, 30", "2026-11-01T05:30"}, // twice: the first, as in Node
		{"America/New_York", "2026, 2, 8, 2, 30", "2026-03-08T06:30"},  // skipped: goja's; Node has 07:30
		{"Europe/Berlin", "2026, 2, 29, 1, 59", "2026-03-29T00:59"},
		{"Europe/Berlin", "2026, 2, 29, 3, 0", "2026-03-29T01:00"},
		{"Europe/Berlin", "2026, 2, 29, 2, 30", "2026-03-29T01:30"}, // skipped: as in Node
		{"Europe/Berlin", "2026, 9, 25, 2, 30", "2026-10-25T01:30"}, // twice: goja's; Node has 00:30
		{"Australia/Lord_Howe", "2026, 3, 5, 1, 15", "2026-04-04T14:15"},
		{"Australia/Lord_Howe", "2026, 3, 5, 1, 45", "2026-04-04T15:15"}, // twice, half an hour apart: goja's; Node has 14:45
	} {
		if _, err := time.LoadLocation(c.zone); err != nil {
			t.Skip(err)
		}
		cmd := loopjs(t, ".", "-p", "new Date("+c.local+").toISOString().slice(0, 16)")
		cmd.Env = append(cmd.Env, "TZ="+c.zone)
		if stdout, stderr, _ := run(t, cmd); stdout != c.utc+"\n" {
			t.Errorf("%s in %s is %q, want %s; %s", c.local, c.zone, stdout, c.utc, stderr)
		}
	}
}
