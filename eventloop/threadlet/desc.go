package threadlet

// Descriptors of sockets: who waits for one to be ready, until when, and how it is closed. What a connection and a listener
// make of it is in conn.go and listen.go.

import (
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// desc is a non-blocking socket of a loop. The loop alone touches it, but for what is said to be anybody's.
//
// It is registered when somebody waits for it first, and stays so: whoever waits again finds it watched. What it is ready
// for and nobody waits for would be told again and again; so that is not watched any more until somebody does.
type desc struct {
	s  *scheduler
	fd int

	in, out side
	watched eventloop.IOEvents // for what it is registered
	known   bool               // it is registered
	ready   func(eventloop.IOEvents)
	idle    func() // called instead of whoever waits to read, if nobody does
	called  bool   // so it was, and what it began has not run yet
	gone    bool   // closed, here
	listens bool   // it is a listener's
	unlink  string // a file that goes with it; whoever sets closing removes it

	closing  atomic.Bool // somebody, anywhere, has closed it
	signaled atomic.Bool // set by anybody, taken back by the wait that hears of it
}

// side is one direction.
type side struct {
	waiters  waitlist[call]
	only     waiter[call] // of whoever waits when nobody else does
	told     int          // waiters that the system's word has woken, and that have not run yet
	deadline atomic.Int64 // in nanoseconds since epoch, 0 for none; anybody's
	drained  bool         // the last read has left nothing: to be asked again when the system says so
	timer    eventloop.TimerID
}

// call is what a waiter brings.
type call struct {
	timer eventloop.TimerID // of the deadline; 0 for none
	told  bool              // it is one of the told
}

var epoch = time.Now()

func now() int64 { return int64(time.Since(epoch)) }

// instant returns a point of time in nanoseconds since epoch; 0 for the zero time, and for no other.
func instant(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	from, left := now(), int64(time.Until(at))
	if left > math.MaxInt64-from {
		return math.MaxInt64
	}
	return max(1, from+left)
}

// open makes a desc of a descriptor, which it owns from now on. Any goroutine may call it. A loop that is ending has none
// any more: what is added before it does so is found by its end, and what comes later is closed here.
func (s *scheduler) open(d *desc, fd int) error {
	d.s, d.fd = s, fd
	d.ready = d.tell
	s.descs.add(d)
	if s.host.Ending() {
		s.descs.close(d)
		return eventloop.ErrLoopTerminated
	}
	return nil
}

// descs are the open descriptors of a loop, which end with it.
type descs struct {
	mu   sync.Mutex
	open map[*desc]struct{}
	n    atomic.Int32 // of them, for those who look without the lock
}

func (ds *descs) add(d *desc) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.open == nil {
		ds.open = map[*desc]struct{}{}
	}
	ds.open[d] = struct{}{}
	ds.n.Add(1)
}

// close closes one that is open.
func (ds *descs) close(d *desc) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if _, is := ds.open[d]; !is {
		return net.ErrClosed // with the loop
	}
	ds.n.Add(-1)
	if delete(ds.open, d); len(ds.open) == 0 {
		ds.open = nil // and the memory that many took
	}
	return sysClose(d.fd)
}

// end closes what is open. Nobody uses it any more.
func (ds *descs) end() {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for d := range ds.open {
		d.gone = true
		if !d.closing.Swap(true) {
			d.removeFile()
		}
		_ = sysClose(d.fd)
	}
	ds.open = nil
}

func (d *desc) removeFile() {
	if d.unlink != "" {
		_ = os.Remove(d.unlink)
	}
}

// caller returns the calling threadlet if it may use the descriptor now.
func (d *desc) caller(sd *side) (*Threadlet, error) {
	t := Current()
	if t == nil || t.s != d.s {
		return nil, ErrNotThreadlet
	}
	if t.s.over && t.s.ops >= mostOps {
		return t, t.enter() // it has had its chance to say goodbye
	}
	return t, d.usable(sd)
}

