//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// The reference's descriptors: it sleeps in poll(2) while any is registered, and asks all of them in every tick.
package looptest_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// registration is one descriptor. Its address tells it from others under the same number.
type registration struct {
	fd     int
	events loopapi.IOEvents
	fn     func(loopapi.IOEvents)
	gone   bool // the system says that the number is closed
}

type readiness struct {
	of     *registration
	events loopapi.IOEvents
}

// descriptors are guarded by the reference's lock, but for what a poll that is going on works with.
type descriptors struct {
	registered []*registration
	found      []readiness // what the last poll found; its memory is used again
	ready      []readiness // the rest of it, for which no callback has been called yet
	current    readiness   // what dispatch is to call
	dispatcher func()      // dispatch, made once
	wakeable   bool        // wakePipe is open
	wakePipe   [2]int
	set        []unix.PollFd // the poll's, and which registrations it stands for
	polled     []*registration
	timeout    unix.Timespec

	// What only seeded bugs use.
	calling  sync.Mutex // held around callbacks
	released []*registration
	doomed   []*registration
}

var pollEvents = []struct {
	loop   loopapi.IOEvents
	system int16
}{
	{loopapi.EventRead, unix.POLLIN}, {loopapi.EventWrite, unix.POLLOUT},
	{loopapi.EventError, unix.POLLERR}, {loopapi.EventHangup, unix.POLLHUP},
}

func (l *reference) RegisterFD(fd int, events loopapi.IOEvents, fn func(loopapi.IOEvents)) error {
	l.meetCallback()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case fn == nil && !l.is("a descriptor without a callback accepted"):
		return loopapi.ErrNilCallback
	case l.ending() && !l.is("registers on an ended loop"):
		return loopapi.ErrLoopTerminated
	case l.is("no registration in the callbacks of descriptors") && l.inIO && l.owner == goroutineID():
		return loopapi.ErrReentrantRun
	case l.find(fd) >= 0 && !l.is("registers twice"):
		return loopapi.ErrFDAlreadyRegistered
	}
	if err := pollable(fd); err != nil && !l.is("bad descriptors accepted") {
		if l.is("failed registrations are remembered") {
			l.registered = append(l.registered, &registration{fd: fd, gone: true})
		}
		return err
	}
	if !l.wakeable {
		flags := unix.O_NONBLOCK | unix.O_CLOEXEC
		if l.is("a child gets its descriptors") {
			flags = unix.O_NONBLOCK
		}
		if err := wakePipe(l.wakePipe[:], flags); err != nil {
			return os.NewSyscallError("pipe", err)
		}
		l.wakeable = true
	}
	l.registered = append(l.registered, &registration{fd: fd, events: events, fn: fn})
	if l.is("a registration waits for the end of the sleep") && l.state == loopapi.StateSleeping {
		l.mu.Unlock()
		<-l.done
		l.mu.Lock()
	}
	l.changed("registrations do not wake")
	return nil
}

// wakePipe makes a pipe in a way that all systems know.
func wakePipe(p []int, flags int) error {
	if err := unix.Pipe(p); err != nil {
		return err
	}
	for _, fd := range p {
		if flags&unix.O_CLOEXEC != 0 {
			unix.CloseOnExec(fd)
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return err
		}
	}
	return nil
}

// meetCallback is a seeded bug.
func (l *reference) meetCallback() {
	if l.is("registration waits for the callback") && !l.OnLoop() {
		l.calling.Lock()
		defer l.calling.Unlock()
	}
}

// changed wakes the loop, so that its next poll knows what was changed.
func (l *reference) changed(mute string) {
	if l.state == loopapi.StateSleeping && !l.is(mute) {
		l.rouse()
	}
}

// pollable says why fd cannot be watched, in the words of epoll.
func pollable(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("RegisterFD: %w", err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		return fmt.Errorf("RegisterFD: %w", unix.EPERM)
	}
	return nil
}

