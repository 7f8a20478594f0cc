// The control for descriptors: an event loop as one is usually written.

package tournament

import (
	"context"
	"errors"
	"sync"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

// blocking runs what was submitted, calls the callbacks of descriptors that are ready, and blocks in the system's poller until
// there is more. It has the methods of the interface, but does not keep its promises: no Submit may run at the same time as the
// end, or after it.
type blocking struct {
	poller *poller.Poller
	done   chan struct{}

	mu        sync.Mutex // guards all below
	tasks     []func()
	callbacks map[int]watched
	ending    bool
	verdict   error // what Run returns
}

type watched struct {
	events   loopapi.IOEvents
	callback func(loopapi.IOEvents)
}

// Blocking is the control of that name as a loop. It takes part where descriptors are what is measured.
func Blocking() Contestant {
	return Contestant{Entry: looptest.Entry{Name: BlockingControl, New: func(cfg looptest.Config) (looptest.EventLoop, error) {
		if err := refuse(cfg, "the blocking loop"); err != nil {
			return nil, err
		}
		p, err := poller.New()
		if err != nil {
			return nil, err
		}
		return &blocking{poller: p, done: make(chan struct{}), callbacks: map[int]watched{}}, nil
	}}}
}

func (l *blocking) Submit(fn func()) error {
	if fn == nil {
		return loopapi.ErrNilCallback
	}
	l.mu.Lock()
	l.tasks = append(l.tasks, fn)
	first := len(l.tasks) == 1
	l.mu.Unlock()
	if !first {
		return nil // an earlier caller has woken the loop
	}
	return l.poller.Wake()
}

func (l *blocking) Run(ctx context.Context) error {
	defer close(l.done)
	defer context.AfterFunc(ctx, func() { _ = l.finish(ctx.Err()) })()
	for tasks := []func(){}; ; {
		l.mu.Lock()
		tasks, l.tasks = l.tasks, tasks[:0]
		ended := l.ending && len(tasks) == 0
		l.mu.Unlock()
		if ended {
			return errors.Join(l.verdict, l.poller.Close())
		}
		for i, fn := range tasks {
			tasks[i] = nil
			fn()
		}
		events, err := l.poller.Wait(-1)
		if err != nil {
			return errors.Join(err, l.poller.Close())
		}
		for _, e := range events {
			l.mu.Lock()
			w := l.callbacks[e.FD]
			l.mu.Unlock()
			if w.callback != nil {
				w.callback(e.Events)
			}
		}
	}
}

func (l *blocking) Shutdown(ctx context.Context) error {
	if err := l.finish(nil); err != nil {
		return err
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *blocking) finish(verdict error) error {
	l.mu.Lock()
	if !l.ending {
		l.ending, l.verdict = true, verdict
	}
	l.mu.Unlock()
	if err := l.poller.Wake(); !errors.Is(err, loopapi.ErrPollerClosed) {
		return err
	}
	return nil
}

func (l *blocking) RegisterFD(fd int, events loopapi.IOEvents, callback func(loopapi.IOEvents)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.poller.Add(fd, events, 0); err != nil {
		return err
	}
	l.callbacks[fd] = watched{events, callback}
	return nil
}

func (l *blocking) ModifyFD(fd int, events loopapi.IOEvents) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.callbacks[fd]
	l.callbacks[fd] = watched{events, w.callback}
	return l.poller.Modify(fd, w.events, events, 0)
}

func (l *blocking) UnregisterFD(fd int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.callbacks[fd]
	delete(l.callbacks, fd)
	return l.poller.Remove(fd, w.events)
}

// SubmitInternal is unsupported: there is one queue.
func (l *blocking) SubmitInternal(func()) error { return errors.ErrUnsupported }

// Close is unsupported: what was submitted runs.
func (l *blocking) Close() error { return errors.ErrUnsupported }
