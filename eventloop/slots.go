package eventloop

// Slots: a table in which an event finds the registration of its descriptor without a search.

// registration is one watched descriptor, from RegisterFD to UnregisterFD.
type registration struct {
	events   IOEvents       // that were asked for
	tag      uint32         // events carry it, and not the descriptor's number, which may be closed and used again
	fd       int            // for log records
	callback func(IOEvents) // nil in a slot that is free
}

// slots has each registration at its tag modulo the length of the table, which is a power of two. Tags count up, and skip
// those whose slots are taken. So no two tags in use have the same slot, also when the length is doubled.
// A slot is soon used again. A tag is used again only when the counter has gone through all numbers, long after the last
// event that carried the tag. slots is changed with both descriptors.mu and descriptors.look held, so a reader needs only
// one of them.
type slots struct {
	at    []registration // nil before the first registration
	taken int
	last  uint32 // the last tag that was given
}

// leastSlots is the smallest table.
const leastSlots = 4

// next returns the tag for a registration that is about to be put; there must be room for it. It skips tags whose slots are
// taken. At least a quarter of the slots is free, so this takes a few looks on average.
func (s *slots) next() uint32 {
	s.last++
	for s.slot(s.last).callback != nil {
		s.last++
	}
	return s.last
}

// larger returns a larger copy of the table, or nil if the table has room for one more registration.
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

// put stores a registration in the slot of its tag. next must have returned the tag since the last change.
func (s *slots) put(r registration) {
	*s.slot(r.tag) = r
	s.taken++
}

// find returns the registration that has the tag, or nil. The pointer is valid until slots changes.
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

// remove frees the slot of a registration, and the memory of a large table if that was the last registration.
func (s *slots) remove(tag uint32) {
	*s.slot(tag) = registration{}
	if s.taken--; s.taken == 0 && len(s.at) > leastSlots {
		s.at = nil
	}
}

func (s *slots) slot(tag uint32) *registration { return &s.at[int(tag)&(len(s.at)-1)] }