func (l *reference) find(fd int) int {
	return slices.IndexFunc(l.registered, func(r *registration) bool { return r.fd == fd })
}

func (l *reference) ModifyFD(fd int, events loopapi.IOEvents) error {
	l.meetCallback()
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.find(fd)
	switch {
	case i < 0 && l.is("unknown descriptors modified"):
		return nil
	case i < 0:
		return loopapi.ErrFDNotRegistered
	case l.is("ModifyFD is forgotten"):
		return nil
	}
	l.registered[i].events = events
	l.changed("ModifyFD does not wake")
	return nil
}

func (l *reference) UnregisterFD(fd int) error {
	l.meetCallback()
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.find(fd)
	if i < 0 {
		return loopapi.ErrFDNotRegistered
	}
	r := l.registered[i]
	switch {
	case l.is("only open descriptors are unregistered") && pollable(fd) != nil:
		return pollable(fd)
	case l.is("unregisters after the callback") && l.inIO && l.owner == goroutineID():
		l.doomed = append(l.doomed, r)
		return nil
	case l.is("unregisters when it is awake") && l.state == loopapi.StateSleeping:
		l.doomed = append(l.doomed, r)
		return nil
	case l.is("keeps unregistered callbacks"):
		l.released = append(l.released, r)
	}
	l.registered = slices.Delete(l.registered, i, i+1)
	if l.is("ghosts of closed descriptors") && pollable(fd) != nil {
		l.registered = append(l.registered, &registration{fd: -2 - fd, fn: r.fn})
	}
	l.changed("UnregisterFD does not wake")
	return nil
}

// watching tells whether the loop has to sleep in poll(2).
func (l *reference) watching() bool { return len(l.registered) > 0 }

// collect finds out which descriptors are ready, and waits up to wait for the first; for ever when it is negative. It
// is called with the lock held, and lets go of it meanwhile.
func (l *reference) collect(wait time.Duration) {
	if l.is("unregisters when it is awake") {
		l.bury()
	}
	l.set, l.polled, l.found = l.set[:0], l.polled[:0], l.found[:0]
	l.set = append(l.set, unix.PollFd{Fd: int32(l.wakePipe[0]), Events: unix.POLLIN})
	for _, r := range l.registered {
		p := unix.PollFd{Fd: int32(r.fd)}
		for _, e := range pollEvents[:2] {
			if r.events&e.loop != 0 {
				p.Events |= e.system
			}
		}
		if r.gone || l.is("hang-ups for readers only") && r.events&loopapi.EventRead == 0 && p.Events == 0 {
			p.Fd = -1 // poll leaves it out
		}
		if r.fd < -1 {
			wait = 0 // the ghost of a seeded bug
		}
		l.set, l.polled = append(l.set, p), append(l.polled, r)
	}
	if l.is("never waits with descriptors") {
		wait = 0
	}
	l.mu.Unlock()
	for {
		err := l.poll(wait)
		if err != unix.EINTR || !l.is("a signal restarts the wait") {
			break
		}
	}
	l.mu.Lock()
	l.drainWakePipe()
	for i, p := range l.set[1:] {
		l.note(l.polled[i], p.Revents)
	}
	clear(l.polled)
	l.ready = l.found
}

func (l *reference) drainWakePipe() {
	var bytes [64]byte
	for l.set[0].Revents != 0 {
		if n, _ := unix.Read(l.wakePipe[0], bytes[:]); n < len(bytes) {
			return
		}
	}
}

// note notes what poll says about r.
func (l *reference) note(r *registration, revents int16) {
	if revents&unix.POLLNVAL != 0 {
		r.gone = true
		return
	}
	var events loopapi.IOEvents
	for _, e := range pollEvents {
		if revents&e.system != 0 {
			events |= e.loop
		}
	}
	switch {
	case l.is("hang-ups for readers only") && r.events&loopapi.EventRead == 0:
		events &= r.events
	case l.is("reports readiness once") && events != 0:
		r.gone = true
	case l.is("reading is all it knows") && events != 0:
		events = loopapi.EventRead
	}
	if events != 0 {
		l.found = append(l.found, readiness{r, events})
	}
}

