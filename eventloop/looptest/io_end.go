package looptest

// The end of a loop with registered descriptors (IO): it releases the loop's own descriptors and no others.

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// ioEnd ends loops that sleep with descriptors registered, and loops that are busy with them.
func ioEnd(t *trial) {
	t.rounds(t.scale(16), func(round int) {
		for _, end := range ends {
			s := t.sockets()
			busy := round%4 == 1
			if busy {
				s.send()
			}
			before := listDescriptors()
			l := t.make(Config{})
			cancel := l.launchUntil()
			var over atomic.Bool
			w := l.watch(s.near, loopapi.EventRead, func(*watch) {
				if over.Load() {
					t.Errorf("the callback of a descriptor was called after %s had ended the loop", end.name)
				}
			})
			if busy {
				w.await("there is a byte to read")
			} else {
				l.rest()
			}
			end.end(l, cancel)
			l.returns(", ended by "+end.name+",", end.want)
			l.over("after " + end.name)
			over.Store(true)
			if left := t.opened(before); round > 0 && len(left) > 0 {
				t.Errorf("after %s and Done the loop's descriptors %v are still open", end.name, left)
			}
			s.send()
			s.alive("after " + end.name)
			t.must("close", t.fds.close(s.near))
			t.must("close", t.fds.close(s.far))
		}
	})
}

// opened returns the open descriptors that are not in before and do not belong to the check.
func (t *trial) opened(before []int) []int {
	mine := t.fds.numbers()
	return slices.DeleteFunc(listDescriptors(), func(fd int) bool {
		return slices.Contains(before, fd) || slices.Contains(mine, fd)
	})
}

// ioRegisterRacesEnd registers, modifies and unregisters while the loop is being ended.
func ioRegisterRacesEnd(t *trial) {
	const callers = 3
	gone, unknown := loopapi.ErrLoopTerminated, loopapi.ErrFDNotRegistered
	links := make([]link, callers)
	for i := range links {
		links[i] = t.readyLink()
	}
	var before []int
	t.rounds(t.scale(24), func(round int) {
		l := t.make(Config{})
		cancel := l.launchUntil()
		l.sync()
		var over atomic.Bool
		ending := newLatch(callers)
		end := ends[round%len(ends)]
		t.parallel(callers+1, func(p int) {
			if p == callers {
				<-ending.ch
				end.end(l, cancel)
				return
			}
			fd := links[p].near
			for i := range 2000 {
				if i == 4 {
					ending.done()
				}
				runtime.Gosched() // lets the ending goroutine run before the time slice is over
				err := l.fds.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) {
					if over.Load() {
						t.Errorf("the callback of a descriptor was called after the end")
					}
				})
				t.want("RegisterFD beside "+end.name, err, nil, gone)
				if err != nil {
					break
				}
				t.want("ModifyFD beside "+end.name, l.fds.ModifyFD(fd, readWrite), nil, gone, unknown)
				t.want("UnregisterFD beside "+end.name, l.fds.UnregisterFD(fd), nil, gone, unknown)
			}
		})
		l.returns("", end.want)
		l.over("after " + end.name)
		over.Store(true)
		for range 2 {
			_, err := l.tryWatch(links[0].near, loopapi.EventRead, nil)
			t.want("RegisterFD after the end", err, gone)
			t.want("ModifyFD after the end", l.fds.ModifyFD(links[0].near, readWrite), gone, unknown)
			t.want("UnregisterFD after the end", l.fds.UnregisterFD(links[0].near), gone, unknown)
		}
		if round == 0 {
			before = listDescriptors() // with what a process makes once
		}
	})
	if left := t.opened(before); len(left) > 0 {
		t.Errorf("after registrations that raced with the end the descriptors %v are still open", left)
	}
	for _, s := range links {
		s.alive("after the end of the loop")
	}
}

// ioCloseOften lets many callers end a loop with a descriptor registered. Bystanders open descriptors that get the
// numbers which the loop releases: the loop may close none of these a second time.
func ioCloseOften(t *trial) {
	s := t.sockets()
	stop := t.bystanders()
	t.rounds(t.scale(100), func(i int) {
		l := t.start(Config{})
		l.watch(s.near, loopapi.EventRead, nil)
		l.oneEnds(func(p int) bool { return i%2 == 1 && p%2 == 1 })
		l.callLate()
	})
	stop()
	s.alive("after many calls of Close")
}

