package eventloop

// Workers: which functions of Promisify and Work have a goroutine, and which wait for one.

import (
	"slices"

	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/outcome"
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// RefuseWork has the loop begin no more work. What waits for a worker under [WithWorkerLimit], and all later calls of Work and
// Promisify, end with an error that wraps ErrLoopTerminated and is not reported as unhandled; functions that run go on. It cannot be
// taken back. A stop that waits only for what runs begins with it. Threadlets that run may still call threadlet.Do. Any goroutine may
// call it, any number of times.
func (l *Loop) RefuseWork() {
	l.workers.refused.Store(true)
	if l.workerLimit != 0 { // without a limit, what waits has been begun
		l.workers.abandon(true)
	}
}

// addWorker counts a worker, unless the loop is ending, or refuses work and this is not the guest's. Off the loop it decides this
// under the lock that the loop takes to look for workers.
func (l *Loop) addWorker(guest bool) error {
	u := &l.urgent
	if !guest && l.workers.refused.Load() {
		return outcome.Refusal{Loop: l.id}
	}
	if l.state.Load().Ending() { // looked at before the lock too, so that refused calls do not keep the loop from the lock
		l.yieldOffLoop()
		return ErrLoopTerminated
	}
	if l.OnLoop() {
		u.addDelivered(-1)
		return nil
	}
	l.lock(&u.Lock)
	refused := u.Sealed() || l.state.Load().Ending()
	if !refused {
		u.begun++
	}
	u.Unlock()
	if refused {
		l.yieldOffLoop()
		return ErrLoopTerminated
	}
	if u.Wanted() || l.ofCrew().waiting() >= manyWorkers {
		inbox.GiveWay(0)
	}
	return nil
}

// manyWorkers is how many functions wait for a goroutine, or goroutines for their first step, when callers of Promisify give
// way. The run queue of a processor holds 256 goroutines. Those that find it full take half of it along to the global run
// queue, and with it whoever else waits there, like a loop that was woken. From that queue the runtime rarely takes a
// goroutine while others are ready.
const manyWorkers = 128

// hasWorkers tells whether workers are under way whose outcome the loop will get. An ending loop gets no new ones: each call of
// Promisify that found the loop not ending yet has been counted, under the lock or on the loop.
func (l *Loop) hasWorkers() bool {
	l.lock(&l.urgent.Lock)
	defer l.urgent.Unlock()
	return l.urgent.workers()
}

// workers tells whether there are calls of Promisify whose outcome the loop has not received. The caller holds the lock.
func (u *urgent) workers() bool { return u.begun != u.delivered.Load() }

// addDelivered adds n to delivered. Only the loop calls it.
func (u *urgent) addDelivered(n int) { release.Store(&u.delivered, u.delivered.Load()+uint32(n)) }

// workers starts a goroutine for each workItem; under a limit, or if there are too many, some of them later. In between its
// fields are zero.
type workers struct {
	mu       sched.Mutex  // guards the other fields, and writes of deferred
	running  int          // goroutines at work; counted under a limit only
	waiting  []queuedItem // in the order of the calls of Promisify
	dropped  int          // how many of waiting were cancelled: their started is set
	deferred atomic.Bool  // waiting is not empty, and there is no limit
	refused  atomic.Bool  // set by RefuseWork, before it takes mu; whoever appends to waiting under a limit reads it under mu
}

// queuedItem is a workItem with the function that a goroutine calls for it.
type queuedItem struct {
	*workItem
	run func()
}

// startItem starts a goroutine for t, or has t wait for one. Other goroutines give way when too many workers have not begun. A
// callback of the loop cannot, so its functions wait, and each worker that begins starts the next.
//
// Whoever takes a function, to call it or because its context has ended, counts it out of crew.waiting, and then looks at
// deferred. startItem sets deferred before it looks at the count again. So either startItem starts t, or one of those will.
func (l *Loop) startItem(t queuedItem) {
	ws, crew := &l.workers, l.ofCrew()
	crew.count.Add(oneWaits)
	switch {
	case l.workerLimit != 0:
		ws.startWithin(l.workerLimit, t)
	case l.OnLoop() && (ws.deferred.Load() || crew.waiting() > manyWorkers):
		ws.mu.Lock()
		ws.waiting = append(ws.waiting, t)
		ws.deferred.Store(true)
		ws.mu.Unlock()
		for crew.waiting() <= manyWorkers && ws.startNext() {
		}
	default:
		sched.Go(t.run)
	}
}

// followUp starts a workItem in the place of one that waits no more. There may be a limit; then it does nothing.
func (ws *workers) followUp() {
	if ws.deferred.Load() {
		ws.startNext()
	}
}

// startNext starts the first workItem that waits, if there is one. There is no limit.
func (ws *workers) startNext() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	t, ok := ws.pop()
	if ok {
		sched.Go(t.run)
	}
	ws.deferred.Store(len(ws.waiting) != 0)
	return ok
}

// pop takes the first workItem that waits and was not cancelled. The caller holds mu.
func (ws *workers) pop() (t queuedItem, ok bool) {
	for len(ws.waiting) > 0 {
		t := ws.waiting[0]
		ws.waiting[0] = queuedItem{}
		ws.waiting = ws.waiting[1:]
		if !t.started.Load() {
			return t, true
		}
		ws.dropped = max(0, ws.dropped-1)
	}
	ws.waiting = nil
	return queuedItem{}, false
}

func (ws *workers) startWithin(limit int, t queuedItem) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	switch {
	case ws.running < limit:
		ws.running++
		sched.Go(func() { ws.runItem(t.run) })
	case !t.guest && ws.refused.Load():
		t.refused = true
		sched.Go(t.run)
	default:
		ws.waiting = append(ws.waiting, t)
	}
}

func (ws *workers) runItem(run func()) {
	defer ws.next() // also when run ends the goroutine
	run()
}

// next is called when a workItem is done, and starts the first that waits in its place.
func (ws *workers) next() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if t, ok := ws.pop(); ok {
		sched.Go(func() { ws.runItem(t.run) })
	} else {
		ws.running--
	}
}

// drop counts a workItem that was cancelled while it waited. When most of those that wait were cancelled, it removes them.
func (ws *workers) drop() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.dropped++; 2*ws.dropped > len(ws.waiting) {
		ws.waiting = slices.DeleteFunc(ws.waiting, func(t queuedItem) bool { return t.started.Load() })
		ws.dropped = 0
		if len(ws.waiting) == 0 {
			ws.deferred.Store(false)
		}
	}
}

// abandon removes the work that still waits, when the loop has ended; or, if refused is set, when it is to begin none that is not
// the guest's. It calls run of each workItem all the same: run sees the end, or that refused is set, and calls no function. This
// may take a while and nobody waits for it, so it is done on another goroutine.
func (ws *workers) abandon(refused bool) {
	ws.mu.Lock()
	var left, waiting []queuedItem
	for _, t := range ws.waiting {
		if refused && t.guest {
			left = append(left, t)
		} else {
			waiting = append(waiting, t)
		}
	}
	ws.waiting, ws.dropped = left, 0
	ws.deferred.Store(false)
	ws.mu.Unlock()
	if len(waiting) != 0 {
		sched.Go(func() {
			for _, t := range waiting {
				t.refused = refused
				t.run()
			}
		})
	}
}
