// Package modules gives the scripts of a host modules: CommonJS, ES modules, TypeScript, JSX and JSON, found by Node's rules of
// names, folders and packages; and with [WithNode] the modules of Node that are not files.
//
//	host, _ := gojaloop.New(loop)
//	program, _ := modules.New(host, modules.WithNode())
//	err := program.Run(ctx, "main.ts")
//
// What goja cannot read passes through esbuild, one file at a time; types are not checked. Positions in errors are those of the
// source. docs/loopjs.md lists what there is and what differs from Node. It is a module of its own, since esbuild is as large as
// goja.
package modules
