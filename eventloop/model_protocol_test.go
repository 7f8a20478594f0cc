package eventloop_test

// The protocol of sleep, wake and end as a model: who takes part, and each step of theirs. wait.go states it.
//
// A step is one atomic access of the code, or what is done under a lock as far as nobody sees it without that lock. The
// loop's load and compare-and-swap of the state are one step where nobody else makes the change that would part them.
// The transitions of the state are the product's own.
//
// Memory is that of amd64, which of all that Go's atomics promise keeps back one thing: storeRelease is a plain store
// there. So each actor has a store buffer of one entry, which reaches the memory at any later moment, but before the
// actor's next atomic write, exchange or lock. Where storeRelease is an atomic store it does so at once, which is one of these
// moments. Everything else is sequentially consistent.
//
// Left out is what looks like something else here: microtasks from elsewhere take the way of internal tasks, the end of
// a context that of Shutdown, a change of mode that of a registration; a pause only moves a tick in time; budgets end
// one early; a loop parks in the runtime's poller as it blocks in the system's.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/eventloop"
)

type word = eventloop.Word

// kind is what an actor does.
type kind uint8

const (
	submitter  kind = iota // Submit
	grower                 // Submit that finds the lane's chunk full
	insider                // SubmitInternal
	worker                 // Promisify: is counted, and brings its outcome
	ender                  // Shutdown
	closer                 // Close
	registrar              // RegisterFD
	descriptor             // the system: the descriptor gets ready
	watcher                // the watch's goroutine
	scheduler              // ScheduleTimer, of a late timer and then an early one
	ringer                 // the alarm's goroutine
	holder                 // the release of a hold, which the loop had from the beginning
)

var kindNames = [...]string{"submit", "submit+grow", "internal", "worker", "shutdown", "close", "register",
	"descriptor", "watch", "timer", "alarm", "release"}

func (k kind) external() bool { return k <= grower }
func (k kind) task() bool     { return k <= worker }

// cast is who takes part in an exploration.
type cast struct {
	kinds    []kind
	blocking bool // FastPathDisabled
	autoExit bool
}

func (c cast) has(k kind) bool   { return slices.Contains(c.kinds, k) }
func (c cast) descriptors() bool { return c.blocking || c.has(registrar) }

func (c cast) String() string {
	var names []string
	for _, k := range c.kinds {
		names = append(names, kindNames[k])
	}
	if c.blocking {
		names = append(names, "(blocking)")
	}
	if c.autoExit {
		names = append(names, "(auto-exit)")
	}
	return strings.Join(names, " ")
}

// transitions are those of the state: the product's, or with one replaced by a mistake.
type transitions struct {
	start, sleep, rest, wake, exit func(word) (word, bool)
	terminate                      func(word, word) (word, bool)
	terminated                     func(word) word
}

var product = transitions{word.Start, word.Sleep, word.Rest, word.Wake, word.Exit, word.Terminate, word.Terminated}

// protocol is the model.
type protocol struct {
	cast
	transitions
	mistake mistake
}

const crowd = 8 // actors at most; the loop is the first

// world is a state of the model.
type world struct {
	word   uint16 // the loop's state
	claims uint8  // of the wake-up of the last sleep

	lock, workers                      uint8
	sealed, urgent, token, done, holds bool // token: there is one in the wake channel

	mu, table, changed, ready, blocked bool  // of descriptors; mu: it is taken
	watched, drained, batch, fd        bool  // fd: the descriptor is ready
	tell                               uint8 // when the watch tells next
	event, closed                      bool  // of the poller: a wake-up is in it
	wakers                             uint8 // in the poller, under its lock
	timersMu, timersClosed, rang       bool
	pending, earliest, alarm, runtime  uint8 // timers are bits, deadlines never or the timer; runtime: its timer
	now, tick, due                     uint8 // due: the deadline that a park goes by

	actors [crowd]actor
}

const (
	deadlineEarly = 1
	deadlineLate  = 2
	deadlineNever = 4
)

type actor struct {
	at     point
	buffer uint8  // the store that has not reached the memory
	from   uint16 // the state that it has read
	task   uint8
	note   uint8
}

// What the store buffer holds: nothing, a value of the lock, or alarm.rang.
const (
	lockStore = 0x10
	rangStore = 0x20
)

// What has become of an actor's task. It may be in two places when something is wrong.
const (
	taskAccepted = 1 << iota
	taskQueued
	taskTaken // by the loop
	taskRan
	taskCounted // as a worker
)

// When the watch tells of events next.
const (
	atOnce = iota
	whenReady
	afterWait // that found nothing
)

const loop = 0

func (p *protocol) initial() world {
	w := world{earliest: deadlineNever, alarm: deadlineNever, runtime: deadlineNever, due: deadlineNever}
	w.word = uint16(eventloop.StateAwake)
	w.holds = p.has(holder)
	w.changed = p.blocking // New has set the mode
	for i := range w.actors {
		if i > len(p.kinds) {
			w.actors[i].at = atGone
		}
	}
	for i, k := range p.kinds {
		if k == ender || k == closer {
			w.actors[i+1].at = atTerminate
		}
	}
	w.actors[loop].at = loopStart
	return w
}

func (p *protocol) steps(from world, yield func(step[world])) {
	for i := range len(p.kinds) + 1 {
		taken := false
		if from.actors[i].buffer != 0 {
			to := from
			to.flush(i)
			yield(p.judge(&from, step[world]{i, "its store reaches the memory", to, ""}))
			taken = true
		}
		to := from
		if does, wrong := p.step(&to, i); does != "" {
			yield(p.judge(&from, step[world]{i, does, to, wrong}))
			taken = true
		}
		if taken && from.done {
			break // what others still do is refused, in any order
		}
	}
}

