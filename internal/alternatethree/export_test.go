package alternatethree

// What the tests see of the inside.

import (
	"math"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

type (
	List      = list
	Ring      = ring
	StateWord = stateWord
)

func (q *list) Push(fn func())    { q.push(fn) }
func (q *list) Pop() func()       { return q.pop() }
func (q *list) Empty() bool       { return q.empty() }
func (q *list) Splice(other list) { q.splice(other) }

// Slots returns those of the first chunk.
func (q *list) Slots() []func() { return q.head.fns[:] }

func (q *list) Chunks() (n int) {
	for c := q.head; c != nil; c = c.next {
		n++
	}
	return n
}

func (r *ring) Push(fn func()) { r.push(fn) }
func (r *ring) Pop() func()    { return r.pop() }
func (r *ring) Len() int       { return int(r.n) }
func (r *ring) Shrink()        { r.shrink() }
func (r *ring) Cap() int       { return len(r.fns) }

// NewRing starts the ring's index a few steps before it wraps.
func NewRing() *Ring { return &ring{head: math.MaxUint - 5} }

func (s *stateWord) Set(state loopapi.State)               { s.v.Store(int32(state)) }
func (s *stateWord) Load() loopapi.State                   { return s.load() }
func (s *stateWord) Start() bool                           { return s.start() }
func (s *stateWord) Sleep() bool                           { return s.sleep() }
func (s *stateWord) Wake() bool                            { return s.wake() }
func (s *stateWord) Terminate() (loopapi.State, bool)      { return s.terminate() }
func (s *stateWord) Terminated()                           { s.terminated() }
func (l *Loop) Verify() time.Duration                      { return l.verify() }
func (l *Loop) LockIngress() (unlock func())               { l.in.mu.Lock(); return l.in.mu.Unlock }
func (l *Loop) LockTimers() (unlock func())                { l.timers.mu.Lock(); return l.timers.mu.Unlock }
func (l *Loop) PopDue(now int64) func()                    { return l.timers.popDue(now) }
func (l *Loop) Insert(at int64, fn func()) loopapi.TimerID { id, _ := l.insert(at, fn); return id }

// NewOn makes a loop on a poller of the test's.
func NewOn(cfg loopapi.Config, open func() (rival.Poller, error), opts ...Option) (*Loop, error) {
	return newLoop(cfg, opts, open)
}
