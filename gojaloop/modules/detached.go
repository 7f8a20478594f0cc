package modules

// Work that nothing waits for: reads of inputs that others write to, and the ends of children. The end of a program does not
// wait for it, and it keeps the program alive only while scripts want it.

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/dop251/goja"
)

// begin starts an operation by its name, and returns a handle with ref, unref and cancel. It calls the script's function, the
// second argument, with the outcome, whose value is null if the operation was cancelled.
func (p *Program) begin(call goja.FunctionCall) goja.Value {
	name := call.Argument(0).String()
	callback, ok := goja.AssertFunction(p.host.Bound(call.Argument(1)))
	if !ok {
		panic(p.newError("TypeError", "begin: no function"))
	}
	args := p.exported(goja.FunctionCall{Arguments: call.Arguments[1:]})
	ctx, cancel := context.WithCancel(context.Background())
	over := false
	var release func()
	hold := func() {
		if release == nil && !over {
			release = p.host.Hold()
		}
	}
	unhold := func() {
		if release != nil {
			release()
			release = nil
		}
	}
	done := p.trace(workName(name, args))
	finish := func(v any, f *failure) {
		over = true
		cancel()
		done()
		if _, err := callback(goja.Undefined(), p.outcome(v, f)); err != nil {
			panic(err)
		}
		unhold()
	}
	operation := func() (any, *failure) {
		if d, ok := detached[name]; ok {
			v, err := d.run(ctx, args)
			return v, asFailure(err, d.syscall, nil)
		}
		return operate(name, args)
	}
	hold()
	if p.host.Scheduled() {
		p.later(operation, func(v any, f *failure) goja.Value { finish(v, f); return nil })
	} else {
		go func() {
			v, f := operation()
			_ = p.host.Submit(func(*goja.Runtime) { finish(v, f) })
		}()
	}
	o := p.vm.NewObject()
	for name, f := range map[string]func(){"ref": hold, "unref": unhold, "cancel": func() { cancel(); unhold() }} {
		_ = o.Set(name, p.host.Func(func(goja.FunctionCall) goja.Value { f(); return nil }))
	}
	return o
}

// detached are the operations that can be cancelled, by name, with the system's name of the call. A cancelled one returns nil.
var detached = map[string]struct {
	syscall string
	run     func(ctx context.Context, a arguments) (any, error)
}{
	"input": {"read", readInput},
	"wait":  {"wait", waitForChild},
}

func workName(name string, a arguments) string {
	switch {
	case name == "input" && a.number(0) == 0:
		return "reading the standard input"
	case name == "input":
		return "reading a pipe"
	case name == "wait":
		return "a child process"
	}
	return "file: " + name + " " + a.text(0)
}

// readInput reads the next bytes of an opened file, none at its end.
func readInput(ctx context.Context, a arguments) (any, error) {
	fd := int(a.number(0))
	file, ok := opened.Load(fd)
	if !ok {
		return nil, badDescriptor("read")
	}
	f := file.(*os.File)
	b := make([]byte, 64<<10)
	for {
		if ready, err := awaitInput(ctx, f); err != nil || !ready {
			return nil, err
		}
		n, err := f.Read(b)
		switch {
		case n > 0:
			return b[:n], nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = f.SetReadDeadline(time.Time{})
			if ctx.Err() != nil {
				return nil, nil
			}
		case isAgain(err): // another process has read what was there
		default:
			return b[:0], atEnd(err)
		}
	}
}

// interruptReads has a read of a file that the runtime polls end when ctx does, until stop is called.
func interruptReads(ctx context.Context, f *os.File) {
	if f.SetReadDeadline(time.Time{}) == nil {
		context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	}
}
