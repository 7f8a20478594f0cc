package programs

// The steps of threadlets, and those of the JavaScript adapter.

import (
	"context"
	"errors"
	"io"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// threadlet starts one. When nobody else acts any more it is signaled again and again, so that its waits end.
func (a *actor) threadlet() {
	s := a.any()
	h := a.w.hand("threadlet of %d", a.source)
	seed, depth := a.rng.Uint64(), a.depth+1
	th, err := threadlet.Go(s.l, func() {
		s.live.Add(1)
		defer s.live.Add(-1)
		s.begin(h, "", 0)
		b := s.actor(seed, depth)
		b.in = thread
		if b.perform(6); b.rng.IntN(8) == 0 {
			threadlet.Draining()
			_ = threadlet.Yield()
		}
	})
	if !h.decide(a.w, err) {
		return
	}
	a.w.lease(th.Signal)
	a.w.mu.Lock()
	s.threads = append(s.threads, th)
	a.w.mu.Unlock()
}

// meet signals a threadlet, or waits for its end.
func (a *actor) meet() {
	s := a.any()
	a.w.mu.Lock()
	var th *threadlet.Threadlet
	if n := len(s.threads); n > 0 {
		th = s.threads[a.rng.IntN(n)]
	}
	a.w.mu.Unlock()
	if th == nil || a.rng.IntN(2) == 0 && a.in != thread {
		return
	}
	if a.rng.IntN(2) == 0 {
		th.Signal()
		return
	}
	ctx := a.context()
	if a.in == thread || a.at == s { // where it waits, or is refused
		_ = th.Join(ctx)
	} else {
		a.w.act(func() { _ = th.Join(ctx) })
	}
}

// wait has a threadlet wait for something.
func (a *actor) wait() {
	s, err := a.at, error(nil)
	switch a.rng.IntN(7) {
	case 0:
		err = threadlet.Yield()
	case 1:
		err = threadlet.Sleep(short[a.rng.IntN(len(short))])
	case 2:
		other := a.any()
		p, resolve, _ := other.l.NewPromise()
		a.later(other, func() { resolve(7) })
		_, err = threadlet.Await(promise.As[int](p))
	case 3:
		_, fn := a.function()
		err = threadlet.Do(a.context(), func(ctx context.Context) error { _, err := fn(ctx); return err })
	case 4:
		err = a.locked()
	case 5:
		s.sent++
		err = s.ch.Send(s.sent)
	default:
		var n int
		if n, err = s.ch.Receive(); err == nil {
			a.receives(n)
		}
	}
	var fault *eventloop.PanicError
	switch {
	case err == nil, errors.Is(err, threadlet.ErrSignaled), errors.Is(err, eventloop.ErrLoopTerminated), errors.Is(err, errCause),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &fault), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrClosedPipe):
	default:
		a.w.errorf("a threadlet's wait: %v", err)
	}
	s.alone()
}

// receives checks that numbers come once, and in the order in which they were sent. Others may have got those between.
func (a *actor) receives(n int) {
	if s := a.at; n <= a.heard || n > s.sent || s.received[n] {
		a.w.errorf("%d comes behind %d, and %d was sent last; it came before: %v", n, a.heard, s.sent, s.received[n])
	}
	a.heard, a.at.received[n] = n, true
}

// locked takes some steps, and waits, with a lock that all threadlets of the loop share.
func (a *actor) locked() (err error) {
	s := a.at
	if err := s.mu.Lock(); err != nil {
		return err
	}
	holds := func(is bool) {
		if s.locked == is {
			s.w.errorf("two threadlets hold one lock")
		}
		s.locked = is
	}
	holds(true)
	defer func() {
		if !errors.Is(err, eventloop.ErrLoopTerminated) {
			holds(false)
			s.mu.Unlock()
		}
	}()
	if a.rng.IntN(2) == 0 {
		if err := threadlet.Yield(); err != nil {
			return nil // which holds the lock all the same
		}
	}
	switch a.rng.IntN(3) {
	case 0:
		holds(false)
		if err = s.cond.Wait(); !errors.Is(err, eventloop.ErrLoopTerminated) {
			holds(true)
		}
	case 1:
		s.cond.Signal()
	default:
		s.cond.Broadcast()
	}
	return err
}

