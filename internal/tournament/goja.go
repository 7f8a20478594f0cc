// The outside reference for promises: programs in JavaScript on goja's loop.

package tournament

import (
	"errors"
	"testing"

	"github.com/dop251/goja"

	"github.com/turnloop/turnloop/internal/gojabaseline"
)

// programs do in JavaScript what the benchmarks of the same names do in Go. Each is a function with two parameters: how many
// operations to do, and how many of them make a round. At the end it calls done or fail.
var programs = map[string]string{
	"then": inRounds + `(n, next) => {
		let resolve, p = new Promise(r => { resolve = r });
		for (let i = 1; i < n; i++) p = p.then(link);
		p.then(v => v === n - 1 ? next() : fail("wrong value"));
		resolve(0);
	})`,
	"fanout": inRounds + `(n, next) => {
		let resolve, p = new Promise(r => { resolve = r });
		const arrived = arrivals(n, next);
		const handler = v => v === 1 ? arrived() : fail("wrong value");
		for (let i = 0; i < n; i++) p.then(handler);
		resolve(1);
	})`,
	"all": inRounds + `combine((ps, next) => {
		Promise.all(ps).then(v =>
			v.length === ps.length && v[0] === 0 && v[ps.length - 1] === ps.length - 1 ? next() : fail("wrong values"));
	}))`,
	"race": inRounds + `combine((ps, next) => {
		Promise.race(ps).then(v => v === ps.length - 1 ? next() : fail("wrong value"));
	}))`,
	"promisify": `(left, size) => {
		let n = 0;
		const received = v => {
			if (v !== ++n) fail("wrong value");
			else if (n === left) done();
			else again();
		};
		const again = () => { promisify().then(received) };
		again();
	}`,
	"timeout": inRounds + `(n, next) => {
		const fires = arrivals((n + 1) >> 1, next), cleared = () => fail("a timeout fires that was cleared"), ids = [];
		for (let i = 0; i < n; i++) ids.push(setTimeout(i % 2 ? cleared : fires, (i >> 1) % 2));
		for (let i = 1; i < n; i += 2) clearTimeout(ids[i]);
	})`,
}

// inRounds begins a program that works in rounds.
const inRounds = `
const link = v => v + 1;
const arrivals = (n, next) => () => {
	if (--n === 0) next();
	else if (n < 0) fail("a callback ran twice");
};
const combine = wait => (n, next) => {
	const ps = [], resolves = [];
	for (let i = 0; i < n; i++) ps.push(new Promise(r => { resolves.push(r) }));
	wait(ps, next);
	for (let i = n - 1; i >= 0; i--) resolves[i](i);
};
const rounds = round => (left, size) => {
	const next = () => {
		if (left === 0) return done();
		const n = Math.min(left, size);
		left -= n;
		round(n, next);
	};
	next();
};
rounds(`

// runProgram runs a program on the control's loop, in rounds of size operations.
func runProgram(b *testing.B, size int, program string) {
	b.ReportAllocs()
	r := start(b, Goja())
	loop, ok := r.EventLoop.(*gojabaseline.Loop)
	if !ok {
		b.Fatalf("%T runs no JavaScript", r.EventLoop)
	}
	var run goja.Callable
	r.onRuntime(loop, func(vm *goja.Runtime) error {
		for name, global := range map[string]any{
			"done": r.done, "fail": func(why string) { r.fail(errors.New(why)) }, "promisify": promisifier(r, loop, vm),
		} {
			if err := vm.Set(name, global); err != nil {
				return err
			}
		}
		value, err := vm.RunString(program)
		if err != nil {
			return err
		}
		if run, ok = goja.AssertFunction(value); !ok {
			return errors.New("the program is no function")
		}
		r.done()
		return nil
	})
	r.wait()
	b.ResetTimer()
	r.onRuntime(loop, func(vm *goja.Runtime) error {
		_, err := run(goja.Undefined(), vm.ToValue(b.N), vm.ToValue(size))
		return err
	})
	r.wait()
}

// onRuntime runs fn, which says done in the end or what fails.
func (r *bench) onRuntime(loop *gojabaseline.Loop, fn func(*goja.Runtime) error) {
	if err := loop.SubmitJS(func(vm *goja.Runtime) { r.onLoop(fn(vm)) }); err != nil {
		r.b.Helper()
		r.b.Fatal(err)
	}
}

// promisifier returns a function that counts its calls on another goroutine, and returns a promise of the count.
func promisifier(r *bench, loop *gojabaseline.Loop, vm *goja.Runtime) func() *goja.Promise {
	calls := 0
	fn := func() int {
		calls++
		return calls
	}
	return func() *goja.Promise {
		p, resolve, _ := vm.NewPromise()
		go func() {
			v := fn()
			if err := loop.SubmitJS(func(*goja.Runtime) { r.onLoop(resolve(v)) }); err != nil {
				r.fail(err)
			}
		}()
		return p
	}
}
