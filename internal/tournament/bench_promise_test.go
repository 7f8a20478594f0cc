package tournament

// Loops whose promises and timers are at fault, each in one way.

import (
	"context"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
)

type (
	neverSettles struct{ *eventloop.Loop }
	settlesWrong struct{ *eventloop.Loop }
	neverFires   struct{ *eventloop.Loop }
)

func (l neverSettles) NewPromise() (*promise.Promise, func(any), func(error)) {
	p, _, reject := l.Loop.NewPromise()
	return p, func(any) {}, reject
}

func (l neverSettles) Promisify(context.Context, func(context.Context) (any, error)) *promise.Promise {
	p, _, _ := l.Loop.NewPromise()
	return p
}

func (l settlesWrong) NewPromise() (*promise.Promise, func(any), func(error)) {
	p, resolve, reject := l.Loop.NewPromise()
	return p, func(any) { resolve(-1) }, reject
}

func (l settlesWrong) Promisify(context.Context, func(context.Context) (any, error)) *promise.Promise {
	return l.Promises().Resolved(-1)
}

func (l neverFires) ScheduleTimer(_ time.Duration, fn func()) (loopapi.TimerID, error) {
	return l.Loop.ScheduleTimer(time.Hour, fn)
}

// TestLostReaction: a loop that loses a promise or a timeout, or hands on a wrong value, fails its cell, in bounded time.
func TestLostReaction(t *testing.T) {
	defer func(d time.Duration) { hung = d }(hung)
	hung = 20 * time.Millisecond
	promises := map[string]func(*testing.B, Contestant){}
	for _, op := range promiseOps {
		promises[op.name] = func(b *testing.B, c Contestant) { onPromises(b, c, op.run) }
	}
	timeouts := map[string]func(*testing.B, Contestant){"timeout": setTimeouts}
	for _, fault := range []struct {
		name  string
		wrap  func(*eventloop.Loop) looptest.EventLoop
		cells map[string]func(*testing.B, Contestant)
	}{
		{"never settles", func(l *eventloop.Loop) looptest.EventLoop { return neverSettles{l} }, promises},
		{"settles wrong", func(l *eventloop.Loop) looptest.EventLoop { return settlesWrong{l} }, promises},
		{"never fires", func(l *eventloop.Loop) looptest.EventLoop { return neverFires{l} }, timeouts},
	} {
		c := Own().Contestants[0]
		honest := c.New
		c.New = func(cfg looptest.Config) (looptest.EventLoop, error) {
			loop, err := honest(cfg)
			if err != nil {
				return nil, err
			}
			return fault.wrap(loop.(*eventloop.Loop)), nil
		}
		for name, cell := range fault.cells {
			if result := testing.Benchmark(func(b *testing.B) { cell(b, c) }); result.N != 0 {
				t.Errorf("%s: a loop that %s has a result: %v", name, fault.name, result)
			}
		}
	}
}
