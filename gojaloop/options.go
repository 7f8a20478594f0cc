package gojaloop

// Options of a host.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/require"
)

// Option configures a host; see the With functions. One that names no cost has none.
type Option func(*Host) error

// given is the option that set sets, or an error if its value is not valid.
func given(valid bool, wrong string, set func(*Host)) Option {
	return func(h *Host) error {
		if !valid {
			return errors.New("gojaloop: " + wrong)
		}
		set(h)
		return nil
	}
}

// WithRuntime gives the host a runtime instead of a new one. The host then owns it: use the runtime on the loop only.
// Its promise rejection tracker and call stack limit are the host's. It must not be nil.
func WithRuntime(vm *goja.Runtime) Option {
	return given(vm != nil, "WithRuntime: nil runtime", func(h *Host) { h.vm = vm })
}

// WithMaxCallStack sets how many calls may be nested, 5000 by default. A deeper call is an uncaught exception: goja
// does not let scripts catch it. The time that goja takes to unwind grows with the square of the nested calls through
// its own functions, such as forEach. It must be positive.
func WithMaxCallStack(n int) Option {
	return given(n > 0, fmt.Sprintf("WithMaxCallStack(%d): not positive", n), func(h *Host) { h.maxCallStack = n })
}

// WithCallbackLimit ends each callback of a script that has taken d, with the nextTick functions and promise jobs behind it; it may
// take a quarter longer, and a millisecond. Scripts cannot catch that. Do returns [ErrCallbackLimit]; elsewhere it is an uncaught
// exception of which only the function of [WithUncaughtException] hears. The host goes on, but promise jobs that were ready are
// lost; if the callback was in an async function or a generator, goja cannot go on: the host has ended, and the error wraps
// [ErrBroken] too. By default callbacks have no limit. d must be positive, and is time of the machine's clock.
func WithCallbackLimit(d time.Duration) Option {
	return given(d > 0, fmt.Sprintf("WithCallbackLimit(%v): not positive", d), func(h *Host) { h.guard.limit = d })
}

// WithoutGlobals leaves out the globals of these names. New returns an error for a name that is not one of the host's globals.
func WithoutGlobals(names ...string) Option {
	return func(h *Host) error { return h.globals.without(names) }
}

// WithSandbox leaves out fetch and require, the globals that reach beyond the program. Of process, the environment,
// the arguments, paths, process numbers and memory figures are empty or zero, the working directory is "/", and
// signals do not arrive. Output is still written, see [WithOutput]; time and random numbers stay.
func WithSandbox() Option {
	return func(h *Host) error {
		h.sandbox = true
		return h.globals.without(outward)
	}
}

// WithOutput sets the writers for output (console.log, process.stdout) and for errors (console.error, process.stderr): os.Stdout
// and os.Stderr by default. They are called on the loop, which waits for them. They must not be nil.
func WithOutput(stdout, stderr io.Writer) Option {
	return given(stdout != nil && stderr != nil, "WithOutput: nil writer", func(h *Host) { h.stdout, h.stderr = stdout, stderr })
}

// WithHTTPClient sets the client of fetch, http.DefaultClient by default. fetch uses a copy of it with a
// CheckRedirect of its own. It must not be nil.
func WithHTTPClient(c *http.Client) Option {
	return given(c != nil, "WithHTTPClient: nil client", func(h *Host) { h.client = c })
}

// WithRegistry sets the registry in which require finds modules. By default it finds files, as goja_nodejs/require
// does. It must not be nil.
func WithRegistry(r *require.Registry) Option {
	return given(r != nil, "WithRegistry: nil registry", func(h *Host) { h.registry = r })
}

// WithHTMLTimers makes timers those of the HTML standard: setTimeout and setInterval return numbers; a delay may be
// 0, and wraps beyond 2^31-1; timers that nest deeper than five levels wait at least 4 ms. A callback must still be a
// function, not source text. By default timers are Node's.
func WithHTMLTimers() Option {
	return given(true, "", func(h *Host) { h.timers.html = true })
}

// WithZeroDelays lets a timeout of less than a millisecond have no delay, as in goja_nodejs. In Node, and by default, such a
// delay is one millisecond; an interval's always is. New returns an error beside [WithHTMLTimers], which has zero delays already.
func WithZeroDelays() Option {
	return given(true, "", func(h *Host) { h.timers.zero = true })
}

// WithUncaughtException sets a function for uncaught exceptions that have no listener of
// process.on('uncaughtException'). It is called on the loop; afterwards the host goes on. By default such an
// exception ends the host. It must not be nil. A panic of the function ends the host.
func WithUncaughtException(f func(err *Error)) Option {
	return given(f != nil, "WithUncaughtException: nil function", func(h *Host) { h.onUncaught = f })
}

// WithUnhandledRejection sets a function for promises that are still rejected without a handler at the end of the checkpoint, and
// that have no listener of process.on('unhandledRejection'). It is called on the loop; afterwards the host goes on. By default
// such a rejection counts as an uncaught exception. It must not be nil. A panic of the function ends the host.
func WithUnhandledRejection(f func(p *goja.Promise, err *Error)) Option {
	return given(f != nil, "WithUnhandledRejection: nil function", func(h *Host) { h.onUnhandled = f })
}