// ioNewOwner wakes loops without pause while they are being ended. Bystanders open descriptors that get the numbers
// which the loop releases: a late wake must not write to these.
func ioNewOwner(t *trial) {
	s := t.sockets()
	stop := t.bystanders()
	t.rounds(t.scale(48), func(i int) {
		l := t.start(Config{})
		l.watch(s.near, loopapi.EventRead, nil)
		begun := newLatch(3)
		t.parallel(4, func(p int) {
			if p == 3 {
				<-begun.ch
				if i%2 == 0 {
					_ = l.Close()
				} else {
					_ = l.shutdown()
				}
				return
			}
			refused := 0
			for n := 0; refused < 20; n++ {
				k := lanes[(p+n)%2]
				if k.run(l, noop) != nil {
					refused++
				}
				if n == 2 {
					begun.done()
				}
				if n%16 == 15 {
					time.Sleep(5 * time.Microsecond) // the loop may fall asleep, so that the next call wakes it
				}
			}
		})
		l.returns("", nil, loopapi.ErrLoopTerminated)
		l.callLate()
	})
	stop()
}

// callLate opens descriptors, which get numbers of the ended loop, and then makes the calls that would wake or end it.
func (l *loop) callLate() {
	t := l.trial
	var pairs [4][2]int
	for i := range pairs {
		var err error
		if pairs[i], err = newSockets(); err != nil {
			t.Fatalf("opening descriptors beside a loop that has ended: %v", err)
		}
	}
	for _, k := range l.available() {
		t.want(k.name+" on an ended loop", k.run(l, noop), loopapi.ErrLoopTerminated)
	}
	t.want("Close of an ended loop", l.Close(), loopapi.ErrLoopTerminated)
	for _, pair := range pairs {
		t.untouched(pair)
	}
}

// bystanders starts goroutines that open and close descriptors with the lowest numbers, and check that no bytes arrive
// there. stop waits for their end.
func (t *trial) bystanders() (stop func()) {
	var over atomic.Bool
	user := func(open func() ([2]int, error)) {
		for !over.Load() {
			pair, err := open()
			if err != nil {
				t.Errorf("opening descriptors beside a loop that ends: %v", err)
				return
			}
			for range 3 {
				runtime.Gosched()
			}
			t.untouched(pair)
		}
	}
	sockets, pipes := t.async(func() { user(newSockets) }), t.async(func() { user(newPipe) })
	stop = func() {
		over.Store(true)
		t.wait(sockets, "a user of sockets")
		t.wait(pipes, "a user of pipes")
	}
	t.onCleanup(func() { over.Store(true); <-sockets; <-pipes })
	return stop
}

// untouched checks that a pair, to which the check has not written, holds no bytes and is open, and closes it.
func (t *trial) untouched(pair [2]int) {
	var buf [64]byte
	for _, fd := range pair {
		if n, _ := read(fd, buf[:]); n > 0 {
			t.Errorf("from a descriptor whose number a loop may have had come %d bytes that its owner did not write", n)
		}
	}
	for _, fd := range pair {
		if err := closeDescriptor(fd); err != nil {
			t.Errorf("someone else closed a descriptor whose number a loop may have had: %v", err)
		}
	}
}

// ioCloseOnExec looks for descriptors of the loop that a child process would inherit.
func ioCloseOnExec(t *trial) {
	before := listDescriptors()
	if len(before) == 0 {
		t.notApplicable("open descriptors cannot be listed on this system")
	}
	l := t.make(Config{})
	w := l.watch(t.sockets().near, loopapi.EventRead, nil)
	l.launch(context.Background())
	l.sync()
	l.rest()
	l.awaitEvents()
	for _, fd := range t.opened(before) {
		if staysOpenOnExec(fd) {
			t.Errorf("descriptor %d, which the loop has opened, is not closed on exec", fd)
		}
	}
	w.unregister()
	l.finish()
}
