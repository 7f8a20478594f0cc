package threadlet

// Draining: how the handlers of a server come to their end before its loop does.

import "errors"

// ErrDraining ends the wait for a next request when the loop is about to end: return from the handler; see [Draining].
var ErrDraining = errors.New("threadlet: the loop is shut down")

// Draining tells whether the loop of the calling threadlet is being shut down. It also makes Shutdown wait: before the loop
// begins to end, the threadlets that have called Draining come to their end, as long as Shutdown's context lasts. The
// handler of a server calls it before each request:
//
//	for {
//		threadlet.Draining()
//		request, err := read(conn)
//		if err != nil { // such as ErrDraining
//			return
//		}
//		answer(conn, request)
//	}
//
// Once Shutdown was called, a [Conn.Read] returns [ErrDraining] if nothing has arrived, and nothing was read since the last
// call of Draining; everything else that the handler does goes on. So what has arrived is still answered. A handler that
// stops as soon as Draining returns true may leave requests unread: then closing the connection makes the system take back
// replies that are under way. Within a request, a call of Draining keeps the next Read from waiting for the rest of it. A
// peer that sends without end is served until Shutdown's context ends.
//
// Shutdown first closes listeners, and resumes connections that are idle ([Conn.Idle]). Close of the loop, the end of Run's
// context, and a Shutdown from the loop itself do not wait. Outside of a threadlet Draining returns false.
func Draining() bool {
	t := Current()
	if t == nil {
		return false
	}
	t.betweenRequests()
	return t.s.draining
}

func (t *Threadlet) betweenRequests() {
	if !t.drains {
		t.drains = true
		t.s.drainers++
	}
	t.boundary = true
}

// Draining tells what the function Draining does, and changes nothing: within a request, it says whether a next one will be
// served. For a nil t it is false.
func (t *Threadlet) Draining() bool { return t != nil && t.s.draining }

// Drain begins the draining, and calls done when no threadlet that has called Draining is left, maybe at once.
func (s *scheduler) Drain(done func()) {
	s.draining = true
	s.onDrained = append(s.onDrained, done)
	for _, d := range s.descs.all() {
		if d.listener != nil {
			_ = d.close()
		}
		d.resumeIdle()
	}
	for t := s.eldest; t != nil; t = t.younger {
		if t.boundary && t.reason == reading {
			t.wake(ErrDraining)
		}
	}
	s.callIfDrained()
}

// drained counts the end of a threadlet that has called Draining. The last one ends the draining.
func (s *scheduler) drained() {
	s.drainers--
	s.callIfDrained()
}

func (s *scheduler) callIfDrained() {
	if s.drainers > 0 {
		return
	}
	for _, done := range s.onDrained {
		done()
	}
	s.onDrained = nil
}
