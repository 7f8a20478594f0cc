// The reference's methods: each takes the lock, decides, and wakes the loop if it sleeps.
package looptest_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

func (l *reference) is(bug string) bool { return l.bug == bug }

// goroutineID names the calling goroutine.
func goroutineID() string {
	var buf [64]byte
	id, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), " [")
	return id
}

// ending tells whether the end was asked for, or has come.
func (l *reference) ending() bool {
	return l.state == loopapi.StateTerminating || l.state == loopapi.StateTerminated
}

func (l *reference) Run(ctx context.Context) error {
	l.mu.Lock()
	switch {
	case l.owner == goroutineID() && !l.is("re-entrant Run unnoticed"):
		l.mu.Unlock()
		return loopapi.ErrReentrantRun
	case l.ending() && l.is("Run forgets an earlier end"):
	case l.ending():
		l.mu.Unlock()
		return loopapi.ErrLoopTerminated
	case l.state != loopapi.StateAwake && !l.is("two Runs"):
		l.mu.Unlock()
		return loopapi.ErrLoopAlreadyRunning
	}
	l.state = loopapi.StateRunning
	l.newTick()
	if l.is("Run begins with empty queues") {
		l.micro, l.internal, l.external = nil, nil, nil
	}
	if l.is("Run forgets registrations") {
		l.forget()
	}
	if l.is("delays count from Run") {
		for i := range l.timers[0] {
			l.timers[0][i].deadline = l.timers[0][i].deadline.Add(l.now.Sub(l.born))
		}
	}
	if l.is("a goroutine waits for the context for ever") {
		go func() { <-ctx.Done() }()
	}
	l.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.ending() {
			l.result = ctx.Err()
			if l.is("the context does not wake") {
				l.state = loopapi.StateTerminating
				return
			}
			l.terminate()
		}
	})
	defer stop()
	l.serve()
	if l.is("Run looks at its context last") && ctx.Err() != nil {
		return ctx.Err()
	}
	return l.result
}

// terminate asks for the end.
func (l *reference) terminate() {
	asleep := l.state == loopapi.StateSleeping
	l.state = loopapi.StateTerminating
	l.late, l.credit = mostLate, mostOwn*(1+len(l.micro)+len(l.internal)+len(l.external))
	if asleep {
		l.rouse()
	}
}

