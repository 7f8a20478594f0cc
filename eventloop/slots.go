package eventloop

// Slots: the registrations of descriptors where an event finds its own without a search.

// registration is one watched descriptor, from RegisterFD to UnregisterFD.
type registration struct {
	events   IOEvents       // asked for
	tag      uint32         // no other registration has it, so an event tells whose it is although the number was used again
	callback func(IOEvents) // nil in a slot that is free
}

// slots has each registration at its tag modulo the length, which is a power of two. Tags count up, and pass over those
// whose slots are taken: so the tags in use differ modulo the length, and go on to differ when it is doubled. A slot is
// soon used again, a tag only when the counter has wrapped and come round to it, long after the last event that carried
// it. Only who has descriptors.mu changes it, and takes descriptors.look for that too; so either is enough to read it.
type slots struct {
	at    []registration // nil before the first
	taken int
	last  uint32 // tag that was given
}

// leastSlots is what one registration takes, and those that come beside it.
const leastSlots = 4

// next returns the tag for a registration that is about to be put, where there is room for one. At least a quarter of the
// slots is free, and what is passed over now is not looked at again before the counter has come round, so it takes a few
// looks on average.
func (s *slots) next() uint32 {
	s.last++
	for s.slot(s.last).callback != nil {
		s.last++
	}
	return s.last
}

// larger returns what to replace at by so that there is room for one more, or nil if there is.
func (s *slots) larger() []registration {
	if 4*(s.taken+1) <= 3*len(s.at) {
		return nil
	}
	l := slots{at: make([]registration, max(leastSlots, 2*len(s.at)))}
	for _, r := range s.at {
		if r.callback != nil {
			*l.slot(r.tag) = r
		}
	}
	return l.at
}

// put takes the slot of a tag that next has returned since the last change.
func (s *slots) put(r registration) {
	*s.slot(r.tag) = r
	s.taken++
}

// find returns the registration that has the tag, or nil. It is valid until the next change.
func (s *slots) find(tag uint32) *registration {
	if len(s.at) == 0 {
		return nil
	}
	r := s.slot(tag)
	if r.tag != tag || r.callback == nil {
		return nil
	}
	return r
}

// remove frees the slot of a registration; with that of the last, the memory that many took.
func (s *slots) remove(tag uint32) {
	*s.slot(tag) = registration{}
	if s.taken--; s.taken == 0 && len(s.at) > leastSlots {
		s.at = nil
	}
}

func (s *slots) slot(tag uint32) *registration { return &s.at[int(tag)&(len(s.at)-1)] }
