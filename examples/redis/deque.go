package main

// Lists: values in a ring, so that both ends are cheap.

// deque is a list. Item i is at (head+i) mod len(ring); len(ring) is a power of two.
type deque struct {
	ring    [][]byte
	head, n int
}

func (d *deque) len() int { return d.n }

func (d *deque) place(i int) *[]byte { return &d.ring[(d.head+i)&(len(d.ring)-1)] }

func (d *deque) at(i int) []byte { return *d.place(i) }

func (d *deque) pushBack(v []byte) {
	d.resize(d.n + 1)
	d.n++
	*d.place(d.n - 1) = v
}

func (d *deque) pushFront(v []byte) {
	d.resize(d.n + 1)
	d.head = (d.head - 1) & (len(d.ring) - 1)
	d.n++
	*d.place(0) = v
}

func (d *deque) popFront() []byte {
	v := d.at(0)
	*d.place(0) = nil
	d.head = (d.head + 1) & (len(d.ring) - 1)
	d.n--
	d.resize(d.n)
	return v
}

func (d *deque) popBack() []byte {
	v := d.at(d.n - 1)
	*d.place(d.n - 1) = nil
	d.n--
	d.resize(d.n)
	return v
}

// resize makes room for n values, and shrinks the ring when it is more than eight times too large.
func (d *deque) resize(n int) {
	size := max(4, len(d.ring))
	if n > size {
		size *= 2
	} else if size > 16 && n < size/8 {
		size /= 2
	}
	if size == len(d.ring) {
		return
	}
	ring := make([][]byte, size)
	for i := range d.n {
		ring[i] = d.at(i)
	}
	d.ring, d.head = ring, 0
}

// all returns the values, fill has the list hold others.
func (d *deque) all() [][]byte {
	all := make([][]byte, d.n)
	for i := range all {
		all[i] = d.at(i)
	}
	return all
}

func (d *deque) fill(all [][]byte) {
	*d = deque{}
	for _, v := range all {
		d.pushBack(v)
	}
}
