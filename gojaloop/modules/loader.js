// Modules at run time: CommonJS, with its cache, and ES modules, which are linked and evaluated as the standard has it.
(function (go, builtin, isBuiltin) {
'use strict'
const cache = Object.create(null) // CommonJS modules, by file
const records = new Map() // modules that ES modules import, by file with the query and fragment, or by the URL (node: and data:)

class Module {
	constructor(file, parent) {
		this.id = file
		this.path = go.dirname(file)
		this.exports = {}
		this.filename = file
		this.loaded = false
		this.children = []
		this.paths = [...go.folders(this.path)]
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

function find(specifier, from, esm) {
	if (isData(from) && !specifier.startsWith('file:')) {
		throw coded(new TypeError(`Failed to resolve module specifier "${specifier}" from "${from}": Invalid relative URL or base scheme is not hierarchical.`), 'ERR_UNSUPPORTED_RESOLVE_REQUEST')
	}
	const r = go.resolve(specifier, from, esm)
	if (r.file !== undefined) return r.file
	const { code, message } = r
	const e = new Error(esm && /^ERR_PACKAGE_PATH|^ERR_MODULE_NOT/.test(code) && !message.includes(' imported from ') ? `${message} imported from ${from}` : message)
	e.code = !esm && code === 'ERR_MODULE_NOT_FOUND' ? 'MODULE_NOT_FOUND' : code
	if (code === 'MODULE_NOT_FOUND') e.requireStack = [from]
	throw e
}

function checked(specifier) {
	if (typeof specifier !== 'string') throw go.invalidType('id', 'string', specifier)
	if (specifier === '') throw coded(new TypeError(`The argument 'id' must be a non-empty string. Received ''`), 'ERR_INVALID_ARG_VALUE')
	return specifier
}

const coded = (e, code) => Object.assign(e, { code })
const unknownBuiltin = name => coded(new Error(`No such built-in module: ${name}${go.node ? '' : '; WithNode of package modules adds them'}`), 'ERR_UNKNOWN_BUILTIN_MODULE')

// CommonJS.

function requireFrom(from, specifier, parent) {
	checked(specifier)
	if (isBuiltin(specifier)) return builtin(specifier)
	if (specifier.startsWith('node:')) throw unknownBuiltin(specifier)
	return load(find(specifier, from, false), parent)
}

function requireOf(module) {
	const require = specifier => requireFrom(module.filename, specifier, module)
	require.resolve = specifier => isBuiltin(checked(specifier)) ? specifier : find(specifier, module.filename, false)
	require.resolve.paths = () => module.paths
	require.main = main
	require.extensions = Module._extensions
	require.cache = cache
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
			throw coded(new Error(`require() cannot be used on an ES module that awaits at its top: ${file}. Use import() instead.`), 'ERR_REQUIRE_ASYNC_MODULE')
		}
		return namespace(r)
	}
	const m = new Module(file, parent)
	return run(m, unit)
}

// call runs the code of a CommonJS module.
function call(m, unit, dir) {
	const dynamic = dynamicOf(m.filename)
	go.call(unit.run, m.exports, m.exports, requireOf(m), m, m.filename, dir, ...(unit.dynamic ? [undefined, undefined, undefined, dynamic, dynamic] : []))
}

function run(m, unit) {
	cache[m.filename] = m
	let ended = false
	try {
		call(m, unit, m.path)
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

// ES modules. A record is linked, busy (the module or one of its imports is being evaluated), waiting (for a module that awaits), done, or failed.

function linkSpecifier(specifier, from) {
	if (isBuiltin(specifier)) {
		const name = specifier.replace(/^node:/, '')
		let r = records.get('node:' + name)
		if (r === undefined) records.set('node:' + name, r = { file: 'node:' + name, state: 'done', exports: builtin(name), cjs: true })
		return r
	}
	if (specifier.startsWith('node:')) throw unknownBuiltin(specifier)
	if (isData(specifier)) return link(specifier)
	return link(find(specifier, from, true), (/^(?:\.|\/|file:)[^?#]*([^]*)/.exec(specifier) || [])[1])
}

const isData = name => name.startsWith('data:')

function link(file, rest = '') {
	let r = records.get(file + rest)
	if (r !== undefined) return r
	r = { file, url: isData(file) ? file : go.toURL(file) + rest, state: 'linked', deps: [], names: new Map(), cjs: false, strict: go.isModule(file), module: undefined }
	records.set(file + rest, r)
	try {
		const unit = file.endsWith('.json') && !isData(file) ? { esm: false } : go.compile(file)
		if (!unit.esm) {
			r.cjs = true
			return r
		}
		linkImports(r, unit)
	} catch (e) {
		records.delete(file + rest)
		throw e
	}
	return r
}

function linkImports(r, unit) {
	r.unit = unit
	for (const name of unit.imports) {
		if (r.names.has(name)) continue
		const dep = linkSpecifier(name, r.file)
		r.names.set(name, dep)
		r.deps.push(dep)
	}
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
	for (const [specifier, names] of Object.entries(unit.names)) checkNames(r, specifier, names)
	const m = r.module = { exports: {} }
	const get = name => {
		if (typeof name !== 'string') return undefined // a call with the exports, which keeps them in esbuild's output
		const dep = r.names.get(name)
		return dep === undefined ? requireFrom(file, name, null) : namespace(dep, r)
	}
	const meta = {
		...(isData(file) ? {} : { dirname: go.dirname(file), filename: file }), url: r.url, main: r === mainRecord,
		resolve(name) {
			if (isBuiltin(name)) return name.startsWith('node:') ? name : 'node:' + name
			if (/^(\.{1,2}|)\/|^file:/.test(name)) return new URL(name, r.url).href // the file need not exist
			return go.toURL(find(name, file, true))
		},
	}
	const dynamic = dynamicOf(file)
	return go.call(unit.run, undefined, m.exports, get, m, file, meta.dirname, meta, get, m.exports, dynamic, dynamic)
}

// checkNames throws if a module imports a name that an evaluated module does not export.
function checkNames(r, specifier, names) {
	const dep = r.names.get(specifier)
	if (dep === undefined || dep.state !== 'done') return
	const has = dep.cjs ? namespace(dep, r) : dep.module.exports
	for (const name of names) {
		if (name in has || dep.cjs && dep.exports !== null && dep.exports !== undefined && name in Object(dep.exports)) continue
		throw go.missingExport(r.file, specifier, name, !dep.cjs || isBuiltin(specifier) ? `The requested module '${specifier}' does not provide an export named '${name}'`
			: `Named export '${name}' not found. The requested module '${specifier}' is a CommonJS module, which may not support all module.exports as named exports.\n`
			+ `CommonJS modules can always be imported via the default export, for example using:\n\nimport pkg from '${specifier}';\nconst { ${name} } = pkg;\n`)
	}
}

// The importing code copies a namespace's properties, but keeps the prototype.
const ofNamespaces = Object.create(null, { [Symbol.toStringTag]: { value: 'Module' } })
const asNamespace = o => Object.setPrototypeOf(Object.defineProperty(o, '__esModule', { value: true }), ofNamespaces)

// namespace returns the object that an import of a record gets. Its mark __esModule keeps the importing code from adding a default.
function namespace(r, importer) {
	if (!r.cjs) return r.module === undefined ? forward(r) : asNamespace(r.module.exports)
	const babel = importer !== undefined && !importer.strict && r.exports !== null && typeof r.exports === 'object' && r.exports.__esModule
	const kept = babel ? 'babel' : 'plain'
	if (r[kept] !== undefined) return r[kept]
	const ns = asNamespace({})
	const e = r.exports
	const own = e !== null && (typeof e === 'object' || typeof e === 'function') ? Object.keys(e) : [], ofCode = babel && own.includes('default')
	for (const key of [...new Set([...own, 'default'])].sort()) {
		if (key !== '__esModule') Object.defineProperty(ns, key, { get: key !== 'default' || ofCode ? () => e[key] : () => r.exports, enumerable: true })
	}
	return r[kept] = ns
}

// forward returns the namespace of a module in a cycle that has not begun: its exports have names now, and values later.
function forward(r) {
	const ns = asNamespace({})
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

// thenable returns the object that compiled code gets for a dynamic import. That code copies the properties, and keeps the prototype.
const thenable = (specifier, from) => Object.create({ then(resolve, reject) { importFrom(specifier, from).then(resolve, reject) } })

// dynamicOf returns the function import for the code of a file.
const dynamicOf = file => specifier => thenable(specifier, file)

// evaluateMain evaluates a main module in a promise job, as Node does: its promise jobs run before nextTick functions.
const evaluateMain = r => Promise.resolve().then(() => evaluate(r))

let main, mainRecord

return {
	Module,
	// runMain runs a file as the program. It returns a promise if the file is an ES module.
	runMain(file) {
		const unit = file.endsWith('.json') ? { esm: false } : go.compile(file)
		if (unit.esm) {
			mainRecord = link(file)
			return evaluateMain(mainRecord)
		}
		main = new Module(file, null)
		main.id = '.'
		process.mainModule = main
		if (file.endsWith('.json')) return void loadJSON(file, null)
		run(main, unit)
		return undefined
	},
	// runSource runs a source that is in no file, as a module of either kind.
	runSource(file, unit) {
		if (!unit.esm) {
			const m = new Module(file, null)
			return void call(m, unit, '.')
		}
		const r = mainRecord = { file, url: go.toURL(file), state: 'linked', deps: [], names: new Map(), cjs: false, strict: false, module: undefined }
		linkImports(r, unit)
		return evaluateMain(r)
	},
	// globals returns the variables of a script that is no module; file is a name in its folder.
	globals(file) {
		const m = new Module(file, null)
		m.filename = file
		return { module: m, exports: m.exports, require: requireOf(m) }
	},
	importFrom,
}
})
