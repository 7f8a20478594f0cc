package main

// The context of asynchronous work, for node:async_hooks: promise jobs inherit it from the work that made them.

import "github.com/dop251/goja"

// follower is a goja.AsyncContextTracker. Used on the loop alone.
type follower struct {
	current goja.Value // undefined, or the stores of the work that runs
	outer   []goja.Value
}

func (f *follower) Grab() any { return f.current }

func (f *follower) Resumed(context any) {
	f.outer = append(f.outer, f.current)
	f.current, _ = context.(goja.Value)
}

func (f *follower) Exited() {
	last := len(f.outer) - 1
	f.current, f.outer = f.outer[last], f.outer[:last]
}

// follow begins to follow work, and returns a function that returns the context; with an argument, it sets it.
func (p *program) follow(goja.FunctionCall) goja.Value {
	f := &follower{}
	p.vm.SetAsyncContextTracker(f)
	return p.host.Func(func(call goja.FunctionCall) goja.Value {
		if len(call.Arguments) > 0 {
			f.current = call.Argument(0)
		}
		return f.current
	})
}
