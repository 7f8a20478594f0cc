package looptest

// The descriptors of one check: made in pairs, recorded, and closed when the loops of the check have ended.

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// belongings are a trial's descriptors. Their methods may be called from any goroutine, callbacks included.
type belongings struct {
	mu     sync.Mutex    // guards all below
	open   map[int]bool  // open descriptors of the check
	vacant map[int]bool  // numbers that the check has closed and reserves for itself
	ready  []int         // unused reading ends of pipes that hold a byte for ever
	lent   map[int]*loop // reading ends in use, by the loop that uses them
}

// adopt records a fresh pair. Where numbers can be chosen it first moves the pair above the numbers that the system gives
// out by itself.
func (b *belongings) adopt(pair [2]int, err error) (near, far int, _ error) {
	if err != nil {
		return -1, -1, err
	}
	if !canChooseNumbers {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.keep(pair[0])
		b.keep(pair[1])
		return pair[0], pair[1], nil
	}
	for i, fd := range pair {
		moved, err := b.double(fd)
		if err = errors.Join(err, closeDescriptor(fd)); err != nil {
			return -1, -1, err
		}
		pair[i] = moved
	}
	return pair[0], pair[1], nil
}

// double returns a duplicate of fd with a number that the check has not reserved.
func (b *belongings) double(fd int) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, err := duplicate(fd, aside)
	for err == nil && b.vacant[d] {
		taken := d
		d, err = duplicate(fd, taken+1)
		err = errors.Join(err, closeDescriptor(taken))
	}
	if err == nil {
		b.keep(d)
	}
	return d, err
}

// keep records an open number. The caller holds mu.
func (b *belongings) keep(fd int) {
	if b.open == nil {
		b.open, b.vacant, b.lent = map[int]bool{}, map[int]bool{}, map[int]*loop{}
	}
	b.open[fd] = true
	delete(b.vacant, fd)
}

// close closes a descriptor before the check is over.
func (b *belongings) close(fd int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open[fd] {
		return errBadDescriptor // the check is over: the number may have another owner
	}
	delete(b.open, fd)
	b.vacant[fd] = true
	return closeDescriptor(fd)
}

// move renumbers fd to the number to, which the check has closed, and frees the number fd.
func (b *belongings) move(fd, to int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, fd)
	b.keep(to)
	return moveTo(fd, to)
}

// reopen closes fd and gives its number to the near end of a fresh pair of sockets. It returns the far end.
func (b *belongings) reopen(fd int) (far int, err error) {
	near, far, err := b.adopt(newSockets())
	if err != nil {
		return -1, err
	}
	if err := b.close(fd); err != nil {
		return -1, err
	}
	return far, b.move(near, fd)
}

// lend returns a descriptor that is always ready for reading, for use by l until giveBack or until l has ended.
func (b *belongings) lend(l *loop) (int, error) {
	b.mu.Lock()
	if n := len(b.ready); n > 0 {
		defer b.mu.Unlock()
		fd := b.ready[n-1]
		b.ready, b.lent[fd] = b.ready[:n-1], l
		return fd, nil
	}
	b.mu.Unlock()
	near, far, err := b.adopt(newPipe())
	if err != nil {
		return -1, err
	}
	_, err = write(far, []byte{0})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lent[near] = l
	delete(b.open, far) // the byte stays readable without the far end, which would take up a descriptor
	return near, errors.Join(err, closeDescriptor(far))
}

func (b *belongings) giveBack(fd int, l *loop) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lent[fd] == l {
		delete(b.lent, fd)
		b.ready = append(b.ready, fd)
	}
}

// giveAllBack gives back all that l uses, when l has ended.
func (b *belongings) giveAllBack(l *loop) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for fd, owner := range b.lent {
		if owner == l {
			delete(b.lent, fd)
			b.ready = append(b.ready, fd)
		}
	}
}

func (b *belongings) closeAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for fd := range b.open {
		_ = closeDescriptor(fd)
	}
	b.open, b.vacant, b.ready, b.lent = nil, nil, nil, nil
}

// numbers returns the numbers of the check's open descriptors.
func (b *belongings) numbers() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.open))
}

// choosesNumbers ends the check as not applicable where the number of a descriptor cannot be chosen.
func (t *trial) choosesNumbers() {
	if !canChooseNumbers {
		t.notApplicable("descriptor numbers cannot be chosen on this system")
	}
}

// link is a connected pair: the loop watches near, the check holds far.
type link struct {
	t         *trial
	near, far int
}

func (t *trial) sockets() link { return t.linked(newSockets()) }

// pipe returns a pipe whose reading end is near.
func (t *trial) pipe() link { return t.linked(newPipe()) }

func (t *trial) linked(pair [2]int, err error) link {
	near, far, err := t.fds.adopt(pair, err)
	t.must("making a pair of descriptors", err)
	return link{t, near, far}
}

// readyLink is a pair whose near end has a byte to read.
func (t *trial) readyLink() link {
	s := t.sockets()
	s.send()
	return s
}

// send makes near readable.
func (s link) send() {
	if n, err := write(s.far, []byte{1}); n != 1 || err != nil {
		s.t.Errorf("writing to the far end of a pair of descriptors: %d bytes, %v", n, err)
	}
}

// take gives near the number, which the check has closed. It does nothing where numbers cannot be chosen.
func (s *link) take(number int) {
	if !canChooseNumbers {
		return
	}
	s.t.must("using a descriptor number again", s.t.fds.move(s.near, number))
	s.near = number
}

// drain reads until fd holds no more bytes.
func drain(fd int) error {
	var buf [4096]byte
	for {
		if n, err := read(fd, buf[:]); n == 0 {
			return err
		}
	}
}

// empty waits for the byte that was sent and reads all that near holds.
func (s link) empty() {
	var buf [1]byte
	_, err := s.arrival(s.near, buf[:])
	s.t.must("emptying a socket", errors.Join(err, drain(s.near)))
}

// arrival reads bytes written at the other end. Where bytes travel it waits for them.
func (s link) arrival(fd int, buf []byte) (n int, err error) {
	s.t.reaches(func() bool {
		n, err = read(fd, buf)
		return n > 0 || err != nil || !bytesTravel
	})
	return n, err
}

// fill writes until no byte fits. Where bytes travel it goes on until many tries in a row have found no room.
func fill(fd int) error {
	const most = 200
	var buf [4096]byte
	for vain := 0; ; {
		switch n, err := write(fd, buf[:]); {
		case n > 0:
			vain = 0
		case err != nil || !bytesTravel || vain == most:
			return err
		default:
			vain++
			time.Sleep(time.Millisecond)
		}
	}
}

// alive checks that both ends are open and connected.
func (s link) alive(when string) {
	_ = drain(s.near)
	_ = drain(s.far)
	var buf [8]byte
	for _, way := range [][2]int{{s.far, s.near}, {s.near, s.far}} {
		if _, err := write(way[0], []byte{7}); err != nil {
			s.t.Errorf("%s the user's descriptor is not usable any more: %v", when, err)
		} else if n, err := s.arrival(way[1], buf[:]); n != 1 || err != nil || buf[0] != 7 {
			s.t.Errorf("%s the user's descriptor reads %d bytes and %v, want the byte that was written", when, n, err)
		}
	}
}