func (l *reference) hasReady() bool { return len(l.ready) > 0 && !l.ending() }

// nextReady returns the call of a ready descriptor that is still registered, and watched for what it is ready for.
func (l *reference) nextReady(starved bool) func() {
	if starved {
		return nil // a seeded bug
	}
	const always = loopapi.EventError | loopapi.EventHangup
	asks := l.is("serves descriptors while any is ready") || l.is("asks again after a panic") && l.panicked
	if asks && len(l.ready) == 0 && l.watching() && !l.ending() {
		l.collect(0)
	}
	for len(l.ready) > 0 && !l.ending() {
		next := l.ready[0]
		l.ready[0] = readiness{}
		if l.ready = l.ready[1:]; len(l.ready) == 0 {
			l.ready = l.found[:0]
		}
		if l.is("events name numbers") {
			if i := l.find(next.of.fd); i >= 0 {
				next.of = l.registered[i]
			}
		}
		registered := slices.Contains(l.registered, next.of) || l.is("a batch goes on after UnregisterFD")
		if registered && next.events&(next.of.events|always) != 0 {
			if l.is("allocates for every event") {
				l.sink = make([]byte, 16)
			}
			l.current = next
			if l.dispatcher == nil {
				l.dispatcher = l.dispatch
			}
			return l.dispatcher
		}
	}
	return nil
}

// dispatch calls the current ready descriptor's callback. Only the loop's goroutine touches current.
func (l *reference) dispatch() {
	next := l.current
	l.current = readiness{}
	switch {
	case l.is("calls descriptors on goroutines of their own"):
		elsewhere(func() { next.of.fn(next.events) })
		return
	case l.is("registration waits for the callback"):
		l.calling.Lock()
		defer l.calling.Unlock()
	case l.is("a panic unregisters"):
		defer func() {
			if v := recover(); v != nil {
				_ = l.UnregisterFD(next.of.fd)
				panic(v)
			}
		}()
	case l.is("unregisters after the callback"), l.is("no registration in the callbacks of descriptors"):
		l.setInIO(true)
		defer l.setInIO(false)
	case l.is("forgets the owner in the callbacks of descriptors"):
		l.mu.Lock()
		l.owner = "someone"
		l.mu.Unlock()
	}
	next.of.fn(next.events)
}

func (l *reference) setInIO(in bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inIO = in
	if !in {
		l.bury()
	}
}

// bury unregisters late, for seeded bugs.
func (l *reference) bury() {
	for _, r := range l.doomed {
		l.registered = slices.DeleteFunc(l.registered, func(other *registration) bool { return other == r })
	}
	l.doomed = nil
}

// wakePoll ends a poll that is going on, or the next one.
func (l *reference) wakePoll() {
	if l.is("the poller is not woken") {
		return
	}
	if l.wakeable || l.is("wakes through a released descriptor") && l.wakePipe[1] > 0 {
		_, _ = unix.Write(l.wakePipe[1], []byte{1, 1, 1, 1, 1, 1, 1, 1})
	}
}

// forget is a seeded bug.
func (l *reference) forget() { l.registered = nil }

// release closes what is the loop's.
func (l *reference) release() {
	if l.wakeable && !l.is("keeps its descriptors open") {
		_ = unix.Close(l.wakePipe[0])
		_ = unix.Close(l.wakePipe[1])
	}
	if l.is("closes the user's descriptors") {
		for _, r := range l.registered {
			_ = unix.Close(r.fd)
		}
	}
	l.wakeable = l.wakeable && l.is("closes its descriptors twice")
	l.registered, l.ready, l.found, l.polled = nil, nil, nil, nil
}
