package threadlet

// The open descriptors of a loop: how they come to it, and how its end closes what is left.

import (
	"net"
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/eventloop"
)

// open gives fd to d, which owns it from now on. Any goroutine may call it. Once the loop is ending, open closes fd and
// returns ErrLoopTerminated. It adds d to the list before it asks whether the loop is ending: so either open sees the end,
// or the end finds d in the list.
func (s *scheduler) open(d *desc, fd int) error {
	d.s, d.fd = s, fd
	s.descs.add(d)
	if s.host.Ending() {
		s.descs.close(d)
		return eventloop.ErrLoopTerminated
	}
	return nil
}

// descs has the open descriptors of a loop; the end of the loop closes them. Any goroutine may use it.
type descs struct {
	mu    sync.Mutex   // guards first, and writes of n
	first *desc        // the list of all
	n     atomic.Int32 // how many are open; read without the lock
}

func (ds *descs) add(d *desc) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	d.open, d.next = true, ds.first
	if d.next != nil {
		d.next.prev = d
	}
	ds.first = d
	ds.n.Add(1)
}

// close closes d; it returns net.ErrClosed if the end of the loop has done so.
func (ds *descs) close(d *desc) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if !d.open {
		return net.ErrClosed
	}
	if d.next != nil {
		d.next.prev = d.prev
	}
	if d.prev != nil {
		d.prev.next = d.next
	} else {
		ds.first = d.next
	}
	d.open, d.prev, d.next = false, nil, nil
	ds.n.Add(-1)
	return sysClose(d.fd)
}

// end closes all descriptors that are open. The loop has ended, so nothing uses them any more.
func (ds *descs) end() {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for d := ds.first; d != nil; d = ds.first {
		d.gone = true
		if !d.closing.Swap(true) && d.listener != nil {
			d.listener.removeFile()
		}
		_ = sysClose(d.fd)
		ds.first = d.next
		d.open, d.prev, d.next = false, nil, nil
	}
}

// all returns the descriptors that are open.
func (ds *descs) all() []*desc {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	all := make([]*desc, 0, ds.n.Load())
	for d := ds.first; d != nil; d = d.next {
		all = append(all, d)
	}
	return all
}

// duplicate returns a duplicate of d's descriptor.
func (ds *descs) duplicate(d *desc) (fd int, err error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if !d.open || d.closing.Load() {
		return 0, net.ErrClosed
	}
	return sysDup(uintptr(d.fd))
}
