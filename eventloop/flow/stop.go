package flow

// A graceful end within a bound of time.

import (
	"context"
	"log/slog"
	"os/signal"
	"reflect"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/goroutine"
)

// Stopper is what StopGracefully stops: an eventloop.Loop, or an eventloop.Group.
type Stopper interface {
	RefuseWork()
	Shutdown(ctx context.Context) error
	Close() error
	Done() <-chan struct{}
}

// Runner is what RunUntil runs: an eventloop.Loop, or an eventloop.Group. Run watches its context by context.AfterFunc.
type Runner interface {
	Stopper
	Run(ctx context.Context) error
}

// StopGracefully is Shutdown within bounds: nothing more is begun, and what is left when grace has passed, or ctx has ended, is
// dropped as by Close. Tasks that were accepted still run. Of the functions of Promisify, Work and [Retry] those that run are
// waited for; those that wait for a worker under WithWorkerLimit, or for their next attempt, end with ErrLoopTerminated, so that
// whoever keeps the list of what is to be done keeps them for the next start. Threadlets that drain go on with threadlet.Do.
//
// It returns nil when everything that ran has finished. When s had to be closed, it returns an error that wraps
// context.DeadlineExceeded, or ctx.Err(), and lists what the end still waited for. All callers but the first get what Shutdown
// returns to them. It waits neither for a callback that goes on after Close (wait for Done) nor for functions of Promisify (end
// their contexts, and call AwaitWorkers).
//
// From a callback of s it asks for the end and returns at once; the bound holds all the same. It costs a timer of the runtime.
func StopGracefully(ctx context.Context, s Stopper, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace) // a nil context panics here
	s.RefuseWork()
	err := s.Shutdown(ctx)
	select {
	case <-s.Done():
		cancel()
		return err
	default:
	}
	if ctx.Err() != nil {
		cancel()
		_ = s.Close() // does nothing if it has ended
		return err
	}
	go func() { // Shutdown has not waited: this is a callback
		defer cancel()
		select {
		case <-s.Done():
		case <-ctx.Done():
			_ = s.Close()
		}
	}()
	return err
}

// RunUntil runs r until ctx ends, and then stops it as StopGracefully does. The usual main function of a program is
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	err := flow.RunUntil(ctx, loop, 10*time.Second)
//
// It returns the error of StopGracefully if ctx has ended r, nil if everything that ran has finished, and otherwise that of Run:
// whatever that returns without having run r, which it leaves alone, and ErrLoopTerminated if somebody else called Close.
//
// If a signal has ended ctx, as a context of signal.NotifyContext or one derived from that, a second SIGINT or SIGTERM ends the
// grace at once. RunUntil waits for the callback that runs then; after a second, log/slog's default logger gets its stack.
func RunUntil(ctx context.Context, r Runner, grace time.Duration) error {
	if ctx.Done() == nil {
		return r.Run(ctx)
	}
	stopped, begun := make(chan error, 1), false
	err := r.Run(&claim{context.WithoutCancel(ctx), make(chan struct{}), func(func()) (forget func() bool) {
		stop := context.AfterFunc(ctx, func() { stopped <- stopAfter(ctx, r, grace) })
		return func() bool { begun = !stop(); return !begun }
	}})
	if begun && (err == nil || err == eventloop.ErrLoopTerminated) {
		if stop := <-stopped; stop != eventloop.ErrLoopTerminated { // else something else has ended r before
			return stop
		}
	}
	return err
}

// claim is the context of Run. It does not end, and context.AfterFunc calls its watch: so RunUntil learns that r is its own.
type claim struct {
	context.Context
	done  chan struct{}
	watch func(func()) (forget func() bool)
}

func (c *claim) Done() <-chan struct{}                   { return c.done }
func (c *claim) AfterFunc(f func()) (forget func() bool) { return c.watch(f) }

// stopAfter stops s gracefully after the end of ctx.
func stopAfter(ctx context.Context, s Stopper, grace time.Duration) error {
	patience := context.WithoutCancel(ctx)
	// The causes of signal.NotifyContext have a type of its package, which is not exported.
	if cause := reflect.TypeOf(context.Cause(ctx)); cause != nil && cause.PkgPath() == "os/signal" {
		again, quit := signal.NotifyContext(patience, syscall.SIGINT, syscall.SIGTERM)
		defer quit()
		patience = again
	}
	err := StopGracefully(patience, s, grace)
	select {
	case <-s.Done():
	case <-time.After(time.Second):
		slog.Error("stopped, but for a callback that runs", "kind", "stall", "error", err, "stack", string(goroutine.Callbacks()))
	}
	return err
}
