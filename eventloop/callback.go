package eventloop

// Callbacks: how the loop calls what is not its own.

import (
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/quota"
)

// call is a callback, as the loop notes it before each call, also without a probe. The loop's goroutine owns it.
type call struct {
	kind observe.Kind
	id   uint64 // of a timer, a threadlet or a descriptor
}

// callback is the callback that runs, or ran last, and what has become of it.
type callback struct {
	current call
	fault   *PanicError // the panic, or Goexit, that is still to be reported
	sink    sink        // where the next fault is reported
}

// measured calls the first function of one of the loop's queues, and measures it.
func (l *Loop) measured(k observe.Kind, q *inbox.Queue) {
	p := l.probe
	if k == observe.Microtask {
		n := l.micro.Len() + l.ticks.Len()
		p.Found(k, n)
		p.Left(k, n-1)
		p.Call(k, 0, nil, q.Pop())
		return
	}
	fn, m := q.PopMarked()
	p.Left(k, q.Len())
	p.Call(k, m.Accepted, m.Place, fn)
}

// mayStart is the last look before a callback that waits in a queue: it tells whether the loop may call it. An ending loop charges
// it to its account.
func (l *Loop) mayStart(q quota.Queue) bool {
	return !l.state.Load().Ending() || l.charged(q)
}

// callHandler calls a handler, or a logger.
func (l *Loop) callHandler(f func()) {
	l.current.kind = observe.Handler
	if l.probe == nil {
		f()
		return
	}
	l.probe.HandlerBegan()
	f()
	l.probe.HandlerEnded()
}

// noteFault notes the fault that has ended an attempt. A threadlet's has the threadlet's number.
func (l *Loop) noteFault(value any) {
	f := loopapi.FaultOf(value)
	if f.Threadlet != 0 {
		l.current = call{observe.Threadlet, f.Threadlet}
	}
	l.fault = f.PanicError
}

// guarded calls fn and returns its panic, or nil.
func guarded(fn func()) (fault *PanicError) {
	returned := false
	defer func() {
		if !returned {
			fault = loopapi.FaultOf(recover()).PanicError
		}
	}()
	fn()
	returned = true
	return nil
}