func (d *desc) usable(sd *side) error {
	if d.closing.Load() {
		return net.ErrClosed
	}
	if at := sd.deadline.Load(); at != 0 && now() >= at {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// mostOps is how many operations in a row a threadlet has without a wait: a peer that never lets it wait keeps nobody else
// from anything, and the loop not from its end.
const mostOps = 64

// breathe is called after each operation that did not wait.
func (t *Threadlet) breathe() {
	if t.s.ops++; t.s.ops >= mostOps && !t.s.over {
		t.s.resumeLater(t)
		t.leave()
	}
}

// wait waits until the side is ready, and returns what ends the wait otherwise.
func (d *desc) wait(t *Threadlet, sd *side, why reason, events eventloop.IOEvents) error {
	if err := t.enter(); err != nil {
		return err
	}
	if d.signaled.Load() {
		d.signaled.Store(false)
		return ErrSignaled
	}
	if err := d.watch(events); err != nil {
		return err
	}
	return d.park(t, sd, why)
}

// park waits in the side's list until somebody wakes it there, or for the deadline.
func (d *desc) park(t *Threadlet, sd *side, why reason) error {
	w := &sd.only
	if w.t != nil {
		w = new(waiter[call])
	}
	w.t = t
	sd.waiters.push(w)
	d.s.wanted++
	d.limit(w, sd)
	err := t.wait(why)
	d.s.wanted--
	w.leave()
	if w.value.timer != 0 {
		_ = t.s.loop.CancelTimer(w.value.timer)
	}
	if w.value.told {
		sd.told--
	}
	w.t, w.value = nil, call{}
	return err
}

// limit has the deadline end the wait of w. A loop that is ending refuses the timer, and ends the wait.
func (d *desc) limit(w *waiter[call], sd *side) {
	if w.value.timer != 0 {
		_ = d.s.loop.CancelTimer(w.value.timer)
		w.value.timer = 0
	}
	if at := sd.deadline.Load(); at != 0 {
		w.value.timer, _ = w.t.startTimer(time.Duration(at-now()), os.ErrDeadlineExceeded)
	}
}

// watch has the system tell when the descriptor is ready for events, besides what it tells already.
func (d *desc) watch(events eventloop.IOEvents) error {
	switch {
	case !d.known:
		if err := d.s.loop.RegisterFD(d.fd, events, d.ready); err != nil {
			return err
		}
		d.known, d.watched = true, events
		d.s.known++
	case d.watched&events != events:
		if err := d.s.loop.ModifyFD(d.fd, d.watched|events); err != nil {
			return err
		}
		d.watched |= events
	}
	return nil
}

// watches tells whether the system will say when the descriptor is ready for events.
func (d *desc) watches(events eventloop.IOEvents) bool { return d.known && d.watched&events == events }

// tell is the callback of the registration. Whoever waits tries again; what they do not take is told again.
func (d *desc) tell(events eventloop.IOEvents) {
	const failed = eventloop.EventError | eventloop.EventHangup
	unwanted := eventloop.IOEvents(0)
	if events&(eventloop.EventRead|failed) != 0 {
		d.in.drained = false
		if !d.in.tell() && !d.called && !d.resumeIdle() {
			unwanted |= eventloop.EventRead
		}
	}
	if events&(eventloop.EventWrite|failed) != 0 {
		if !d.out.tell() {
			unwanted |= eventloop.EventWrite
		}
	}
	if unwanted &= d.watched; events&failed != 0 && unwanted == d.watched {
		d.unwatch() // nobody waits, and this is told whether it is asked for or not
	} else if unwanted != 0 && d.s.loop.ModifyFD(d.fd, d.watched&^unwanted) == nil {
		d.watched &^= unwanted
	}
}

// tell has the first who waits try again, and returns false if nobody does. Whoever was told and has not run yet goes
// before others: what is left behind is told again, and until then it is neither anybody else's nor unwanted.
func (sd *side) tell() bool {
	if sd.told > 0 {
		return true
	}
	w := sd.waiters.wakeFirst(nil)
	if w == nil {
		return false
	}
	w.value.told = true
	sd.told++
	return true
}

// resumeIdle calls who has nobody waiting.
func (d *desc) resumeIdle() bool {
	f := d.idle
	if f == nil {
		return false
	}
	d.idle, d.called = nil, true
	d.s.wanted--
	if d.in.timer != 0 {
		_ = d.s.loop.CancelTimer(d.in.timer)
		d.in.timer = 0
	}
	f()
	return true
}

func (d *desc) unwatch() {
	if d.known {
		_ = d.s.loop.UnregisterFD(d.fd)
		d.known, d.watched = false, 0
		d.s.known--
	}
}

// wakeAll ends the waits of a side.
func (sd *side) wakeAll(err error) (any bool) {
	for sd.waiters.wakeFirst(err) != nil {
		any = true
	}
	return any
}

// close closes the descriptor; any goroutine may call it. Elsewhere than on the loop that is an internal task; if the loop
// has no time left for it, its end does it.
func (d *desc) close() error {
	if d.closing.Swap(true) {
		return net.ErrClosed
	}
	d.removeFile()
	if d.s.loop.OnLoop() {
		return d.shut()
	}
	_ = d.s.loop.SubmitInternal(func() { _ = d.shut() })
	return nil
}

// shut is close on the loop.
func (d *desc) shut() error {
	if d.gone {
		return net.ErrClosed
	}
	d.gone = true
	if d.idle != nil {
		d.idle = nil
		d.s.wanted--
	}
	if d.in.timer != 0 {
		_ = d.s.loop.CancelTimer(d.in.timer)
	}
	d.unwatch()
	d.in.wakeAll(net.ErrClosed)
	d.out.wakeAll(net.ErrClosed)
	return d.s.descs.close(d)
}

// signal ends the waits on the descriptor, or the next one; any goroutine may call it.
func (d *desc) signal() {
	if d.signaled.Swap(true) {
		return
	}
	if d.s.loop.OnLoop() {
		d.hear()
	} else {
		_ = d.s.loop.SubmitInternal(d.hear)
	}
}

func (d *desc) hear() {
	if !d.signaled.Load() {
		return
	}
	in, out := d.in.wakeAll(ErrSignaled), d.out.wakeAll(ErrSignaled)
	if in || out {
		d.signaled.Store(false)
	} else {
		d.resumeIdle()
	}
}

// setDeadline sets the deadline of sides; any goroutine may call it. Whoever waits is told by the loop.
func (d *desc) setDeadline(at time.Time, sides ...*side) error {
	if d.closing.Load() {
		return net.ErrClosed
	}
	when := instant(at)
	for _, sd := range sides {
		sd.deadline.Store(when)
	}
	if d.s.loop.OnLoop() {
		d.renew()
	} else {
		_ = d.s.loop.SubmitInternal(d.renew)
	}
	return nil
}

// renew has those who wait go by the deadlines that are set now.
func (d *desc) renew() {
	for _, sd := range [...]*side{&d.in, &d.out} {
		for w := sd.waiters.first; w != nil; w = w.next {
			d.limit(w, sd)
		}
	}
	d.limitIdle()
}

// limitIdle has the deadline of reading end the rest of who is idle.
func (d *desc) limitIdle() {
	if d.in.timer != 0 {
		_ = d.s.loop.CancelTimer(d.in.timer)
		d.in.timer = 0
	}
	if at := d.in.deadline.Load(); at != 0 && d.idle != nil {
		d.in.timer, _ = d.s.loop.ScheduleTimer(time.Duration(at-now()), func() {
			d.in.timer = 0
			d.resumeIdle()
		})
	}
}
