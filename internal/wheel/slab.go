package wheel

import (
	"math"
	"math/bits"
)

// An id is generation<<indexBits | index. The index says where the timer's node is; the generation grows by one each
// time the node is given back, so that an old id does not name the node's next timer. At one insertion per 25 ns, all
// of them on one node, 36 bits of generation last for about half an hour. So they must not wrap: a node whose
// generations are used up is never used again, which costs its few bytes once per 2^36 insertions. The generation 0 is
// never given out; it marks such a node, and makes 0 an id that names nothing.
const (
	indexBits  = 28
	indexMask  = 1<<indexBits - 1
	blockBits  = 6
	blockNodes = 1 << blockBits
	maxBlocks  = 1 << (indexBits - blockBits)
)

// spareBlocks is the number of blocks without a timer that are kept, so that a load that swings by less than they hold
// does not allocate.
const spareBlocks = 1

// none is no index.
const none = math.MaxUint32

// node is the memory of one timer, or of none. Lists link nodes by index: the garbage collector then has one pointer
// to follow per timer.
type node struct {
	fn         func()
	deadline   int64
	seq        uint64
	id         uint64 // of the timer that is here, or of the next one that will be
	next, prev uint32 // in a list: the neighbours
	pos        uint32 // in the heap: the position
	where      uint16
	tier       Tier
	ref        bool
}

// The values of node.where; in level l and slot s it is inSlots + l*slotCount + s.
const (
	idle uint16 = iota // no timer is here
	inRun
	inHeap
	inSlots
)

func (n *node) index() uint32 { return uint32(n.id & indexMask) }

// block is the unit in which nodes are allocated and let go. It is small, so that a wheel with one timer is.
type block struct {
	nodes      [blockNodes]node
	free       uint64 // bit i: nodes[i] can be used
	live       int    // timers in the block; less than the bits missing in free when nodes are used up
	next, prev *block // in slab.room
}

// slab hands out nodes.
type slab struct {
	directory []entry
	room      *block // list of the blocks with a bit in free
	empty     int    // blocks in room without a timer
	vacant    int    // list of the entries without a block that can have one: number+1, 0 ends it
	live      int    // pending timers
}

// entry is what is known of a block, by index>>blockBits. It outlives the block's memory.
type entry struct {
	block      *block
	generation uint64 // without a block: the first that its nodes have not used
	nextVacant int
}

// alloc returns an idle node, whose id is that of the new timer. The caller must set where.
func (s *slab) alloc() *node {
	b := s.room
	if b == nil {
		b = s.grow()
	}
	i := bits.TrailingZeros64(b.free) % blockNodes
	b.free &= b.free - 1
	if b.free == 0 {
		s.leaveRoom(b)
	}
	if b.live == 0 {
		s.empty--
	}
	b.live++
	s.live++
	return &b.nodes[i]
}

// release makes a node idle again, and lets its block go if there are enough spare ones.
func (s *slab) release(n *node) {
	i := n.index()
	b := s.directory[i>>blockBits].block
	n.fn = nil
	n.where = idle
	n.id += 1 << indexBits
	if n.id>>indexBits != 0 {
		if b.free == 0 {
			s.enterRoom(b)
		}
		b.free |= 1 << (i % blockNodes)
	}
	s.live--
	b.live--
	switch {
	case b.live > 0:
	case b.free == 0:
		s.discard(i >> blockBits)
	case s.empty == spareBlocks:
		s.leaveRoom(b)
		s.discard(i >> blockBits)
	default:
		s.empty++
	}
}

// find returns the node of a pending timer, or nil.
func (s *slab) find(id uint64) *node {
	i := uint32(id & indexMask)
	if int(i>>blockBits) >= len(s.directory) {
		return nil
	}
	b := s.directory[i>>blockBits].block
	if b == nil {
		return nil
	}
	n := &b.nodes[i%blockNodes]
	if n.id != id || n.where == idle {
		return nil
	}
	return n
}

// at returns the node of an index that is in use.
func (s *slab) at(i uint32) *node {
	return &s.directory[i>>blockBits].block.nodes[i%blockNodes]
}

// grow adds a block to room.
func (s *slab) grow() *block {
	number := s.vacant - 1
	if number >= 0 {
		s.vacant = s.directory[number].nextVacant
	} else {
		number = len(s.directory)
		if number == maxBlocks {
			panic("wheel: too many timers")
		}
		s.directory = append(s.directory, entry{generation: 1})
	}
	e := &s.directory[number]
	b := &block{free: 1<<blockNodes - 1}
	for i := range b.nodes {
		b.nodes[i].id = e.generation<<indexBits | uint64(number)<<blockBits | uint64(i)
	}
	e.block = b
	s.empty++
	s.enterRoom(b)
	return b
}

// discard lets the memory of a block go that holds no timers and is not in room. Its nodes will go on from the highest
// generation among them; if that is used up, the block does not come back.
func (s *slab) discard(number uint32) {
	e := &s.directory[number]
	for i := range e.block.nodes {
		g := e.block.nodes[i].id >> indexBits
		if g == 0 {
			e.block = nil
			return
		}
		e.generation = max(e.generation, g)
	}
	e.block = nil
	e.nextVacant = s.vacant
	s.vacant = int(number) + 1
}

func (s *slab) enterRoom(b *block) {
	b.next = s.room
	if b.next != nil {
		b.next.prev = b
	}
	s.room = b
}

func (s *slab) leaveRoom(b *block) {
	if b.prev == nil {
		s.room = b.next
	} else {
		b.prev.next = b.next
	}
	if b.next != nil {
		b.next.prev = b.prev
	}
	b.next, b.prev = nil, nil
}
