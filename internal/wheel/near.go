package wheel

// The timers that are near: a list, and a heap for those that come out of order.

// near orders the timers of the current tick and earlier, by (deadline, sequence). Most timers are inserted in about the
// order in which they will fire, such as a burst of timers without delay. These are in the run, a sorted list that is
// compared and changed at its end only. The other timers are in a binary heap, in which each timer knows its position.
// Any timer can be removed from either.
type near struct {
	count    int          // the number of timers in run and heap
	earliest *node        // the earliest timer of run and heap; nil when count is 0
	run      list         // the sorted list; gets a timer that comes while near is empty; may be empty while the heap has timers
	heap     []*heapPiece // a binary heap by earlier; it grows and shrinks by pieces, so that no step copies it
	heaped   int          // the number of timers in the heap
}

type heapPiece [heapNodes]*node

const (
	// runSteps is the number of timers that a new one may pass on its way from the end of the run to its place. That is
	// enough for goroutines that read the clock in one order and insert in another, and costs other timers little.
	runSteps = 4

	// heapNodes is the number of timers in a piece of the heap. A spare piece is kept, so that a heap that keeps its size does
	// not allocate.
	heapNodes = 256
)

// push adds a timer that is in no list.
func (q *near) push(s *slab, n *node) {
	q.count++
	if q.count == 1 {
		n.setWhere(inRun)
		q.run.start(n)
		q.earliest = n
		return
	}
	if earlier(n, q.earliest) {
		q.earliest = n
	}
	after := q.run.tail
	for steps := 0; after != none; steps++ {
		p := s.at(after)
		if !earlier(n, p) {
			break
		}
		if steps == runSteps {
			// The last timer of the run moves to the heap, too. Otherwise a few timers with late deadlines, inserted early,
			// would keep all others out of the run.
			last := s.at(q.run.tail)
			q.run.unlink(s, last)
			q.pushHeap(last)
			q.pushHeap(n)
			return
		}
		after = p.prev
	}
	n.setWhere(inRun)
	q.run.insert(s, after, n)
}

// remove removes a timer that is in near.
func (q *near) remove(s *slab, n *node) {
	q.count--
	if n.where() == inRun {
		q.run.unlink(s, n)
	} else {
		q.removeHeap(int(n.next))
	}
	if n != q.earliest {
		return
	}
	q.earliest = nil
	if q.heaped > 0 {
		q.earliest = q.at(0)
	}
	if q.count > q.heaped {
		if head := s.at(q.run.head); q.earliest == nil || earlier(head, q.earliest) {
			q.earliest = head
		}
	}
}

// removeHeap removes the timer at position pos of the heap.
func (q *near) removeHeap(pos int) {
	q.heaped--
	last := q.heaped
	moved := q.at(last)
	q.heap[uint(last)/heapNodes][uint(last)%heapNodes] = nil // the node's block may be released
	if pos < last {
		if pos > 0 && earlier(moved, q.at((pos-1)/2)) {
			q.up(pos, moved)
		} else {
			q.down(pos, moved)
		}
	}
	if spare := len(q.heap) - 1; spare > 0 && last <= (spare-1)*heapNodes { // so another piece is spare
		q.heap[spare] = nil
		if q.heap = q.heap[:spare]; spare == 1 {
			q.heap = []*heapPiece{q.heap[0]}
		}
	}
}

// pushHeap puts a timer into the heap.
func (q *near) pushHeap(n *node) {
	n.setWhere(inHeap)
	if q.heaped == len(q.heap)*heapNodes {
		q.heap = append(q.heap, new(heapPiece))
	}
	q.heaped++
	q.up(q.heaped-1, n)
}

// up puts n at position pos of the heap, or moves it towards the root.
func (q *near) up(pos int, n *node) {
	for pos > 0 {
		parent := (pos - 1) / 2
		p := q.at(parent)
		if !earlier(n, p) {
			break
		}
		q.set(pos, p)
		pos = parent
	}
	q.set(pos, n)
}

// down puts n at position pos of the heap, or moves it towards the leaves.
func (q *near) down(pos int, n *node) {
	for {
		child := 2*pos + 1
		if child >= q.heaped {
			break
		}
		c := q.at(child)
		if right := child + 1; right < q.heaped {
			if r := q.at(right); earlier(r, c) {
				child, c = right, r
			}
		}
		if !earlier(c, n) {
			break
		}
		q.set(pos, c)
		pos = child
	}
	q.set(pos, n)
}

func (q *near) at(pos int) *node { return q.heap[uint(pos)/heapNodes][uint(pos)%heapNodes] }

func (q *near) set(pos int, n *node) {
	q.heap[uint(pos)/heapNodes][uint(pos)%heapNodes] = n
	n.next = uint32(pos)
}

// earlier reports whether a fires before b.
func earlier(a, b *node) bool {
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return a.bits < b.bits // by seq, which no other timer has
}
