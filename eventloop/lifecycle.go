package eventloop

// The end of a loop: by Shutdown, by Close, by its context.

import (
	"context"

	"github.com/turnloop/turnloop/internal/sched"
)

// Shutdown ends the loop gracefully: no new external work is accepted, everything that was accepted runs, with whatever
// internal work and microtasks that brings; pending timers and registrations are dropped; pending promises are rejected
// with ErrLoopTerminated, as are new ones from then on, but for those of Promisify, whose functions the loop waits for;
// handlers run; and the loop ends. It blocks until then, or until ctx is done, which ends the waiting and not the
// shutdown.
//
// What callbacks, and functions of Promisify, bring meanwhile is accepted too. But the end comes whatever they do. Of what
// goroutines elsewhere bring, internal work and microtasks, an ending loop accepts some 16,000 functions. Of its own
// callbacks it accepts all that is not more than sixty-four generations away from a function that waited or that a worker
// has submitted, up to a million and eight for each of these; and some 16,000 functions beyond. When all that waited has
// run, that may take half a second, past which eight generations are all. What exceeds this is refused with
// ErrLoopTerminated. It starts over whenever everything has run and the loop waits for a function of Promisify. What that
// function itself submits is always accepted.
//
// Before the end begins it lets threadlets finish that have said so with threadlet.Draining, for as long as ctx lasts; until
// then the loop goes on as ever.
//
// From one of the loop's own callbacks it only asks for the end and returns at once. On a loop that never ran
// it runs what was accepted, on a goroutine of its own.
//
// The call that brings the end about returns nil, or an error that wraps ctx.Err() and tells what the end still waits for
// (see [Loop.Active]), or ErrLoopTerminated when a Close came in between and
// work was dropped. Any other call waits likewise and returns ErrLoopTerminated, or such an error, also when Run's context or
// auto-exit has begun the end. Whether work was dropped is told by Run, which then returns ErrLoopTerminated.
func (l *Loop) Shutdown(ctx context.Context) error {
	_ = ctx.Done() // before the end begins: a nil context panics here
	l.guest.drain(ctx, l)
	from, first := l.terminate(0)
	if first && from.state() == StateAwake {
		if l.seal() {
			l.end()
		} else {
			sched.Go(func() {
				l.label(context.Background())
				l.serve()
			})
		}
	}
	if !l.OnLoop() {
		if err := l.await(ctx); err != nil {
			return l.unfinished(err)
		}
		first = first && !l.state.load().closing()
	}
	if !first {
		return ErrLoopTerminated
	}
	return nil
}

// Close ends the loop at once: what is queued is dropped, and when Close has returned nothing further starts. It does
// not wait for a callback that is running, or that the loop was about to call, so it may be called under any lock, and
// still reports its panic; Done tells when that has returned too. Then all pending promises count as rejected with
// ErrLoopTerminated, without a call to their handlers. It returns ErrLoopTerminated when the loop has ended or was
// closed before.
func (l *Loop) Close() error {
	from, ok := l.terminate(causeClose)
	if !ok {
		return ErrLoopTerminated
	}
	l.discard()
	if from.state() == StateAwake {
		l.end()
	}
	return nil
}

// Closed tells whether Close was called before the loop had ended. Any goroutine may ask; a callback that takes long may
// want to stop then.
func (l *Loop) Closed() bool { return l.state.load().closing() }

// Done returns a channel that is closed when the loop has ended: nothing will ever run on it again, and it holds no
// resources.
func (l *Loop) Done() <-chan struct{} { return l.done }

// terminate asks for the end, and wakes the loop to hear of it. It returns what terminate of the state returns.
func (l *Loop) terminate(cause word) (from word, ok bool) {
	from, ok = l.state.terminate(cause)
	if ok && from.sleeping() {
		l.signal()
	}
	return from, ok
}

// finish is what an ending loop does when it has run everything: it rejects what is pending, and has what that brings
// run in another tick; then it waits for workers, of which none can wait for one of these promises any more. It tells
// whether there is nothing left. Rejecting may bring any amount of work, and is not counted. If it brings none the loop
// accepts no more than before: renewed here, whoever is quicker than the seal would keep it from its end. So would
// handlers that make something pending whenever that is rejected, if it were renewed each time.
func (l *Loop) finish() bool {
	g := &l.grace
	counts := g.counts
	g.counts = false
	more := l.promises.RejectAll(ErrLoopTerminated)
	g.counts = counts
	switch {
	case more && !g.rejected:
		l.renew()
		g.rejected = true
		return false
	case more:
		g.owes(1)
		return false
	case l.guest.reject():
		return false
	case l.working():
		if l.rest() {
			l.renewAll()
		}
		return false
	}
	return l.seal()
}

// end is the last thing that the loop's owner does.
func (l *Loop) end() {
	l.discard()
	l.batch, l.priority, l.micro, l.ticks = queue{}, queue{}, queue{}, queue{}
	l.dropTimers()
	l.alarm.stop()
	if err := l.fds.drop(); err != nil {
		go l.complain("the poller was not closed properly", err, "kind", "poller")
	}
	l.guest.end()
	if l.probe != nil {
		l.probe.park()
	}
	l.notes.end()
	l.owner.Store(0)
	l.workers.abandon()
	l.promises.End()
	if l.forget != nil {
		l.forget()
		l.forget = nil // an ended loop keeps nothing alive
	}
	l.state.terminated()
	close(l.done)
}

// await waits for the end of the loop, or of ctx.
func (l *Loop) await(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	default:
	}
	sched.Await(l.done, ctx.Done())
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