func (p *protocol) name(i int) string {
	if i == loop {
		return "loop"
	}
	return kindNames[p.kinds[i-1]]
}

// judge adds what a step violates whoever takes it.
func (p *protocol) judge(from *world, s step[world]) step[world] {
	before, after := word(from.word), word(s.to.word)
	switch {
	case s.wrong != "":
	case rank(after) < rank(before):
		s.wrong = fmt.Sprintf("the state goes back from %v to %v", before.StateOf(), after.StateOf())
	case before.Closing() && !after.Closing():
		s.wrong = "a Close is forgotten"
	case s.to.claims > 1:
		s.wrong = "two claim the wake-up of one sleep"
	case s.to.done && after.StateOf() != eventloop.StateTerminated:
		s.wrong = "done before Terminated"
	}
	return s
}

func rank(w word) int {
	switch w.StateOf() {
	case eventloop.StateAwake:
		return 0
	case eventloop.StateTerminating:
		return 2
	case eventloop.StateTerminated:
		return 3
	}
	return 1
}

func (p *protocol) rest(w world) string {
	state := word(w.word)
	if state.Ending() && !w.done {
		return "the end was asked for and does not come"
	}
	for i, k := range p.kinds {
		a := w.actors[i+1]
		switch {
		case a.at != atGone && !(a.at == atBegin && (k == descriptor || k == watcher || k == ringer)):
			return "stuck: " + p.name(i+1)
		case state.Closing():
		case a.task&taskAccepted != 0 && a.task&taskRan == 0:
			return "accepted and never run: " + p.name(i+1)
		case a.task&taskCounted != 0 && a.task&taskRan == 0:
			return "the loop has not waited for its outcome: " + p.name(i+1)
		case state.Ending() || k != registrar && k != scheduler:
		case w.table && !w.watched && !w.blocked:
			return "registered and not watched"
		case w.table && w.fd:
			return "an event has not been served"
		case w.pending != 0:
			return "a timer does not fire"
		}
	}
	if p.autoExit && !state.Ending() && !w.needed(p) {
		return "nothing keeps the loop alive, and it does not end"
	}
	return ""
}

// same puts equal actors in order.
func (p *protocol) same(w world) world {
	for i := 1; i < len(p.kinds); i++ {
		for j := i; j > 0 && p.kinds[j-1] == p.kinds[j] && compare(w.actors[j], w.actors[j+1]) > 0; j-- {
			w.actors[j], w.actors[j+1] = w.actors[j+1], w.actors[j]
		}
	}
	return w
}

func compare(a, b actor) int { return cmp.Compare(a.key(), b.key()) }

func (a actor) key() uint64 {
	return uint64(a.at)<<40 | uint64(a.buffer)<<32 | uint64(a.from)<<16 | uint64(a.task)<<8 | uint64(a.note)
}

func (p *protocol) describe(w world) string {
	state := word(w.word).StateOf().String()
	if word(w.word).Sleeping() && word(w.word).Ending() {
		state += "+rest"
	}
	if word(w.word).Closing() {
		state += "+close"
	}
	s := fmt.Sprintf("%-11s lock %s", state, [...]string{"empty", "taken", "work"}[w.lock])
	for _, flag := range []struct {
		on   bool
		name string
	}{{w.urgent, "urgent"}, {w.token, "token"}, {w.blocked, "blocking"}, {w.event, "event"}, {w.changed, "changed"},
		{w.ready, "ready"}, {w.rang, "rang"}, {w.sealed, "sealed"}, {w.done, "done"}} {
		if flag.on {
			s += ", " + flag.name
		}
	}
	return s
}

// The lanes, and where else tasks are.

func (w *world) holdsTask(p *protocol, external bool, where uint8) bool {
	for i, k := range p.kinds {
		if k.task() && k.external() == external && w.actors[i+1].task&where != 0 {
			return true
		}
	}
	return false
}

func (w *world) inboxEmpty(p *protocol) bool {
	return !w.holdsTask(p, true, taskQueued) && !w.holdsTask(p, false, taskQueued)
}

// move takes the tasks of a lane from one point to another.
func (w *world) move(p *protocol, external bool, from, to uint8) {
	for i, k := range p.kinds {
		if a := &w.actors[i+1]; k.task() && k.external() == external && a.task&from != 0 {
			a.task = a.task&^from | to
		}
	}
}

// needed is neededLocked.
func (w *world) needed(p *protocol) bool {
	return w.holds || w.workers != 0 || !w.inboxEmpty(p) || w.table || w.pending != 0
}

// Memory.

func (w *world) flush(i int) {
	a := &w.actors[i]
	if a.buffer == rangStore {
		w.rang = true
	} else {
		w.lock = a.buffer &^ lockStore
	}
	a.buffer = 0
}

// acquire takes the inbox's lock for an actor, if it is free.
func (w *world) acquire(i int) bool {
	if w.lock == eventloop.Locked || w.actors[i].buffer != 0 {
		return false
	}
	w.lock = eventloop.Locked
	return true
}

// release gives it back, in a plain store.
func (w *world) release(p *protocol, i int) {
	value := uint8(eventloop.FreeWork)
	if w.inboxEmpty(p) {
		value = eventloop.FreeEmpty
	}
	w.actors[i].buffer = lockStore | value
}

// mayHaveWork is the loop's look at the lock; it sees its own store at once.
func (w *world) mayHaveWork() bool {
	if b := w.actors[loop].buffer; b&lockStore != 0 {
		return b != lockStore|eventloop.FreeEmpty
	}
	return w.lock != eventloop.FreeEmpty
}
