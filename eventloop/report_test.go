package eventloop_test

// Tests of what is reported of a panic.

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// removable has descriptors that are ready once, and may be removed.
type removable struct{ onceReady }

func (*removable) Remove(int, eventloop.IOEvents) error { return nil }

//go:noinline
func panicker(value error) { panic(value) }

// The panic of a callback of any kind is told with its own value and stack, once, also if the callback has called Close.
func TestPanicOfEachKind(t *testing.T) {
	settled := func(l *eventloop.Loop, err error) *eventloop.Promise {
		p, resolve, reject := l.NewPromise()
		if err != nil {
			reject(err)
		} else {
			resolve(nil)
		}
		return p
	}
	for name, post := range map[string]func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error){
		"task":     func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) { return nil, l.Submit(fn) },
		"internal": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) { return nil, l.SubmitInternal(fn) },
		"microtask": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			return nil, l.ScheduleMicrotask(fn)
		},
		"tick": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			return nil, l.Submit(func() { _ = l.NextTick(fn) })
		},
		"timer": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			_, err := l.ScheduleTimer(1, fn)
			return nil, err
		},
		"descriptor": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			return nil, l.Submit(func() { _ = l.RegisterFD(3, eventloop.EventRead, func(eventloop.IOEvents) { fn() }) })
		},
		"end of a registration": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			return nil, l.Submit(func() {
				_ = l.RegisterFD(3, 0, func(eventloop.IOEvents) {})
				_ = l.UnregisterFDThen(3, fn)
			})
		},
		"threadlet": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			_, err := threadlet.Go(l, fn)
			return nil, err
		},
		"Then": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			return settled(l, nil).Then(func(any) (any, error) { fn(); return nil, nil }, nil), nil
		},
		"Catch": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			return settled(l, errors.ErrUnsupported).Catch(func(error) (any, error) { fn(); return nil, nil }), nil
		},
		"Finally": func(l *eventloop.Loop, fn func()) (*eventloop.Promise, error) {
			return settled(l, nil).Finally(func() error { fn(); return nil }), nil
		},
	} {
		for _, closed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				faults := make(chan *eventloop.PanicError, 10)
				l := observed(t, eventloop.WithPanicHandler(func(e *eventloop.PanicError) { faults <- e }),
					eventloop.WithPoller(func() (eventloop.SystemPoller, error) { return &removable{}, nil }))
				value := errors.New("of the test")
				p, err := post(l, func() {
					if closed {
						_ = l.Close()
					}
					panicker(value)
				})
				require.NoError(t, err)
				var fault *eventloop.PanicError
				if p != nil && !closed {
					_, err := p.Await(context.Background())
					require.ErrorAs(t, err, &fault, name)
				} else {
					fault = <-faults
				}
				require.Same(t, value, fault.Value, "%s, closed: %v", name, closed)
				require.Contains(t, string(fault.Stack), "eventloop_test.panicker(", "%s, closed: %v", name, closed)
				_ = l.Close()
				<-l.Done()
				require.Empty(t, faults, "%s, closed: %v", name, closed)
			})
		}
	}
}
