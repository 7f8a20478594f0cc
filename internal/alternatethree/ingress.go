package alternatethree

// Ingress: accepting functions from any goroutine, and deciding the end.

import (
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// ingress is the only place where producers and the loop meet. Producers append, the loop takes whole lists at once, so
// the lock is held for a few instructions.
//
// The state becomes Terminating under the same lock, and the ingress is sealed under it. So the loop finds all accepted
// functions before it ends.
type ingress struct {
	mu         sync.Mutex // guards all below; nothing else is locked and no user code is called under it
	external   list
	internal   list
	microtasks list  // of other goroutines; the loop's own go into the ring directly
	sealed     bool  // nothing is accepted any more, in no lane
	result     error // what Run returns

	// urgent says that internal or microtasks is not empty. It is written under mu. Between callbacks the loop reads it
	// without mu: it may see a function one callback later. Before it sleeps or ends it looks under mu.
	urgent atomic.Bool

	// waiting is the number of accepted external tasks that have not started, if there is a queue limit. Submit adds under
	// mu, so that the limit is exact; the loop subtracts without mu.
	waiting atomic.Int64
}

// Submit implements loopapi.EventLoop. It costs one lock, and a system call when the loop sleeps.
func (l *Loop) Submit(fn func()) error { return l.enqueue(&l.in.external, fn) }

// SubmitInternal implements loopapi.EventLoop, at the cost of Submit.
func (l *Loop) SubmitInternal(fn func()) error { return l.enqueue(&l.in.internal, fn) }

// enqueue accepts and adds fn, in one step under the lock, and then wakes the loop if it sleeps.
func (l *Loop) enqueue(lane *list, fn func()) error {
	if fn == nil {
		return loopapi.ErrNilCallback
	}
	if err := l.accept(lane, fn); err != nil {
		return err
	}
	l.wakeIfSleeping()
	return nil
}

func (l *Loop) accept(lane *list, fn func()) error {
	in, limit := &l.in, int64(l.cfg.QueueLimit)
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.sealed:
		return loopapi.ErrLoopTerminated
	case lane != &in.external:
		in.urgent.Store(true)
	case l.state.ending():
		return loopapi.ErrLoopTerminated
	case limit > 0 && in.waiting.Load() >= limit:
		return loopapi.ErrLoopOverloaded
	case limit > 0:
		in.waiting.Add(1)
	}
	lane.push(fn)
	return nil
}

// collect takes all functions of the ingress, but external tasks only when those taken before have run. Only the loop
// calls it.
func (l *Loop) collect() {
	in := &l.in
	in.mu.Lock()
	if l.external.empty() {
		l.external, in.external = in.external, list{}
	}
	internal, microtasks := in.internal, in.microtasks
	in.internal, in.microtasks = list{}, list{}
	in.urgent.Store(false)
	in.mu.Unlock()
	l.internal.splice(internal)
	for !microtasks.empty() {
		l.micro.push(microtasks.pop())
	}
}

// empty reports whether the loop has taken everything. The caller holds mu.
func (in *ingress) empty() bool {
	return in.external.empty() && in.internal.empty() && in.microtasks.empty()
}
