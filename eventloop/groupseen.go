package eventloop

// How the tasks of a group are measured: those that wait in a share count as if they waited in the loop's queue.

import (
	"errors"
	"math/rand/v2"

	"github.com/turnloop/turnloop/internal/observe"
)

// Metrics returns the figures of all loops, added up as [Metrics.Merge] does. Those of each loop are coherent; a task
// that another loop takes meanwhile may be counted for both or for neither. It costs what [Loop.Metrics] costs, for
// each loop.
func (g *Group) Metrics() (m Metrics) {
	for _, l := range g.loops {
		m.Merge(l.Metrics())
	}
	return m
}

// markShared returns the mark of a task of the group. Its time is on a clock that all loops share, as another loop may run
// the task.
func (l *Loop) markShared() (m mark) {
	p := l.probe
	if !p.Stamps() {
		return m
	}
	m.place = l.here()
	if p.Every() == 1 || rand.Uint32N(p.Every()) == 0 {
		m.accepted = p.Accepted(l.OnLoop()) + l.born
	}
	return m
}

// callShared runs a task of the group, and measures it.
func (l *Loop) callShared(m mark, fn func()) {
	if m.accepted != 0 {
		m.accepted = max(m.accepted-l.born, 1)
	}
	l.probe.Call(observe.Task, m.accepted, m.place, fn)
}

// add appends a task. The caller holds mu.
func (s *share) add(fn func(), m mark) {
	q := &s.tasks
	if s.loop.probe == nil {
		q.add(fn)
		return
	}
	switch {
	case !q.full():
	case q.len() == 0 && q.tail != nil:
		q.rewind()
	default:
		q.grow(s.loop.markedChunk())
	}
	q.push(fn)
	q.mark(m)
}

// waiting returns how many tasks wait in a share, less the runners that wait in the loop's queue, which are counted there as
// tasks. The share of a loop without a group is nil, and nothing waits in it.
func (s *share) waiting() int {
	if s == nil {
		return 0
	}
	return int(s.n.Load() - s.queued.Load())
}

// withShare adds the tasks that wait in the loop's share to the n tasks that wait in its queues. m is the mark of the
// oldest task in the queues; withShare returns that of the oldest task in queues and share.
func (l *Loop) withShare(n int, m mark) (int, mark) {
	s := l.share
	if s == nil {
		return n, m
	}
	if n = max(n+s.waiting(), 0); n == 0 {
		return 0, mark{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks.len() == 0 {
		return n, m
	}
	first := s.tasks.peekMark()
	if first.accepted != 0 {
		first.accepted = max(first.accepted-l.born, 1)
	}
	if m.accepted == 0 || first.accepted != 0 && first.accepted < m.accepted {
		m = first
	}
	return n, m
}

// waitsFor returns the part of a Shutdown's error that lists what the end waits for.
func waitsFor(err error) string {
	if u, ok := errors.AsType[*unfinished](err); ok {
		return u.what
	}
	return ""
}
