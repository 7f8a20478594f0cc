package wheel

// near orders the timers of the current tick and earlier, by (deadline, sequence). Most timers come in about the order
// in which they will fire, a burst of timers without delay above all: those make up the run, a sorted list in which
// nothing is compared or moved but at its end. The others are in the heap, a binary one in which each timer knows its
// position. Any timer can be removed from either.
type near struct {
	count    int   // timers in run and heap
	earliest *node // of both; nil when there is none
	run      list  // has a timer before the heap has one; may have none thereafter
	heap     []*node
}

const (
	// runSteps is how many timers a new one may pass at the end of the run, on its way to its place there. That is enough
	// for goroutines that read the clock in one order and insert in another, and costs others little.
	runSteps = 4

	// heapKept is the capacity that the heap keeps whatever its length.
	heapKept = 256
)

func (q *near) push(s *slab, n *node) {
	q.count++
	if q.count == 1 {
		n.where = inRun
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
			// The last one goes too: a few that came long before their time would else keep all others out of the run.
			last := s.at(q.run.tail)
			q.run.unlink(s, last)
			q.pushHeap(last)
			q.pushHeap(n)
			return
		}
		after = p.prev
	}
	n.where = inRun
	q.run.insert(s, after, n)
}

// remove takes out a timer that is in near.
func (q *near) remove(s *slab, n *node) {
	q.count--
	if n.where == inRun {
		q.run.unlink(s, n)
	} else {
		q.removeHeap(int(n.pos))
	}
	if n != q.earliest {
		return
	}
	q.earliest = nil
	if len(q.heap) > 0 {
		q.earliest = q.heap[0]
	}
	if q.count > len(q.heap) {
		if head := s.at(q.run.head); q.earliest == nil || earlier(head, q.earliest) {
			q.earliest = head
		}
	}
}

// removeHeap takes out the timer at position pos of the heap.
func (q *near) removeHeap(pos int) {
	last := len(q.heap) - 1
	moved := q.heap[last]
	q.heap[last] = nil // the node's block may be released
	q.heap = q.heap[:last]
	if pos < last {
		if pos > 0 && earlier(moved, q.heap[(pos-1)/2]) {
			q.up(pos, moved)
		} else {
			q.down(pos, moved)
		}
	}
	// Halve at a quarter, so that a burst's memory goes as the burst goes and no sequence of operations reallocates
	// more often than once per as many operations as it copies.
	if c := cap(q.heap); c > heapKept && last < c/4 {
		q.heap = append(make([]*node, 0, c/2), q.heap...)
	}
}

// pushHeap puts a timer into the heap.
func (q *near) pushHeap(n *node) {
	n.where = inHeap
	q.heap = append(q.heap, n)
	q.up(len(q.heap)-1, n)
}

// up puts n at position pos of the heap or above.
func (q *near) up(pos int, n *node) {
	for pos > 0 {
		parent := (pos - 1) / 2
		if !earlier(n, q.heap[parent]) {
			break
		}
		q.set(pos, q.heap[parent])
		pos = parent
	}
	q.set(pos, n)
}

// down puts n at position pos of the heap or below.
func (q *near) down(pos int, n *node) {
	for {
		child := 2*pos + 1
		if child >= len(q.heap) {
			break
		}
		if right := child + 1; right < len(q.heap) && earlier(q.heap[right], q.heap[child]) {
			child = right
		}
		if !earlier(q.heap[child], n) {
			break
		}
		q.set(pos, q.heap[child])
		pos = child
	}
	q.set(pos, n)
}

func (q *near) set(pos int, n *node) {
	q.heap[pos] = n
	n.pos = uint32(pos)
}

// earlier is the order in which timers fire.
func earlier(a, b *node) bool {
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return a.seq < b.seq
}