// pass sends or receives without a wait.
func (a *actor) pass() {
	s := a.at
	if a.rng.IntN(2) == 0 {
		s.sent++
		s.ch.TrySend(s.sent)
	} else if n, ok := s.ch.TryReceive(); ok {
		a.receives(n)
	}
	if a.w.way == anytime && a.rng.IntN(8) == 0 {
		_ = s.ch.Close()
	}
}

// timeout sets a timeout. Those of four milliseconds or more keep their order, however deep they nest.
func (a *actor) timeout() {
	s, ms, lane := a.any(), float64(a.rng.IntN(6)), ""
	if ms >= 4 {
		lane = "timeouts"
		ms = 4
	}
	var id js.ID
	h, ok := a.give(s, "timeout", lane, nil, func(fn func()) (err error) { id, err = s.js.SetTimeout(fn, ms); return err })
	if !ok {
		return
	}
	if a.w.way == anytime {
		h.due.Store(open)
	}
	if a.at == s && a.rng.IntN(4) == 0 { // elsewhere it may have run
		s.js.ClearTimeout(id)
		h.due.Store(never)
	}
}

func (a *actor) immediate() {
	s := a.any()
	var id js.ID
	h, ok := a.give(s, "immediate", "immediates", nil, func(fn func()) (err error) { id, err = s.js.SetImmediate(fn); return err })
	if ok && a.at == s && a.rng.IntN(4) == 0 {
		s.js.ClearImmediate(id)
		h.due.Store(never)
	}
}

func (a *actor) interval() {
	s, left, seed, depth := a.any(), 1+a.rng.IntN(3), a.rng.Uint64(), a.depth+1
	var id js.ID
	made := make(chan struct{})
	id, err := s.js.SetInterval(func() {
		<-made
		if left--; left < 0 {
			a.w.errorf("an interval that was cleared on the loop runs again")
		}
		if s.begin(nil, "", 0); left == 0 {
			s.js.ClearInterval(id)
		}
		s.actor(seed+uint64(left), depth).perform(2)
	}, float64(a.rng.IntN(3)))
	close(made)
	if err == nil {
		a.w.lease(func() { s.js.ClearInterval(id) })
	}
}

// abort has signals aborted, by a call or by a timer, and their listeners called once.
func (a *actor) abort() {
	s := a.any()
	c := s.js.NewAbortController()
	signal := c.Signal()
	if a.rng.IntN(3) == 0 {
		if timeout, err := s.js.TimeoutSignal(float64(a.rng.IntN(2))); err == nil {
			signal = s.js.AnySignal(signal, timeout)
		}
	}
	ctx, cancel := signal.Context(context.Background())
	var listeners []*handed
	for range 1 + a.rng.IntN(2) {
		h := a.w.hand("listener of %d", a.source)
		seed, depth := a.rng.Uint64(), a.depth+1
		remove := signal.OnAbort(func(error) { s.begin(h, "", 0); s.actor(seed, depth).perform(2) })
		if a.at == s && a.rng.IntN(4) == 0 {
			remove()
			h.due.Store(never)
		} else if !signal.Aborted() { // by a timer, before it was added
			listeners = append(listeners, h)
		}
	}
	a.later(s, once(func() {
		defer cancel()
		if err := c.Abort(errCause); err != nil {
			if !errors.Is(err, eventloop.ErrLoopTerminated) {
				a.w.errorf("Abort: %v", err)
			}
			return
		}
		if signal == c.Signal() && (!signal.Aborted() || ctx.Err() == nil) { // or a timer may be at it
			a.w.errorf("a signal is aborted: %v, and its context says %v", signal.Aborted(), ctx.Err())
		}
		for _, h := range listeners {
			h.due.CompareAndSwap(open, must)
		}
	}))
}
