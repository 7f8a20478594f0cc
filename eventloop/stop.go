package eventloop

// A graceful end that is given so much time and no more.

import (
	"context"
	"time"
)

// StopGracefully is Shutdown with a bound: what has not come to its end when grace has passed, or ctx has ended, is
// dropped as by [Loop.Close]. A program stops its loop with it when it is told to end:
//
//	context.AfterFunc(signals, func() { loop.StopGracefully(context.Background(), 10*time.Second) })
//	err := loop.Run(context.Background())
//
// It returns nil when everything that was accepted has run; an error that wraps context.DeadlineExceeded, or ctx.Err(),
// and tells what it has waited for, when the loop had to be closed; and what Shutdown returns to others than the first.
// It does not wait for a callback that goes on after Close, nor for functions of Promisify, whose contexts the caller
// ends: [Loop.Done] and [Loop.AwaitWorkers] do.
//
// Any goroutine may call it. From one of the loop's own callbacks it asks for the end and returns at once; the bound
// holds all the same. It costs a timer of the runtime.
func (l *Loop) StopGracefully(ctx context.Context, grace time.Duration) error {
	return stopGracefully(ctx, grace, l, l.OnLoop())
}

// StopGracefully is [Loop.StopGracefully] for all loops of the group.
func (g *Group) StopGracefully(ctx context.Context, grace time.Duration) error {
	return stopGracefully(ctx, grace, g, g.onLoop())
}

// stopper is what is stopped.
type stopper interface {
	Shutdown(ctx context.Context) error
	Close() error
	Done() <-chan struct{}
}

// stopGracefully ends s within grace. inside tells that the caller is one of its callbacks, which cannot wait.
func stopGracefully(ctx context.Context, grace time.Duration, s stopper, inside bool) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	if inside {
		go func() {
			defer cancel()
			select {
			case <-s.Done():
			case <-ctx.Done():
				_ = s.Close()
			}
		}()
		return s.Shutdown(ctx)
	}
	defer cancel()
	err := s.Shutdown(ctx)
	if ctx.Err() != nil {
		_ = s.Close() // which does nothing to what has ended
	}
	return err
}

// onLoop tells whether the caller runs on one of the loops.
func (g *Group) onLoop() bool {
	for _, l := range g.loops {
		if l.OnLoop() {
			return true
		}
	}
	return false
}
