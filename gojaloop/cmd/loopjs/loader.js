// Modules at run time: CommonJS, with its cache, and ES modules, which are linked and evaluated as the standard has it.
(function (go, builtin, isBuiltin) {
'use strict'
const DYNAMIC = 'loopjs:import:'
const cache = Object.create(null) // of CommonJS, by file
const records = new Map() // of what ES modules import, by file or "node:" name

class Module {
	constructor(file, parent) {
		this.id = file
		this.path = go.dirname(file)
		this.exports = {}
		this.filename = file
		this.loaded = false
		this.children = []
		this.paths = nodeModules(this.path)
		Object.defineProperty(this, 'parent', { value: parent, writable: true, configurable: true })
		if (parent) parent.children.push(this)
	}
	require(specifier) { return requireFrom(this.filename, specifier, this) }
}
Module._cache = cache
Module._extensions = { '.js': undefined, '.json': undefined, '.ts': undefined }
Module.builtinModules = go.builtins
Module.isBuiltin = name => isBuiltin(String(name))
Module.createRequire = from => {
	const file = String(from).startsWith('file:') ? builtin('url').fileURLToPath(from) : String(from)
	return requireOf(new Module(file, null))
}
Module.Module = Module

function nodeModules(dir) {
	const path = builtin('path'), out = []
	for (;;) {
		if (path.basename(dir) !== 'node_modules') out.push(path.join(dir, 'node_modules'))
		const up = path.dirname(dir)
		if (up === dir) return out
		dir = up
	}
}

function find(specifier, from, esm) {
	const r = go.resolve(specifier, from, esm)
	if (r.file !== undefined) return r.file
	const e = new Error(r.message)
	e.code = r.code
	if (r.code === 'MODULE_NOT_FOUND') e.requireStack = [from]
	throw e
}

function checked(specifier) {
	if (typeof specifier !== 'string') throw go.invalidType('id', 'string', specifier)
	if (specifier === '') {
		const e = new TypeError(`The argument 'id' must be a non-empty string. Received ''`)
		e.code = 'ERR_INVALID_ARG_VALUE'
		throw e
	}
	return specifier
}

function unknownBuiltin(name) {
	const e = new Error('No such built-in module: ' + name)
	e.code = 'ERR_UNKNOWN_BUILTIN_MODULE'
	return e
}

// CommonJS.

function requireFrom(from, specifier, parent) {
	checked(specifier)
	if (isBuiltin(specifier)) return builtin(specifier)
	if (specifier.startsWith('node:')) throw unknownBuiltin(specifier)
	return load(find(specifier, from, false), parent)
}

function requireOf(module) {
	const require = specifier => {
		if (typeof specifier === 'string' && specifier.startsWith(DYNAMIC)) return thenable(specifier.slice(DYNAMIC.length), module.filename)
		return requireFrom(module.filename, specifier, module)
	}
	require.resolve = specifier => isBuiltin(checked(specifier)) ? specifier : find(specifier, module.filename, false)
	require.resolve.paths = () => module.paths
	require.main = main
	require.cache = cache
	require.extensions = Module._extensions
	return require
}

function load(file, parent) {
	const have = cache[file]
	if (have !== undefined) {
		if (parent && !parent.children.includes(have)) parent.children.push(have)
		return have.exports
	}
	if (file.endsWith('.json')) return loadJSON(file, parent)
	const unit = go.compile(file)
	if (unit.esm) {
		const r = link(file)
		if (evaluate(r) !== undefined) {
			const e = new Error(`require() cannot be used on an ES module that awaits at its top: ${file}. Use import() instead.`)
			e.code = 'ERR_REQUIRE_ASYNC_MODULE'
			throw e
		}
		return namespace(r)
	}
	const m = new Module(file, parent)
	return run(m, unit)
}

function run(m, unit) {
	cache[m.filename] = m
	let ended = false
	try {
		go.call(unit.run, m.exports, m.exports, requireOf(m), m, m.filename, m.path)
		ended = true
	} finally {
		if (!ended) delete cache[m.filename]
	}
	m.loaded = true
	return m.exports
}

function loadJSON(file, parent) {
	const m = new Module(file, parent)
	try {
		m.exports = JSON.parse(go.read(file).replace(/^\ufeff/, ''))
	} catch (e) {
		if (e instanceof SyntaxError) e.message = file + ': ' + e.message
		throw e
	}
	m.loaded = true
	cache[file] = m
	return m.exports
}

// ES modules. A record is linked, busy (it or what it imports is being evaluated), waiting (for what awaits), done, or failed.

function linkSpecifier(specifier, from) {
	if (isBuiltin(specifier)) {
		const name = specifier.replace(/^node:/, '')
		let r = records.get('node:' + name)
		if (r === undefined) records.set('node:' + name, r = { file: 'node:' + name, state: 'done', exports: builtin(name), cjs: true })
		return r
	}
	if (specifier.startsWith('node:')) throw unknownBuiltin(specifier)
	return link(find(specifier, from, true))
}

function link(file) {
	let r = records.get(file)
	if (r !== undefined) return r
	r = { file, state: 'linked', deps: [], names: new Map(), cjs: false, strict: go.isModule(file), module: undefined }
	records.set(file, r)
	try {
		const unit = file.endsWith('.json') ? { esm: false } : go.compile(file)
		if (!unit.esm) {
			r.cjs = true
			return r
		}
		r.unit = unit
		for (const name of unit.imports) {
			if (r.names.has(name)) continue
			const dep = linkSpecifier(name, file)
			r.names.set(name, dep)
			r.deps.push(dep)
		}
	} catch (e) {
		records.delete(file)
		throw e
	}
	return r
}

function evaluate(r) {
	if (r.state === 'failed') throw r.error
	if (r.state === 'waiting') return r.promise
	if (r.state !== 'linked') return undefined
	r.state = 'busy'
	const done = () => { r.state = 'done'; r.promise = undefined }
	const failed = e => { r.state = 'failed'; r.error = e; throw e }
	try {
		if (r.cjs) r.exports = load(r.file, null)
		const waits = []
		for (const d of r.deps) {
			const p = evaluate(d)
			if (p !== undefined) waits.push(p)
		}
		let p
		if (waits.length > 0) p = Promise.all(waits).then(() => start(r))
		else p = start(r)
		if (p === undefined) return done()
		r.state = 'waiting'
		return r.promise = p.then(done, failed)
	} catch (e) {
		failed(e)
	}
}

function start(r) {
	if (r.cjs) return undefined
	const { file, unit } = r
	const m = r.module = { exports: {} }
	const get = name => {
		if (typeof name !== 'string') return undefined // what keeps the exports in an output
		if (name.startsWith(DYNAMIC)) return thenable(name.slice(DYNAMIC.length), file)
		const dep = r.names.get(name)
		return dep === undefined ? requireFrom(file, name, null) : namespace(dep, r)
	}
	const meta = {
		dirname: go.dirname(file), filename: file, url: go.toURL(file), main: r === mainRecord,
		resolve: name => isBuiltin(name) ? (name.startsWith('node:') ? name : 'node:' + name) : go.toURL(find(name, file, true)),
	}
	return go.call(unit.run, undefined, m.exports, get, m, file, meta.dirname, meta, get, m.exports)
}

// namespace is what an import of a record gets. The mark __esModule keeps the code that imports from adding a default.
function namespace(r, importer) {
	if (!r.cjs) return r.module === undefined ? forward(r) : Object.defineProperty(r.module.exports, '__esModule', { value: true })
	const babel = importer !== undefined && !importer.strict && r.exports !== null && typeof r.exports === 'object' && r.exports.__esModule
	const kept = babel ? 'babel' : 'plain'
	if (r[kept] !== undefined) return r[kept]
	const ns = Object.defineProperty({}, '__esModule', { value: true })
	const e = r.exports
	if (e !== null && (typeof e === 'object' || typeof e === 'function')) {
		for (const key of Object.keys(e)) if (key !== 'default' || babel) Object.defineProperty(ns, key, { get: () => e[key], enumerable: true })
	}
	if (!('default' in ns)) Object.defineProperty(ns, 'default', { get: () => r.exports, enumerable: true })
	return r[kept] = ns
}

// forward is for a module of a cycle that has not begun: what it exports can be named, and be used later.
function forward(r) {
	const ns = Object.defineProperty({}, '__esModule', { value: true })
	for (const name of go.exportNames(r.file)) {
		Object.defineProperty(ns, name, { enumerable: true, get() {
			if (r.module === undefined) throw new ReferenceError(`Cannot access '${name}' before initialization`)
			return r.module.exports[name]
		} })
	}
	return ns
}

const importFrom = (specifier, from) => new Promise(resolve => {
	const r = linkSpecifier(String(specifier), from)
	const p = evaluate(r)
	resolve(p === undefined ? namespace(r) : p.then(() => namespace(r)))
})

// thenable is what compiled code gets for a dynamic import: it copies the properties, and keeps the prototype.
const thenable = (specifier, from) => Object.create({ then(resolve, reject) { importFrom(specifier, from).then(resolve, reject) } })

let main, mainRecord

return {
	Module,
	// runMain runs a file as the program. It returns a promise if that is an ES module that awaits.
	runMain(file) {
		const unit = file.endsWith('.json') ? { esm: false } : go.compile(file)
		if (unit.esm) {
			mainRecord = link(file)
			return evaluate(mainRecord)
		}
		main = new Module(file, null)
		main.id = '.'
		builtin('process').mainModule = main
		if (file.endsWith('.json')) return void loadJSON(file, null)
		run(main, unit)
		return undefined
	},
	// runSource runs a source that is in no file, as a module of either kind.
	runSource(file, unit) {
		if (!unit.esm) {
			const m = new Module(file, null)
			return void go.call(unit.run, m.exports, m.exports, requireOf(m), m, file, '.')
		}
		const r = mainRecord = { file, state: 'linked', unit, deps: [], names: new Map(), cjs: false, strict: false, module: undefined }
		for (const name of unit.imports) {
			if (r.names.has(name)) continue
			const dep = linkSpecifier(name, file)
			r.names.set(name, dep)
			r.deps.push(dep)
		}
		return evaluate(r)
	},
	// globals is what a script that is no module has, in a folder.
	globals(file) {
		const m = new Module(file, null)
		m.filename = file
		return { module: m, exports: m.exports, require: requireOf(m) }
	},
	importFrom,
}
})
