package eventloop

// What is measured of the tasks of a group: those that wait in a share are the loop's as if they waited in its queue.

import "errors"

// Metrics returns the figures of all loops, added up as [Metrics.Merge] does. Those of each loop are coherent; a task that
// another loop takes meanwhile may be counted for both or for neither. Any goroutine may call it, at any time; it costs what
// [Loop.Metrics] costs, for each loop.
func (g *Group) Metrics() (m Metrics) {
	for _, l := range g.loops {
		m.Merge(l.Metrics())
	}
	return m
}

// markShared is mark for a task of the group: it says when that was accepted on a clock that all loops share.
func (p *probe) markShared() (m mark) {
	if p != nil {
		if m = p.mark(external); m.accepted != 0 {
			m.accepted += p.loop.born
		}
	}
	return m
}

// callShared runs a task of the group.
func (p *probe) callShared(m mark, fn func()) {
	if m.accepted != 0 {
		m.accepted = max(m.accepted-p.loop.born, 1)
	}
	p.call(aTask, m, fn)
}

// add appends a task. The caller holds the lock.
func (s *share) add(fn func(), m mark, p *probe) {
	q := &s.tasks
	if p == nil {
		q.add(fn)
		return
	}
	switch {
	case !q.full():
	case q.len() == 0 && q.tail != nil:
		q.rewind()
	default:
		q.grow(p.markedChunk())
	}
	q.push(fn)
	q.mark(m)
}

// waiting returns how many tasks wait in a share, less the runner if that waits in the loop's queue. A loop that is alone has
// none.
func (s *share) waiting() (n int) {
	if s == nil {
		return 0
	}
	if n = int(s.n.Load()); s.queued.Load() {
		n--
	}
	return n
}

// withShare adds to n tasks that wait, of which m is the mark of the first, those of the loop's share.
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

// waitsFor returns what the error of a Shutdown tells beside that of its context.
func waitsFor(err error) string {
	if u, ok := errors.AsType[*unfinished](err); ok {
		return u.what
	}
	return ""
}