func (l *reference) rouse() {
	if l.is("looks for work now and then") {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	l.wakePoll()
}

func (l *reference) Shutdown(ctx context.Context) error {
	l.mu.Lock()
	first, unused := !l.ending(), l.state == loopapi.StateAwake
	if first {
		l.terminate()
		if unused {
			if l.is("forgets work on Shutdown before Run") {
				l.internal, l.external, l.micro = nil, nil, nil
			}
			go l.serve()
		}
	}
	onLoop := l.owner == goroutineID()
	l.mu.Unlock()
	if onLoop && !l.is("Shutdown waits on the loop") || !first && l.is("later Shutdowns return early") {
		return nil
	}
	select {
	case <-l.done:
	default:
		select {
		case <-l.done:
		case <-ctx.Done():
			if l.is("a shutdown is called off when its context ends") {
				l.mu.Lock()
				l.state = loopapi.StateRunning
				l.mu.Unlock()
			}
			return ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !first || l.closed {
		return loopapi.ErrLoopTerminated
	}
	return nil
}

func (l *reference) Close() error {
	l.mu.Lock()
	if l.closed || l.state == loopapi.StateTerminated || l.is("Close is refused while terminating") && l.ending() {
		if l.is("closes its descriptors twice") {
			l.release()
		}
		l.mu.Unlock()
		if l.is("every Close succeeds") {
			return nil
		}
		return loopapi.ErrLoopTerminated
	}
	unused := l.state == loopapi.StateAwake
	if unused && l.is("Close before Run is graceful") {
		l.state = loopapi.StateTerminating
		l.mu.Unlock()
		go l.serve()
		return nil
	}
	l.closed, l.result = true, loopapi.ErrLoopTerminated
	if l.is("Close does not wake") {
		l.state = loopapi.StateTerminating
	} else {
		l.terminate()
	}
	if unused {
		l.finish()
	}
	onLoop := l.owner == goroutineID()
	l.mu.Unlock()
	if l.is("Close waits for the callback") && !onLoop {
		<-l.done
	}
	return nil
}

// enqueue accepts fn into q, or says why not.
func (l *reference) enqueue(q *[]func(), fn func(), refused error) error {
	if fn == nil && !l.is("nil accepted") {
		return loopapi.ErrNilCallback
	}
	if refused != nil {
		if l.is("wakes through a released descriptor") {
			l.wakePoll()
		}
		return refused
	}
	if l.is("allocates for every function") {
		l.sink = make([]byte, 16)
	}
	if l.is("one wake, one function") && l.state == loopapi.StateSleeping && len(l.wake) > 0 {
		return nil
	}
	*q = append(*q, fn)
	if l.is("a seam after 128 functions") && len(*q)%128 == 0 {
		slices.Reverse((*q)[len(*q)-2:])
	}
	mute := l.is("internal work does not wake") && q == &l.internal || l.is("microtasks do not wake") && q == &l.micro
	if l.state == loopapi.StateSleeping && !mute {
		l.rouse()
	}
	return nil
}

func (l *reference) Submit(fn func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.is("waits for room") && len(l.external) >= 4096 {
		l.mu.Unlock()
		time.Sleep(time.Millisecond)
		l.mu.Lock()
	}
	if l.is("touches what was released") && l.ended {
		panic("use of a released queue")
	}
	var refused error
	switch {
	case l.ending() && !(l.is("accepts while terminating") && l.state == loopapi.StateTerminating):
		refused = loopapi.ErrLoopTerminated
	case l.cfg.QueueLimit > 0 && len(l.external) >= l.cfg.QueueLimit+l.offByOne():
		refused = loopapi.ErrLoopOverloaded
	}
	if l.is("accepts before it locks") {
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
	return l.enqueue(&l.external, fn, refused)
}

func (l *reference) offByOne() int {
	if l.is("queue limit off by one") {
		return 1
	}
	return 0
}

func (l *reference) SubmitInternal(fn func()) error { return l.submitUntilEnd(&l.internal, fn) }

func (l *reference) ScheduleMicrotask(fn func()) error {
	err := l.submitUntilEnd(&l.micro, fn)
	if l.is("microtasks of other goroutines go last") && err == nil {
		own := l.OnLoop()
		l.mu.Lock()
		defer l.mu.Unlock()
		last := len(l.micro) - 1
		if l.others = min(l.others, last); own {
			l.micro = slices.Insert(l.micro[:last], last-l.others, fn)
		} else {
			l.others++
		}
	}
	return err
}

func (l *reference) submitUntilEnd(q *[]func(), fn func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == loopapi.StateTerminated || l.closed || l.is("internal refused while terminating") && l.ending() {
		return l.enqueue(q, fn, loopapi.ErrLoopTerminated)
	}
	if l.ending() && !l.admit() {
		return l.enqueue(q, fn, loopapi.ErrLoopTerminated)
	}
	if l.is("the limit is for internal work, too") && l.cfg.QueueLimit > 0 && len(*q) >= l.cfg.QueueLimit {
		return loopapi.ErrLoopOverloaded
	}
	return l.enqueue(q, fn, nil)
}

func (l *reference) Hold() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds++
	release := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.holds--
		l.rouse()
	}
	if l.is("release counts twice") {
		return release
	}
	return sync.OnceFunc(release)
}

// What an ending loop still accepts: from elsewhere, and from its own callbacks for each function that waited.
const mostLate, mostOwn = 1 << 10, 1 << 13

// admit tells whether an ending loop accepts one more function.
func (l *reference) admit() bool {
	left, endless := &l.late, l.is("accepts from elsewhere until it is empty")
	if l.owner == goroutineID() {
		left, endless = &l.credit, l.is("accepts from its callbacks until it is empty")
	}
	*left--
	return *left >= 0 || endless
}

func (l *reference) State() loopapi.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.is("terminating is 3") && l.state == loopapi.StateTerminating {
		return 3
	}
	return l.state
}

func (l *reference) Done() <-chan struct{} { return l.done }

func (l *reference) OnLoop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owner == goroutineID() || l.is("OnLoop says yes") && l.owner != ""
}

func (l *reference) CurrentTickTime() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.is("the clock stands still") {
		return l.born
	}
	if l.is("the clock allocates") {
		l.sink = make([]byte, 16)
	}
	return l.now
}
