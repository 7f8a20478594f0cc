package gojaloop

// Options of a host.

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/require"
)

// Option configures a host; see the With functions.
type Option func(*Host) error

// WithRuntime takes a runtime instead of making one. The host then owns it: nobody else may use it any more but on the
// loop, and its promise rejection tracker and limit of the call stack are the host's. It must not be nil.
func WithRuntime(vm *goja.Runtime) Option {
	return func(h *Host) error {
		if vm == nil {
			return errors.New("gojaloop: WithRuntime: nil runtime")
		}
		h.vm = vm
		return nil
	}
}

// WithMaxCallStack sets how many calls may be nested, 5000 by default. A script that nests more is ended: goja does not
// let it catch that. How long this takes grows with the square of the calls that go through functions of goja's own, as
// of forEach. It must be positive.
func WithMaxCallStack(n int) Option {
	return func(h *Host) error {
		if n <= 0 {
			return fmt.Errorf("gojaloop: WithMaxCallStack(%d): not positive", n)
		}
		h.maxCallStack = n
		return nil
	}
}

// WithoutGlobals leaves out globals by their names. It returns an error for a name that is none of the host's.
func WithoutGlobals(names ...string) Option {
	return func(h *Host) error { return h.globals.without(names) }
}

// WithSandbox leaves out what reaches beyond the program: fetch and require; and of process the environment, arguments, numbers, folder,
// memory and signals, which are then empty or zero. What scripts print is printed, see [WithOutput]; time and random numbers are there.
func WithSandbox() Option {
	return func(h *Host) error {
		h.sandbox = true
		return h.globals.without(outward)
	}
}

// WithOutput sets where console and process.stdout, and what writes errors there, write to: os.Stdout and os.Stderr by default. The
// writers are used on the loop. They must not be nil.
func WithOutput(stdout, stderr io.Writer) Option {
	return func(h *Host) error {
		if stdout == nil || stderr == nil {
			return errors.New("gojaloop: WithOutput: nil writer")
		}
		h.stdout, h.stderr = stdout, stderr
		return nil
	}
}

// WithHTTPClient sets the client that fetch uses, http.DefaultClient by default; its CheckRedirect is fetch's. It must not be nil.
func WithHTTPClient(c *http.Client) Option {
	return func(h *Host) error {
		if c == nil {
			return errors.New("gojaloop: WithHTTPClient: nil client")
		}
		h.client = c
		return nil
	}
}

// WithRegistry sets where require finds modules; by default in files, as goja_nodejs/require does. It must not be nil.
func WithRegistry(r *require.Registry) Option {
	return func(h *Host) error {
		if r == nil {
			return errors.New("gojaloop: WithRegistry: nil registry")
		}
		h.registry = r
		return nil
	}
}

// WithHTMLTimers makes timers those of the HTML standard: setTimeout and setInterval return numbers; a delay may be 0,
// and wraps beyond 2^31-1; timers that nest deeper than five levels wait at least 4 ms. Source text in place of a function
// is not taken. By default timers are Node's.
func WithHTMLTimers() Option {
	return func(h *Host) error {
		h.timers.html = true
		return nil
	}
}

// WithZeroDelays lets a timeout of less than a millisecond have no delay, as goja_nodejs does. In Node, and by default,
// it is one millisecond. An interval still waits for one.
func WithZeroDelays() Option {
	return func(h *Host) error {
		h.timers.zero = true
		return nil
	}
}

// WithUncaughtException sets a function that is called on the loop for each exception that nobody has caught, and that
// no listener of process.on('uncaughtException') has taken; the program then goes on. By default it ends. It must not be
// nil. What it panics with ends the program.
func WithUncaughtException(f func(err *Error)) Option {
	return func(h *Host) error {
		if f == nil {
			return errors.New("gojaloop: WithUncaughtException: nil function")
		}
		h.onUncaught = f
		return nil
	}
}

// WithUnhandledRejection sets a function that is called on the loop for each promise whose rejection nobody has handled
// by the end of the checkpoint, and that no listener of process.on('unhandledRejection') has taken. By default such a
// rejection counts as an uncaught exception. It must not be nil. What it panics with ends the program.
func WithUnhandledRejection(f func(p *goja.Promise, err *Error)) Option {
	return func(h *Host) error {
		if f == nil {
			return errors.New("gojaloop: WithUnhandledRejection: nil function")
		}
		h.onUnhandled = f
		return nil
	}
}
