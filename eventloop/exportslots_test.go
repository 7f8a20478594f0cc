package eventloop

// The table of registrations, for its tests.

// Slots has registrations by their tags; each of these has events to tell it by, and a callback that does nothing.
type Slots struct{ s slots }

// StartAt makes last the tag that was given last.
func (s *Slots) StartAt(last uint32) { s.s.last = last }

// Next takes a tag, and Put a slot for it.
func (s *Slots) Next() uint32 {
	if larger := s.s.grown(); larger != nil {
		s.s = *larger
	}
	return s.s.next()
}
func (s *Slots) Put(tag uint32, fd int, events IOEvents) {
	s.s.put(registration{events: events, tag: tag, fd: fd, callback: func(IOEvents) {}})
}

// Find returns the events of the registration that has the tag.
func (s *Slots) Find(tag uint32) (events IOEvents, ok bool) {
	r := s.s.find(tag)
	if r == nil {
		return 0, false
	}
	return r.events, true
}

// Of returns the tag of the registration of a descriptor.
func (s *Slots) Of(fd int) (tag uint32, ok bool) {
	r := s.s.of(fd)
	if r == nil {
		return 0, false
	}
	return r.tag, true
}
func (s *Slots) Remove(tag uint32) {
	s.s.remove(tag)
	if smaller := s.s.shrunk(); smaller != nil {
		s.s = *smaller
	}
}

// Far is the last seat that a registration may have.
func (s *Slots) Far() int { return s.s.far }

// Len is how many slots there are. Held is how many of them are not as good as new.
func (s *Slots) Len() int { return len(s.s.at) }
func (s *Slots) Held() (held int) {
	for _, r := range s.s.at {
		if r.tag|uint32(r.events) != 0 || r.callback != nil {
			held++
		}
	}
	return held
}
