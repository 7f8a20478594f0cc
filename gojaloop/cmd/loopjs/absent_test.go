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

// What Node has and loopjs does not is named as such.
func TestAbsent(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{"main.mjs": `
import fs, { createReadStream, createWriteStream } from 'node:fs'
for (const f of [createReadStream, createWriteStream, fs.watch, fs.watchFile]) try { f('x') } catch (e) { console.log(e.message, e.code) }
for (const name of ['http', 'node:stream/promises', 'other', 'node:other']) await import(name).catch(e => console.log(e.message.replace(/ imported.*\.mjs/, '')))
try { require('http') } catch (e) { console.log(e.message.split('\n')[0], e.code) }
`})
	stdout, stderr, code := run(t, loopjs(t, dir, "main.mjs"))
	const want = `fs.createReadStream: loopjs has no streams of files; there is fs.open and FileHandle.read ERR_FEATURE_UNAVAILABLE_ON_PLATFORM
fs.createWriteStream: loopjs has no streams of files; there is fs.open and FileHandle.write ERR_FEATURE_UNAVAILABLE_ON_PLATFORM
fs.watch: loopjs has no watching of files; there is fs.stat ERR_FEATURE_UNAVAILABLE_ON_PLATFORM
fs.watchFile: loopjs has no watching of files; there is fs.stat ERR_FEATURE_UNAVAILABLE_ON_PLATFORM
Cannot find package 'http' (Node has it, loopjs does not)
No such built-in module: node:stream/promises (Node has it, loopjs does not)
Cannot find package 'other'
No such built-in module: node:other
Cannot find module 'http' (Node has it, loopjs does not) MODULE_NOT_FOUND
`
	if stdout != want || code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}
