package wheel

// The memory of timers: nodes in blocks, and the ids that name them.

import (
	"math"
	"math/bits"
)

// An id is generation<<indexBits | index. The index says where the timer's node is. The generation grows by one each
// time the node is released, so that an old id does not name the node's next timer. The 36 bits of generation can be used
// up: in about half an hour by an insertion per 25 ns, all of them on one node. They must not wrap, so a node whose
// generations are used up is never used again; that costs its few bytes once per 2^36 insertions. The generation 0 marks
// such a node. No timer has it, so 0 is no timer's id.
const (
	indexBits  = 28
	indexMask  = 1<<indexBits - 1
	blockBits  = 6
	blockNodes = 1 << blockBits

	// pieceEntries is the number of entries of a piece of the directory. The directory grows by pieces, so that no Insert
	// copies all entries that there are.
	pieceEntries = 16
)

// spareBlocks is the number of blocks without a timer that are kept. While the number of timers varies by less than these
// blocks hold, nothing is allocated.
const spareBlocks = 1

// When no timer is left, a directory of more than a piece is dropped, and its memory is freed. The next directory begins
// at a generation that no node has used, which skips generations of the nodes that were used less. So the directory is
// dropped only while that generation is below lowGenerations: no node then loses more than half of its generations.
const lowGenerations = 1 << (63 - indexBits)

// none stands for no index.
const none = math.MaxUint32

// node is the memory of one timer, or idle. Lists link nodes by index, so that the garbage collector follows one pointer
// per timer only.
type node struct {
	fn         func()
	deadline   int64  // in nanoseconds
	id         uint64 // the id of the timer; while the node is idle, the id of its next timer
	bits       uint64 // from the highest: seq, ref, tier, where
	next, prev uint32 // the neighbours in a list, or none; in the heap, next is the position
}

// The fields of node.bits. The 51 bits of seq last for 70 years of a million insertions per second. If they wrap, timers with
// equal deadlines lose their order.
const (
	whereMask = 1<<10 - 1
	tierShift = 10
	refBit    = 1 << 12
	seqShift  = 13
)

func (n *node) where() uint16     { return uint16(n.bits & whereMask) }
func (n *node) setWhere(w uint16) { n.bits = n.bits&^whereMask | uint64(w) }
func (n *node) tier() Tier        { return Tier(n.bits >> tierShift & 3) }
func (n *node) ref() bool         { return n.bits&refBit != 0 }
func (n *node) seq() uint64       { return n.bits >> seqShift }

// The values of node.where; in level l and slot s it is inSlots + l*slotCount + s.
const (
	idle uint16 = iota // no timer is here
	inRun
	inHeap
	inSlots
)

func (n *node) index() uint32 { return uint32(n.id & indexMask) }

// block is the unit in which nodes are allocated and freed. It is small, so that a wheel with one timer is small.
type block struct {
	nodes      [blockNodes]node
	free       uint64 // bit i: nodes[i] can be used
	live       int    // timers in the block; fewer than the zero bits of free if generations are used up
	next, prev *block // the neighbours in slab.room
}

// highest returns the highest generation of the nodes; false if one has used up its generations.
func (b *block) highest() (generation uint64, ok bool) {
	for i := range b.nodes {
		g := b.nodes[i].id >> indexBits
		if g == 0 {
			return 0, false
		}
		generation = max(generation, g)
	}
	return generation, true
}

// slab allocates and releases nodes.
type slab struct {
	directory []*[pieceEntries]entry
	entries   uint32 // the number of entries in use, which are the first ones
	room      *block // list of the blocks with a bit in free
	spare     *block // the block that grow will use; nil if grow must allocate one
	empty     int    // the number of blocks in room without a timer
	vacant    uint32 // number+1 of the first entry that can get a block again; 0 if there is none
	live      int    // the number of pending timers
	first     uint64 // the generation of a new entry, if it is not 1
	highest   uint64 // the highest generation of an entry that has lost a block
	usedUp    bool   // a node has used up its generations
}

