// The control: what a Go programmer would write without an event loop.

package tournament

import (
	"context"
	"errors"
	"sync"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// channel is a goroutine that ranges over a buffered channel of functions. It has the methods of the interface, but does not
// keep its promises: Submit blocks while the buffer is full, and no Submit may run at the same time as the end, or after it.
type channel struct {
	tasks   chan func()
	end     sync.Once
	verdict error // what Run returns; written before tasks is closed, read after
	done    chan struct{}
}

// The buffers of the control. With the usual one, producers that submit without a pause seldom have to wait. It takes 32 KiB,
// which would be most of what is measured where many loops are made and ended; there the small one is enough.
const (
	usualBuffer = 4096
	SmallBuffer = 128
)

// newChannel takes the queue limit for the size of the buffer.
func newChannel(cfg looptest.Config) (looptest.EventLoop, error) {
	size := usualBuffer
	if cfg.QueueLimit != 0 {
		size, cfg.QueueLimit = cfg.QueueLimit, 0
	}
	if err := refuse(cfg, "a channel"); err != nil {
		return nil, err
	}
	return &channel{tasks: make(chan func(), size), done: make(chan struct{})}, nil
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
