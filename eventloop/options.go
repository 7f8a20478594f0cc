package eventloop

// Options of New: their zero values, ranges and cost.

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/fdset"
	"github.com/turnloop/turnloop/internal/loopapi"
)

const (
	defaultTickBudget      = 1024
	defaultMicrotaskBudget = 1024

	// internalBudget is how many internal tasks a tick runs at most. Internal work is meant to be finite, so this many in
	// a row is taken to be a runaway.
	internalBudget = 100_000
)

// Option configures a loop; see the With functions. One that names no cost has none.
type Option func(*config) error

// config is what the options decide. New fixes it.
type config struct {
	id              uint64
	logger          *slog.Logger
	autoExit        bool
	queueLimit      int
	tickBudget      int
	microtaskBudget int
	onOverload      func(error)
	onPanic         func(*PanicError)
	onUnhandled     func(*Promise, error)
	promiseDebug    bool
	workerLimit     int
	debug           bool
	events          int
	metrics         bool
	stallThreshold  time.Duration
	onStall         func(Stall)
	sampling        int

	fastPath         FastPathMode
	strictMicrotasks bool
	newPoller        func() (fdset.Poller, error) // replaced by tests only
}

var loopIDs atomic.Uint64

func newConfig(opts []Option) (config, error) {
	c := config{
		id:              loopIDs.Add(1),
		tickBudget:      defaultTickBudget,
		microtaskBudget: defaultMicrotaskBudget,
		newPoller:       fdset.Open,
	}
	for i, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("eventloop: option %d is nil", i)
		}
		if err := opt(&c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// within sets what an option decides to n, or returns an error if n is not from least to most.
func within(option string, n, least, most int, set *int) error {
	switch *set = n; {
	case n >= least && n <= most:
		return nil
	case most < math.MaxInt:
		return fmt.Errorf("eventloop: %s(%d): not from %d to %d", option, n, least, most)
	case least == 0:
		return fmt.Errorf("eventloop: %s(%d): negative", option, n)
	}
	return fmt.Errorf("eventloop: %s(%d): not positive", option, n)
}

// callable returns the error of an option whose function is nil.
func callable(option string, isNil bool) error {
	if isNil {
		return loopapi.Wrap(ErrNilCallback, "%s", option)
	}
	return nil
}

// WithLogger sets the logger for faults that no handler takes. The default is slog.Default at the time of logging.
// Records carry the loop's id as "loop". It must not be nil.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if c.logger = logger; logger == nil {
			return errors.New("eventloop: WithLogger: nil logger")
		}
		return nil
	}
}

// WithAutoExit makes Run return nil when nothing can happen any more: there is no queued work, no ref'd timer, no descriptor
// and no hold, and each function of Promisify has returned, or its context has ended. The default is to sleep until there is
// work. The loop decides this when it would sleep, so it costs submitters nothing. The end is that of
// [Loop.Shutdown]: pending promises do not keep the loop alive; they are rejected, and their handlers run.
func WithAutoExit(on bool) Option {
	return func(c *config) error {
		c.autoExit = on
		return nil
	}
}

// WithQueueLimit bounds the external tasks that wait: at n, Submit returns ErrLoopOverloaded. 0, the default, is no
// limit. A limit costs one atomic addition per task on each side; a refusal lets other goroutines run.
func WithQueueLimit(n int) Option {
	return func(c *config) error { return within("WithQueueLimit", n, 0, math.MaxInt, &c.queueLimit) }
}

// WithTickBudget sets how many external tasks a tick runs at most, before it goes on to I/O and timers. It also goes on
// when tasks have taken about two milliseconds. The default is 1024; it must be positive.
func WithTickBudget(n int) Option {
	return func(c *config) error { return within("WithTickBudget", n, 1, math.MaxInt, &c.tickBudget) }
}

// WithMicrotaskBudget sets how many microtasks run in one checkpoint before the rest waits for the next tick, or until 128
// callbacks have run. The default is 1024; it must be positive. A checkpoint has no bound of time, so that the order of callbacks
// does not depend on how fast they are: with slow microtasks a smaller budget keeps timers and descriptors from waiting.
func WithMicrotaskBudget(n int) Option {
	return func(c *config) error { return within("WithMicrotaskBudget", n, 1, math.MaxInt, &c.microtaskBudget) }
}

