package eventloop

// Slots: a table in which an event finds the registration of its descriptor without a search.

import (
	"iter"
	"math/bits"
)

// registration is one watched descriptor, from RegisterFD to UnregisterFD.
type registration struct {
	events   IOEvents       // that were asked for
	tag      uint32         // events carry it, and not the descriptor's number, which may be closed and used again
	fd       int            // the descriptor; no two registrations have the same
	callback func(IOEvents) // nil in a slot that is free
}

// slots has each registration at its tag modulo the length of the table, which is a power of two. Tags count up, and skip those
// whose slots are taken. So no two tags in use have the same slot, also when the length is doubled. Where a smaller table has
// replaced one, they may; then all but one of them are elsewhere, see seat. A slot is soon used again. A tag is used again only
// when the counter has gone through all numbers, long after the last event that carried the tag. slots is changed with both
// descriptors.mu and descriptors.look held, so a reader needs only one of them.
type slots struct {
	at    []registration // nil before the first registration
	fds   []uint32       // a hash table, open-addressed and as long as at: the index in at, plus one, by descriptor; 0 is free
	taken int
	last  uint32 // the last tag that was given
	far   int    // the last seat that a registration may have
}

// leastSlots is the smallest table.
const leastSlots = 4

// next returns the tag for a registration that is about to be put; there must be room for it. It skips tags whose slots are
// taken. At least a quarter of the slots is free, so this takes a few looks on average.
func (s *slots) next() uint32 {
	s.last++
	for s.seat(s.last, 0).callback != nil || s.far > 0 && s.find(s.last) != nil {
		s.last++
	}
	return s.last
}

// grown returns a larger copy of the table, or nil if the table has room for one more registration.
func (s *slots) grown() *slots {
	if 4*(s.taken+1) <= 3*len(s.at) {
		return nil
	}
	return s.resized(max(leastSlots, 2*len(s.at)))
}

// shrunk returns a smaller copy of the table, or nil if the table is not far larger than its registrations need.
func (s *slots) shrunk() *slots {
	if len(s.at) == leastSlots || 16*s.taken > len(s.at) {
		return nil
	}
	n := leastSlots
	for 3*n < 8*s.taken {
		n *= 2
	}
	return s.resized(n)
}

// resized returns a copy of the table with n slots.
func (s *slots) resized(n int) *slots {
	to := &slots{at: make([]registration, n), fds: make([]uint32, n), last: s.last}
	for r := range s.all() {
		to.put(r)
	}
	return to
}

// all yields every registration.
func (s *slots) all() iter.Seq[registration] {
	return func(yield func(registration) bool) {
		for _, r := range s.at {
			if r.callback != nil && !yield(r) {
				return
			}
		}
	}
}

// put stores a registration in the first seat of its tag that is free.
func (s *slots) put(r registration) {
	seat := 0
	for s.seat(r.tag, seat).callback != nil {
		seat++
	}
	s.far = max(s.far, seat)
	i := s.index(r.tag, seat)
	s.at[i] = r
	s.fds[s.place(r.fd)] = uint32(i) + 1
	s.taken++
}

// find returns the registration that has the tag, or nil. The pointer is valid until slots changes.
func (s *slots) find(tag uint32) *registration {
	if len(s.at) == 0 {
		return nil
	}
	for seat := 0; seat <= s.far; seat++ {
		if r := s.seat(tag, seat); r.tag == tag && r.callback != nil {
			return r
		}
	}
	return nil
}

// of returns the registration of a descriptor, or nil. The pointer is valid until slots changes.
func (s *slots) of(fd int) *registration {
	if len(s.at) == 0 {
		return nil
	}
	if i := s.fds[s.place(fd)]; i != 0 {
		return &s.at[i-1]
	}
	return nil
}

// remove frees the slot of a registration.
func (s *slots) remove(tag uint32) {
	r := s.find(tag)
	s.forget(r.fd)
	*r = registration{}
	s.taken--
}

// forget frees the place of a descriptor in fds, and moves those behind it that searches would not find any more.
func (s *slots) forget(fd int) {
	free, last := s.place(fd), len(s.fds)-1
	for i := (free + 1) & last; s.fds[i] != 0; i = (i + 1) & last {
		if home := s.home(s.at[s.fds[i]-1].fd); (i-home)&last >= (i-free)&last {
			s.fds[free] = s.fds[i]
			free = i
		}
	}
	s.fds[free] = 0
}

// place returns where in fds a descriptor is, or else the free place where it is to be put.
func (s *slots) place(fd int) int {
	i := s.home(fd)
	for s.fds[i] != 0 && s.at[s.fds[i]-1].fd != fd {
		i = (i + 1) & (len(s.fds) - 1)
	}
	return i
}

// home returns where in fds the search for a descriptor begins.
func (s *slots) home(fd int) int { return s.scatter(uint32(fd)) }

// seat returns one of the slots that are for a tag. The first is its own. The others are all over the table: tags that count
// up leave long rows of taken slots, and behind one of them is no place for another.
func (s *slots) seat(tag uint32, n int) *registration { return &s.at[s.index(tag, n)] }

func (s *slots) index(tag uint32, seat int) int {
	if seat == 0 {
		return int(tag) & (len(s.at) - 1)
	}
	return s.scatter(tag + uint32(seat)*0x85EBCA6B) // odd, so each slot has its turn
}

// scatter returns a slot for a number: a different one for numbers that are close, or regular.
func (s *slots) scatter(n uint32) int {
	return int(n * 0x9E3779B1 >> (bits.LeadingZeros32(uint32(len(s.at))) + 1))
}
