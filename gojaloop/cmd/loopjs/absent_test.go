package main

// Tests of names and modules that are not there, and of what their errors say.

import (
	"strings"
	"testing"
)

// What is CommonJS by its name or package has no syntax of modules. The messages and marks are Node's.
func TestCommonJSHasNoModuleSyntax(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{
		"await.cjs":           "let x = 1\nx = await x\n",
		"import.cjs":          "'use strict'\n  import fs from 'fs'\n",
		"export.cjs":          "export const x = 1\n",
		"typed.cts":           "let x: number = await 1\n",
		"name.cjs":            "const await = x => x\nconsole.log(await (7))\n",
		"common/package.json": `{"type":"commonjs"}`,
		"common/await.js":     "await null\n",
		"common/import.ts":    "import { sep } from 'path'\nconsole.log(typeof sep as string)\n",
	})
	const await = "SyntaxError: await is only valid in async functions and the top level bodies of modules\n"
	for _, c := range []struct{ file, stdout, stderr string }{
		{"await.cjs", "", "await.cjs:2\nx = await x\n    ^^^^^\n\n" + await},
		{"import.cjs", "", "import.cjs:2\n  import fs from 'fs'\n  ^^^^^^\n\nSyntaxError: Cannot use import statement outside a module\n"},
		{"export.cjs", "", "export.cjs:1\nexport const x = 1\n^^^^^^\n\nSyntaxError: Unexpected token 'export'\n"},
		{"typed.cts", "", await},
		{"name.cjs", "7\n", ""},
		{"common/await.js", "", await},
		{"common/import.ts", "string\n", ""},
	} {
		stdout, stderr, code := run(t, loopjs(t, dir, c.file))
		if stdout != c.stdout || !strings.HasSuffix(stderr, c.stderr) || (code == 0) != (c.stderr == "") {
			t.Errorf("%s: exit code %d\n%s\n%s", c.file, code, stdout, stderr)
		}
	}
}

// The paths and the baseUrl of tsconfig.json name modules, also through extends, and never in node_modules.
func TestPaths(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{
		"base/shared.json":              `{ /* a comment */ "compilerOptions": { "baseUrl": "..", "paths": { "@lib/*": ["src/lib/*"], "one": ["src/one.ts"], }, } }`,
		"tsconfig.json":                 `{ "extends": "./base/shared.json" } // another`,
		"src/lib/a.ts":                  "export const a: string = 'a'\n",
		"src/lib/index.ts":              "export const index = 'index'\n",
		"src/one.ts":                    "export default 'one' as string\n",
		"node_modules/package/index.js": "module.exports = 'package ' + require('one')\n",
		"node_modules/one/index.js":     "module.exports = 'of node_modules'\n",
		"src/main.ts": "import { a } from '@lib/a'\nimport one from 'one'\nimport p from 'package'\nimport { index } from 'src/lib'\n" +
			"console.log(a, one, p, index, (await import('@lib/a.js')).a, require('one').default)\nimport('@lib/none').catch(e => console.log(e.message))\n",
	})
	stdout, stderr, code := run(t, loopjs(t, dir, "src/main.ts"))
	if want := "a one package of node_modules index a one\nCannot find package '@lib/none' imported from "; !strings.HasPrefix(stdout, want) || code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}

// What Node has and loopjs does not can be required, and throws when it is used.
func TestAbsent(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{"main.mjs": `
import fs from 'node:fs'
import http, { request, STATUS_CODES } from 'http'
import net from 'node:net'
const { Socket } = net
class Client extends Socket {}
const uses = [() => fs.watch('x'), () => request('http://x'), () => new Client(), () => http.createServer(), () => require('worker_threads').Worker(), () => require('vm').runInNewContext('1')]
for (const f of uses) try { f(); console.log('no error') } catch (e) { console.log(e.message, e.code) }
console.log(STATUS_CODES[404], net.isIP('::1'), net.isIPv4('1.2.3.256'), require('worker_threads').isMainThread, require('vm').runInThisContext('1 + 1'))
for (const name of ['other', 'node:other', 'test']) await import(name).catch(e => console.log(e.message.replace(/ imported.*\.mjs/, '')))
try { require('other') } catch (e) { console.log(e.message.split('\n')[0], e.code) }
`})
	stdout, stderr, code := run(t, loopjs(t, dir, "main.mjs"))
	const unavailable = " ERR_FEATURE_UNAVAILABLE_ON_PLATFORM\n"
	want := "fs.watch: loopjs does not have it; there is fs.stat" + unavailable +
		"http.request: loopjs has no module http; there is fetch, for requests" + unavailable +
		"net.Socket: loopjs has no module net; there are functions that the program around loopjs gives to scripts" + unavailable +
		"http.createServer: loopjs has no module http; there is fetch, for requests" + unavailable +
		"worker_threads.Worker: loopjs has no module worker_threads; there is child_process" + unavailable +
		"vm.runInNewContext: loopjs has no module vm; there are eval and new Function" + unavailable +
		"Not Found 6 false true 2\nCannot find package 'other'\nNo such built-in module: node:other\nCannot find package 'test'\nCannot find module 'other' MODULE_NOT_FOUND\n"
	if stdout != want || code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}