// WithOnOverload sets a function that the loop calls, as a callback of its own, once per episode of overload. It gets
// ErrLoopOverloaded when a tick's budget is spent and external tasks remain; ErrMicrotaskBudget when microtasks that
// the loop itself has scheduled spend a checkpoint's budget; and an error that wraps ErrLoopOverloaded when internal
// work does not come to an end. An episode is over when the queue has been empty. By default the first of
// these errors is ignored, and the other two are logged. f must not be nil.
func WithOnOverload(f func(error)) Option {
	return func(c *config) error {
		c.onOverload = f
		return callable("WithOnOverload", f == nil)
	}
}

// WithPanicHandler sets a function that the loop calls, as a callback of its own, for each callback that panicked or
// called runtime.Goexit, before the next callback runs. By default these are logged. A
// *PanicError that a callback panics with is reported as it is. It must not be nil.
func WithPanicHandler(f func(*PanicError)) Option {
	return func(c *config) error {
		c.onPanic = f
		return callable("WithPanicHandler", f == nil)
	}
}

// WithUnhandledRejection sets a function that the loop calls once for each rejected promise that has no handler at the end of the
// microtask checkpoint. Functions that it queues run when all these promises are reported, as in Node. Promises that an ending
// loop refuses, with ErrLoopTerminated, are not reported. By default rejections are logged. It must not be nil.
func WithUnhandledRejection(f func(*Promise, error)) Option {
	return func(c *config) error {
		c.onUnhandled = f
		return callable("WithUnhandledRejection", f == nil)
	}
}

// WithPromiseDebug records where each promise is created, and the promise that it was derived from. The report of an unhandled
// rejection, and a promise's String, show the last sixteen of these places. It costs a stack trace for each promise.
func WithPromiseDebug(on bool) Option {
	return func(c *config) error {
		c.promiseDebug = on
		return nil
	}
}

// WithDebug records where promises, tasks, timers, microtasks, registrations, holds and calls of Promisify are created,
// for [Loop.Active], the error of Shutdown, the report of a stall and that of an unhandled rejection; it includes
// [WithPromiseDebug]. The place of a promise's handler is where the promise was derived. It costs a stack trace, and memory,
// for each of them, two readings of the clock for each callback, and the 30 KiB of [WithMetrics].
func WithDebug(on bool) Option {
	return func(c *config) error {
		c.debug, c.promiseDebug = on, on || c.promiseDebug
		return nil
	}
}

// WithWorkerLimit bounds how many functions given to Promisify and Work run at once; more wait, in order, or until
// [Loop.RefuseWork]. 0, the default, is no limit. A limit costs a mutex, which each function takes twice.
func WithWorkerLimit(n int) Option {
	return func(c *config) error { return within("WithWorkerLimit", n, 0, math.MaxInt, &c.workerLimit) }
}

// WithMetrics turns on what [Loop.Metrics] measures. The default is off, which costs nothing. It takes some 30 KiB,
// which it shares with WithStallThreshold, WithFlightRecorder and WithDebug; on the loop a reading of the clock for each
// callback and a few nanoseconds; elsewhere a reading for each Submit and SubmitInternal, unless they come in a flood.
// See [WithMetricsSampling] for less.
func WithMetrics(on bool) Option {
	return func(c *config) error {
		c.metrics = on
		return nil
	}
}

// WithMetricsSampling times one in n callbacks, and notes the acceptance of one in n functions; all callbacks are
// counted all the same. The default is 1: all. n must be from 1 to 2^20. It has no effect without WithMetrics.
func WithMetricsSampling(n int) Option {
	return func(c *config) error { return within("WithMetricsSampling", n, 1, 1<<20, &c.sampling) }
}

// WithFastPathMode sets where the loop parks; see [Loop.SetFastPathMode]. The default is FastPathAuto. With
// FastPathDisabled New makes a poller, which the loop holds until it has ended: close a loop that is not going to run,
// or the poller stays until the garbage collector finds the loop.
func WithFastPathMode(mode FastPathMode) Option {
	return func(c *config) error {
		c.fastPath = mode // checked by New
		return nil
	}
}

// WithStrictMicrotaskOrdering runs microtasks after each callback of a descriptor. The default is after a batch of at
// most 64, which costs less.
func WithStrictMicrotaskOrdering(on bool) Option {
	return func(c *config) error {
		c.strictMicrotasks = on
		return nil
	}
}

func (c *config) log() *slog.Logger {
	logger := c.logger
	if logger == nil {
		logger = slog.Default()
	}
	return logger.With("loop", c.id)
}
