package eventloop

// StopGracefully: a graceful end within a bound of time.

import (
	"context"
	"time"
)

// StopGracefully is Shutdown with a bound: what is left when grace has passed, or ctx has ended, is dropped as by
// [Loop.Close]. A program that is told to end stops its loop with it:
//
//	stopped := make(chan error, 1)
//	context.AfterFunc(signals, func() { stopped <- loop.StopGracefully(context.Background(), 10*time.Second) })
//	err := loop.Run(context.Background())
//	if signals.Err() != nil {
//		err = <-stopped
//	}
//
// It returns nil when everything that was accepted has run. When the loop had to be closed, it returns an error that
// wraps context.DeadlineExceeded, or ctx.Err(), and lists what the end still waited for. All callers but the first get
// what Shutdown returns to them. It waits neither for a callback that goes on after Close (wait for [Loop.Done]) nor
// for functions of Promisify (end their contexts, and call [Loop.AwaitWorkers]).
//
// From one of the loop's own callbacks it asks for the end and returns at once; the bound holds all the same. It costs
// a timer of the runtime.
func (l *Loop) StopGracefully(ctx context.Context, grace time.Duration) error {
	return stopGracefully(ctx, grace, l, l.OnLoop())
}

// StopGracefully is [Loop.StopGracefully] for all loops of the group.
func (g *Group) StopGracefully(ctx context.Context, grace time.Duration) error {
	return stopGracefully(ctx, grace, g, g.onLoop())
}

// stopper is a Loop or a Group.
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
		_ = s.Close() // does nothing if it has ended
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
