package flow

// A graceful end within a bound of time.

import (
	"context"
	"os"
	"os/signal"
	"reflect"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// Stopper is what StopGracefully stops: an eventloop.Loop, or an eventloop.Group.
type Stopper interface {
	RefuseWork()
	Shutdown(ctx context.Context) error
	Close() error
	Done() <-chan struct{}
}

// Runner is what RunUntil runs: an eventloop.Loop, or an eventloop.Group.
type Runner interface {
	Stopper
	Run(ctx context.Context) error
}

// StopGracefully is Shutdown within bounds: nothing more is begun, and what is left when grace has passed, or ctx has ended, is
// dropped as by Close. Tasks that were accepted still run. Of the functions of Promisify, Work and [Retry] those that run are
// waited for; those that wait for a worker under WithWorkerLimit, or for their next attempt, end with ErrLoopTerminated, so
// that whoever keeps the list of what is to be done keeps them for the next start. Threadlets that drain go on with threadlet.Do.
//
// It returns nil when everything that ran has finished. When s had to be closed, it returns an error that wraps
// context.DeadlineExceeded, or ctx.Err(), and lists what the end still waited for. All callers but the first get what
// Shutdown returns to them. It waits neither for a callback that goes on after Close (wait for Done) nor for functions of
// Promisify (end their contexts, and call AwaitWorkers).
//
// From a callback of s it asks for the end and returns at once; the bound holds all the same. It costs a timer of the
// runtime.
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
// It returns the error of StopGracefully if ctx has ended r, nil if everything that ran has finished, and otherwise that of
// Run: whatever that returns without having run r, and ErrLoopTerminated if somebody else has called Close.
//
// If a signal has ended ctx, as a context of signal.NotifyContext, a second SIGINT or SIGTERM ends the grace at once: r is
// closed. RunUntil knows such a context, and those derived from it, by its cause. It waits for the callback that is running.
func RunUntil(ctx context.Context, r Runner, grace time.Duration) error {
	stopped := make(chan error, 1)
	forget := context.AfterFunc(ctx, func() { stopped <- stopAfter(ctx, r, grace) })
	returned := false
	defer func() {
		if !returned { // a callback has called Goexit, and another goroutine runs r
			go func() {
				<-r.Done()
				forget()
			}()
		}
	}()
	err := r.Run(context.WithoutCancel(ctx)) // with its labels for profiles
	returned = true
	if !forget() && (err == nil || err == eventloop.ErrLoopTerminated) {
		if stop := <-stopped; stop != eventloop.ErrLoopTerminated { // else something else has ended r before
			return stop
		}
	}
	return err
}

// stopAfter stops s gracefully after the end of ctx.
func stopAfter(ctx context.Context, s Stopper, grace time.Duration) error {
	patience, quit := context.WithCancel(context.WithoutCancel(ctx))
	defer quit()
	if cause := reflect.TypeOf(context.Cause(ctx)); cause != nil && cause.PkgPath() == signals {
		again := make(chan os.Signal, 1)
		signal.Notify(again, syscall.SIGINT, syscall.SIGTERM)
		defer signal.Stop(again)
		go func() {
			select {
			case <-again:
				quit()
			case <-patience.Done():
			}
		}()
	}
	return StopGracefully(patience, s, grace)
}

// signals is the package of the causes of signal.NotifyContext, whose type is not exported.
const signals = "os/signal"
