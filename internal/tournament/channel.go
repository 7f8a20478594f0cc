// The control: what a Go programmer would write without an event loop.

package tournament

import (
	"context"
	"errors"
	"sync"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// channel is a goroutine that ranges over a buffered channel of functions. It has the interface's shape, not its
// promises: Submit blocks while the buffer is full, and no Submit may run at the same time as, or after, the end.
type channel struct {
	tasks   chan func()
	end     sync.Once
	verdict error // what Run returns; written before tasks is closed, read after
	done    chan struct{}
}

func newChannel(cfg looptest.Config) (looptest.EventLoop, error) {
	if err := refuse(cfg, "a channel"); err != nil {
		return nil, err
	}
	return &channel{tasks: make(chan func(), 4096), done: make(chan struct{})}, nil
}

func (c *channel) Submit(fn func()) error {
	if fn == nil {
		return loopapi.ErrNilCallback
	}
	c.tasks <- fn
	return nil
}

func (c *channel) Run(ctx context.Context) error {
	defer close(c.done)
	defer context.AfterFunc(ctx, func() { c.finish(ctx.Err()) })()
	for fn := range c.tasks {
		fn()
	}
	return c.verdict
}

func (c *channel) Shutdown(ctx context.Context) error {
	c.finish(nil)
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *channel) finish(verdict error) {
	c.end.Do(func() {
		c.verdict = verdict
		close(c.tasks)
	})
}

// SubmitInternal is unsupported: a channel has one queue.
func (c *channel) SubmitInternal(func()) error { return errors.ErrUnsupported }

// Close is unsupported: what a channel holds is received.
func (c *channel) Close() error { return errors.ErrUnsupported }
