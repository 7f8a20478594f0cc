package alternatethree

// What the tests see of the inside.

import (
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

type List = list

func (q *list) Push(fn func()) { q.push(fn) }
func (q *list) Pop() func()    { return q.pop() }

// Slots returns those of the first chunk.
func (q *list) Slots() []func() { return q.head.fns[:] }

func (l *Loop) Verify() time.Duration        { return l.verify() }
func (l *Loop) LockIngress() (unlock func()) { l.in.mu.Lock(); return l.in.mu.Unlock }
func (l *Loop) LockTimers() (unlock func())  { l.timers.mu.Lock(); return l.timers.mu.Unlock }

// NewOn makes a loop on a poller of the test's.
func NewOn(cfg loopapi.Config, open func() (rival.Poller, error)) (*Loop, error) {
	return newLoop(cfg, open)
}
