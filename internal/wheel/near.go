package wheel

// near is a binary heap of the timers of the current tick and earlier, by (deadline, sequence). Each timer knows its
// position, so that any of them can be removed.
type near []*node

// nearKept is the capacity that near keeps whatever its length.
const nearKept = 256

func (h *near) push(n *node) {
	*h = append(*h, n)
	h.up(len(*h)-1, n)
}

// remove takes out the timer at position pos.
func (h *near) remove(pos int) {
	last := len(*h) - 1
	moved := (*h)[last]
	(*h)[last] = nil // the node's block may be released
	*h = (*h)[:last]
	if pos < last {
		if pos > 0 && earlier(moved, (*h)[(pos-1)/2]) {
			h.up(pos, moved)
		} else {
			h.down(pos, moved)
		}
	}
	// Halve at a quarter, so that a burst's memory goes as the burst goes and no sequence of operations reallocates
	// more often than once per as many operations as it copies.
	if c := cap(*h); c > nearKept && last < c/4 {
		*h = append(make(near, 0, c/2), *h...)
	}
}

// up puts n at position pos or above.
func (h *near) up(pos int, n *node) {
	for pos > 0 {
		parent := (pos - 1) / 2
		if !earlier(n, (*h)[parent]) {
			break
		}
		h.set(pos, (*h)[parent])
		pos = parent
	}
	h.set(pos, n)
}

// down puts n at position pos or below.
func (h *near) down(pos int, n *node) {
	for {
		child := 2*pos + 1
		if child >= len(*h) {
			break
		}
		if right := child + 1; right < len(*h) && earlier((*h)[right], (*h)[child]) {
			child = right
		}
		if !earlier((*h)[child], n) {
			break
		}
		h.set(pos, (*h)[child])
		pos = child
	}
	h.set(pos, n)
}

func (h *near) set(pos int, n *node) {
	(*h)[pos] = n
	n.pos = uint32(pos)
}

// earlier is the order in which timers fire.
func earlier(a, b *node) bool {
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return a.seq < b.seq
}
