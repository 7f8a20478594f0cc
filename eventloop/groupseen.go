package eventloop

// How the tasks of a group are measured: those that wait in a share count as if they waited in the loop's queue.

import (
	"errors"
	"math/rand/v2"

	"github.com/turnloop/turnloop/internal/inbox"
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
func (l *Loop) markShared() (m inbox.Mark) {
	p := l.probe
	if !p.Stamps() {
		return m
	}
	m.Place = l.here()
	if p.Every() == 1 || rand.Uint32N(p.Every()) == 0 {
		m.Accepted = p.Accepted(l.OnLoop()) + l.born
	}
	return m
}

// callShared runs a task of the group, and measures it.
func (l *Loop) callShared(m inbox.Mark, fn func()) {
	if m.Accepted != 0 {
		m.Accepted = max(m.Accepted-l.born, 1)
	}
	l.probe.Call(observe.Task, m.Accepted, m.Place, fn)
}

// add appends a task. The caller holds mu.
func (s *share) add(fn func(), m inbox.Mark) {
	if s.loop.probe == nil {
		s.tasks.Add(fn)
	} else {
		s.tasks.AddMarked(fn, m, s.loop.debug)
	}
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
func (l *Loop) withShare(n int, m inbox.Mark) (int, inbox.Mark) {
	s := l.share
	if s == nil {
		return n, m
	}
	if n = max(n+s.waiting(), 0); n == 0 {
		return 0, inbox.Mark{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks.Len() == 0 {
		return n, m
	}
	first := s.tasks.PeekMark()
	if first.Accepted != 0 {
		first.Accepted = max(first.Accepted-l.born, 1)
	}
	if m.Accepted == 0 || first.Accepted != 0 && first.Accepted < m.Accepted {
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
