package inbox

// What tests need of the package, and nothing else does.

// Clean tells whether no slot outside of what is queued holds a function.
func (q *Queue) Clean() bool {
	for c := q.head; c != nil; c = c.next {
		for i, fn := range c.fns {
			used := c.end
			if c == q.tail {
				used = q.written
			}
			unread := i < used && (c != q.head || i >= int(q.read))
			if (fn != nil) != unread {
				return false
			}
		}
	}
	return true
}

// Chunks is how many chunks the queue holds.
func (q *Queue) Chunks() (n int) {
	for c := q.head; c != nil; c = c.next {
		n++
	}
	return n
}

func (b *Inbox) Clean() bool { return b.lane.Clean() }
