package threadlet

// Draining: what a server still does when its loop is shut down.

import "errors"

// ErrDraining is returned to a threadlet that waits for the next request when its loop is about to end; see [Draining].
var ErrDraining = errors.New("threadlet: the loop is shut down")

// Draining tells whether the loop of the calling threadlet is being shut down, and asks to be waited for: Shutdown of
// the loop lets those who have called it come to their end, within its context, before it begins. A server's handler calls it
// before each request:
//
//	for !threadlet.Draining() {
//		request, err := read(conn)
//		if err != nil {
//			return
//		}
//		answer(conn, request)
//	}
//
// A [Conn.Read] that has brought nothing since the last call then returns [ErrDraining], if nothing has arrived; whatever else the handler does goes
// on. Meanwhile listeners are closed, and connections that are [Conn.Idle]. Close of the loop, the end of Run's
// context, and a Shutdown from the loop itself wait for nobody. To others than threadlets it returns false.
func Draining() bool {
	t := Current()
	if t == nil {
		return false
	}
	if !t.drains {
		t.drains = true
		t.s.drains++
	}
	t.boundary = true
	return t.s.closing
}

// Drain begins that, and calls done when nobody is left who is waited for.
func (s *scheduler) Drain(done func()) {
	s.closing = true
	s.onDrained = append(s.onDrained, done)
	for _, d := range s.descs.all() {
		if d.listens || d.idle != nil {
			_ = d.close()
		}
	}
	for t := s.eldest; t != nil; t = t.younger {
		if t.boundary && t.reason == reading {
			t.wake(ErrDraining)
		}
	}
	s.noneDrain()
}

// drained is the end of one that is waited for.
func (s *scheduler) drained() {
	s.drains--
	s.noneDrain()
}

func (s *scheduler) noneDrain() {
	if s.drains > 0 {
		return
	}
	for _, done := range s.onDrained {
		done()
	}
	s.onDrained = nil
}

// all returns those that are open.
func (ds *descs) all() []*desc {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	all := make([]*desc, 0, len(ds.open))
	for d := range ds.open {
		all = append(all, d)
	}
	return all
}
