package eventloop

// The end of a loop: by Shutdown, by Close, by its context.

import (
	"context"

	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/park"
	"github.com/turnloop/turnloop/internal/sched"
)

// Shutdown ends the loop gracefully. No new external work is accepted; everything that was accepted runs, with the
// internal work and microtasks that it submits. Pending timers and registrations are dropped. Pending promises are rejected
// with ErrLoopTerminated, as are new ones from then on, and their handlers run; but the loop waits for the functions of
// Promisify, and settles their promises with what they return. Then the loop ends. Shutdown blocks until then, or until
// ctx is done, which ends the waiting and not the shutdown.
//
// Meanwhile internal work and microtasks are still accepted, within bounds, so that the end comes whatever callbacks do. These
// may submit a million functions, and 64 for each that was accepted before the end, as long as all of it takes half a second, to
// go by what has run. A handler that they attach counts as one when it is due, as do a threadlet that goes on and the report of
// a rejection. Other goroutines may submit some 16,000 meanwhile, while fewer than 64 wait. What a function of Promisify submits
// is always accepted, and may submit 64, whatever others have used. All else is refused with ErrLoopTerminated.
//
// The end does not begin before the threadlets that have called threadlet.Draining have finished, or ctx has ended. The
// loop works as usual while Shutdown waits for these threadlets. If ctx ends before they have finished, Shutdown returns
// the error for that, however soon the loop ends without them.
//
// If one of the loop's own callbacks calls Shutdown, it only asks for the end, and returns at once. On a loop that never
// ran, Shutdown starts a goroutine, which runs what was accepted.
//
// The call that begins the end waits, and returns
//   - nil when the loop has ended;
//   - an error that wraps ctx.Err() and lists what the end still waits for (see [Loop.Active]), when ctx ends first;
//   - ErrLoopTerminated when Close was called meanwhile and work was dropped.
//
// Any other call, also one after Run's context or auto-exit has begun the end, waits in the same way, but returns
// ErrLoopTerminated instead of nil. If work was dropped, Run returns ErrLoopTerminated, too.
func (l *Loop) Shutdown(ctx context.Context) error {
	_ = ctx.Done() // before the end begins: a nil context panics here
	cut := l.guest.drain(ctx, l)
	from, first := l.terminate(0)
	if first && from.State() == StateAwake {
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
		switch err := await(ctx, l.done); {
		case cut != nil:
			return cut
		case err != nil:
			return l.unfinished(err)
		}
		first = first && !l.state.Load().Closing()
	}
	if !first {
		return ErrLoopTerminated
	}
	return nil
}

// Close ends the loop at once: what is queued is dropped, and when Close has returned nothing further starts. It does
// not wait for a callback that is running, or that the loop was about to call, so it may be called under any lock. A panic
// of that callback is still reported, also if it is a promise's handler, and the channel of Done is closed when it has
// returned. All promises that are still pending then count as rejected with ErrLoopTerminated, and their handlers are not
// called. Close returns ErrLoopTerminated when the loop has ended or was closed before.
func (l *Loop) Close() error {
	from, ok := l.terminate(park.CauseClose)
	if !ok {
		return ErrLoopTerminated
	}
	l.discard()
	if from.State() == StateAwake {
		l.end()
	}
	return nil
}

// Closed tells whether Close was called before the loop had ended. Any goroutine may ask; a callback that takes long may
// want to stop then.
func (l *Loop) Closed() bool { return l.state.Load().Closing() }

// Done returns a channel that is closed when the loop has ended: nothing will ever run on it again, and it holds no resources.
func (l *Loop) Done() <-chan struct{} { return l.done }

// terminate asks for the end, and wakes a loop that sleeps. It returns what park.StateWord.Terminate returns.
func (l *Loop) terminate(cause park.Word) (from park.Word, ok bool) {
	from, ok = l.state.Terminate(cause)
	if ok {
		l.shared.Seal() // a group ends with the first of its loops
	}
	if ok && from.Sleeping() {
		l.park.Signal()
	}
	return from, ok
}

// run is what concerns Run alone. Its goroutine has the fields.
type run struct {
	forget  func() bool // stops watching Run's context; nil if it is not watched
	failure error       // the error for which the loop ends itself; written before the loop asks for the end, and read behind it
}

// finish is the step of an ending loop that has run everything; it tells whether nothing is left. First it rejects
// pending promises, and another tick runs the work that this causes. Then it waits for workers, none of which can still
// wait for one of these promises. The time that the loop waits is not charged to the account of the end.
func (l *Loop) finish() bool {
	l.noticeEnd()
	l.bounds.account.Pause(l.now())
	l.refuseOthers()
	switch {
	case l.promises.RejectAll(ErrLoopTerminated), l.guest.reject():
		return false
	case l.hasWorkers():
		l.fds.Leave()
		l.park.Rest()
		return false
	}
	return l.seal()
}

// end drops what is left and makes the loop Terminated. It is the last thing that the loop's owner does.
func (l *Loop) end() {
	l.discard()
	l.externals, l.internals, l.micro, l.ticks = inbox.Queue{}, inbox.Queue{}, inbox.Queue{}, inbox.Queue{}
	l.dropTimers()
	l.park.Stop()
	l.closeDescriptors()
	l.guest.end()
	l.probe.Parked()
	l.notes.End()
	l.owner.Store(0)
	l.crew.End()
	l.promises.End()
	if l.forget != nil {
		l.forget()
		l.forget = nil // an ended loop keeps nothing alive
	}
	l.state.Terminated()
	close(l.done)
	if first := l.ends.end(); first != nil {
		sched.Go(first.run)
	}
}

// await waits until done is closed, or ctx is, whose error it then returns.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	sched.Await(done, ctx.Done())
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
