package alternateone

// Beginning and end: Run, Shutdown and Close, the phases of a shutdown, and the goroutine that goes through them.

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Run implements loopapi.EventLoop. A violated invariant panics with a *LoopError.
func (l *Loop) Run(ctx context.Context) error {
	const op = "Run"
	_ = ctx.Done() // a nil context panics before the loop is claimed
	if l.OnLoop() {
		return l.fail(op, loopapi.ErrReentrantRun)
	}
	if err := l.claim(op); err != nil {
		return l.fail(op, err)
	}
	l.Follow(ctx, func() { l.terminate("end of the context", causeContext) })
	l.serve()
	switch l.cause {
	case causeClose:
		return l.fail(op, loopapi.ErrLoopTerminated)
	case causeContext:
		return ctx.Err()
	}
	return nil
}

func (l *Loop) claim(op string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ending():
		return loopapi.ErrLoopTerminated
	case l.state.load() != awake:
		return loopapi.ErrLoopAlreadyRunning
	}
	l.transition(op, running)
	return nil
}

// Shutdown implements loopapi.EventLoop. Its phases are logged.
func (l *Loop) Shutdown(ctx context.Context) error {
	const op = "Shutdown"
	from, first := l.terminate(op, causeShutdown)
	if first && from == awake {
		go l.serve()
	}
	if !l.OnLoop() {
		if err := l.Await(ctx); err != nil {
			return err
		}
		first = first && l.broken.Load() == nil && l.cause == causeShutdown
	}
	if !first {
		return l.fail(op, loopapi.ErrLoopTerminated)
	}
	return nil
}

// Close implements loopapi.EventLoop. Done is closed when the callbacks that it does not wait for have returned.
func (l *Loop) Close() error {
	const op = "Close"
	from, ok := l.terminate(op, causeClose)
	if !ok {
		return l.fail(op, loopapi.ErrLoopTerminated)
	}
	if from == awake {
		l.serve() // runs no callback, only the phases of the end
	}
	return nil
}

// cause is the cause of the loop's end: the first one, or Close, which overtakes the others.
type cause string

const (
	causeShutdown cause = "Shutdown"
	causeContext  cause = "context"
	causeClose    cause = "Close"
)

// terminate asks for the end and wakes the loop. It returns the state that it found, and whether it has changed anything.
func (l *Loop) terminate(op string, why cause) (from loopapi.State, ok bool) {
	from, ok = l.end(op, why)
	switch {
	case ok && from == sleeping:
		l.wake(op)
	case ok && from == awake && l.broken.Load() != nil: // the loop cannot run any more, and so not release its descriptors
		l.abandon()
		return from, false
	}
	return from, ok
}

func (l *Loop) end(op string, why cause) (from loopapi.State, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = l.state.load()
	switch {
	case from == awake: // also when an invariant was violated
	case l.ending() && (from != terminating || why != causeClose || l.cause == causeClose || l.broken.Load() != nil):
		return from, false
	}
	if from != terminating {
		l.transition(op, terminating)
	}
	l.cause = why
	if why == causeClose {
		l.external.drop()
		l.internal.drop()
		l.micro.drop()
	}
	return from, true
}

// serve runs the loop to its end on the calling goroutine. runtime.Goexit in a callback ends that goroutine and cannot
// be stopped, so serve then continues on a new goroutine, behind that callback. Its progress is in the loop's fields.
func (l *Loop) serve() {
	ended := false
	defer func() {
		l.Disown() // this goroutine may end
		switch {
		case ended:
			l.End()
		case l.fault != nil: // only Goexit leaves a fault behind
			l.fault.Value = loopapi.ErrGoexit
			go l.serve()
		default:
			l.abandon()
		}
	}()
	l.Own()
	l.report()
	for l.State() != terminating {
		l.tick()
	}
	l.shutDown()
	ended = true
}

// abandon marks the loop as broken and releases its resources. It is called while the panic of a violated invariant, of
// this loop or of another one that a callback has called, unwinds the stack, and at the end of a loop that was broken
// before it ran.
func (l *Loop) abandon() {
	l.broken.CompareAndSwap(nil, l.fail("tick", fmt.Errorf("%w: a panic that is not a callback's own", ErrInvariant)))
	_ = l.poller.Close()
	l.End()
}

// phases are the steps of the end, in order. done is called with both locks held. A phase is over when done returns true;
// until then the loop works on. After Close the first three have nothing to do.
var phases = [...]struct {
	name string
	done func(l *Loop, op string) bool
}{
	{"ingress", func(l *Loop, _ string) bool { return l.external.length == 0 }}, // new external tasks are refused
	{"internal", func(l *Loop, _ string) bool { return l.internal.length == 0 }},
	{"microtasks", func(l *Loop, _ string) bool { // microtasks may bring internal tasks, and those microtasks
		l.sealed = l.waiting() == 0
		return l.sealed
	}},
	{"timers", func(l *Loop, op string) bool {
		if err := l.timers.audit(); err != nil {
			l.violated(op, err, "pending", len(l.timers.Heap))
		}
		l.timers.drop()
		return true
	}},
	{"descriptors", func(l *Loop, op string) bool { // the user's descriptors stay open
		for fd, w := range l.table.watch {
			l.examine(op, fd, w)
		}
		l.table.watch = nil
		if err := l.poller.Close(); err != nil {
			l.violated(op, fmt.Errorf("the loop's own descriptors do not work: %w", err))
		}
		return true
	}},
}

// shutDown runs the phases. After runtime.Goexit in a callback it is called again, and goes on with the same phase.
func (l *Loop) shutDown() {
	for ; l.phase < len(phases); l.phase++ {
		if l.logged == l.phase {
			l.logged++
			l.log(func() { slog.Default().Debug("shutdown phase", "loop", l.id, "phase", phases[l.phase].name) })
		}
		for !l.phaseDone() {
			l.work()
		}
	}
	l.audit("shutdown audit")
}

func (l *Loop) phaseDone() bool {
	l.letIn()
	l.lockTable()
	defer l.unlockTable()
	l.mu.Lock()
	defer l.mu.Unlock()
	p := phases[l.phase]
	return p.done(l, "shutdown phase "+p.name)
}

// audit checks that all accepted work was started or dropped, and that only Close has dropped other work than timers.
func (l *Loop) audit(op string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check(op)
	for _, b := range []struct {
		of    Kind
		book  ledger
		found error
	}{
		{KindTask, l.external.ledger, l.external.check()},
		{KindInternal, l.internal.ledger, l.internal.check()},
		{KindMicrotask, l.micro.ledger, l.micro.check()},
		{KindTimer, l.timers.ledger, l.timers.audit()},
	} {
		if b.found == nil {
			b.found = b.book.balance(0)
		}
		if b.found == nil && b.book.dropped != 0 && l.cause != causeClose && b.of != KindTimer {
			b.found = fmt.Errorf("%d were dropped without Close", b.book.dropped)
		}
		if b.found != nil {
			l.violated(op, b.found, "queue", b.of)
		}
	}
	l.transition(op, terminated)
}