// entry describes a block; its place in the directory is index>>blockBits. It outlives the block's memory.
type entry struct {
	block      *block // nil while there is none
	generation uint64 // without a block: the first generation that no node of the entry has used
	nextVacant uint32 // without a block: number+1 of the next entry without a block; 0 at the end
}

func (s *slab) entry(number uint32) *entry {
	return &s.directory[number/pieceEntries][number%pieceEntries]
}

// alloc returns an idle node with the id of the new timer. The caller must set where.
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

// release makes a node idle again, and frees its block if the block has no timer left and there are enough spare blocks.
func (s *slab) release(b *block, n *node) {
	i := n.index()
	n.fn = nil
	n.setWhere(idle)
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
	if s.live == 0 && s.entries > pieceEntries {
		s.beginAnew()
	}
}

// find returns the node of the pending timer with the id, and its block; or nil.
func (s *slab) find(id uint64) (*block, *node) {
	i := uint32(id & indexMask)
	if i>>blockBits >= s.entries {
		return nil, nil
	}
	b := s.blockOf(i)
	if b == nil {
		return nil, nil
	}
	n := &b.nodes[i%blockNodes]
	if n.id != id || n.where() == idle {
		return nil, nil
	}
	return b, n
}

// at returns the node with an index that is in use.
func (s *slab) at(i uint32) *node { return &s.blockOf(i).nodes[i%blockNodes] }

func (s *slab) blockOf(i uint32) *block { return s.entry(i >> blockBits).block }

// Most is the number of timers that may be pending. Only tests change it.
var Most = uint32(1 << indexBits)

// full tells whether the slab has no room for a timer, and cannot grow.
func (s *slab) full() bool { return s.room == nil && s.vacant == 0 && s.entries >= Most/blockNodes }

// grow adds a block to room and returns it.
func (s *slab) grow() *block {
	number := s.vacant - 1
	if s.vacant != 0 {
		s.vacant = s.entry(number).nextVacant
	} else {
		number = s.entries
		if s.full() {
			panic("wheel: too many timers")
		}
		if number%pieceEntries == 0 {
			s.directory = append(s.directory, new([pieceEntries]entry))
		}
		s.entries++
		s.entry(number).generation = max(s.first, 1)
	}
	e := s.entry(number)
	b := s.spare
	if s.spare = nil; b == nil {
		b = new(block)
	}
	b.free = 1<<blockNodes - 1
	for i := range b.nodes {
		b.nodes[i].id = e.generation<<indexBits | uint64(number)<<blockBits | uint64(i)
	}
	e.block = b
	s.empty++
	s.enterRoom(b)
	return b
}

// discard frees the memory of a block that holds no timers and is not in room. The entry's next block begins with the
// highest generation of these nodes; if a node has used up its generations, the entry gets no other block.
func (s *slab) discard(number uint32) {
	e := s.entry(number)
	highest, ok := e.block.highest()
	e.block = nil
	if !ok {
		s.usedUp = true
		return
	}
	e.generation = max(e.generation, highest)
	s.highest = max(s.highest, e.generation)
	e.nextVacant = s.vacant
	s.vacant = number + 1
}

// beginAnew gives up the directory of a slab that holds no timers. One of the blocks in room becomes the spare block.
func (s *slab) beginAnew() {
	if s.usedUp {
		return // not every generation is known
	}
	first := max(s.first, s.highest)
	for b := s.room; b != nil; b = b.next { // all blocks that there are
		highest, ok := b.highest()
		if !ok {
			return
		}
		first = max(first, highest)
	}
	if first >= lowGenerations {
		return
	}
	for s.room != nil {
		s.spare = s.room
		s.leaveRoom(s.room)
	}
	s.directory, s.entries, s.vacant, s.empty, s.first = nil, 0, 0, 0, first
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
