package park_test

// The protocol of sleep, wake and end as a model: who takes part, and what there is. package park and wait.go of package eventloop state it.
//
// A step is one atomic access of the code, or what is done under a lock as far as nobody sees it without that lock. The
// loop's load and compare-and-swap of the state are one step where nobody else makes the change that would part them.
// The transitions of the state are the product's own.
//
// Memory is that of amd64, which of all that Go's atomics promise keeps back one thing: storeRelease is a plain store
// there. So each actor has a store buffer, which reaches the memory, in order, at any later moment, but before the actor's
// next atomic write, exchange or lock. Where storeRelease is an atomic store it does so at once, which is one of these
// moments. Everything else is sequentially consistent. Three plain stores need no buffer, for to delay them does no more
// than to delay others: that of the timers' lock, at which nobody looks without taking it; the loop's to flags, which
// producers read under the lock alone, that is, behind the release; and in the large casts a release that is its actor's
// last access, or the loop's, who alone looks at a lock without taking it.
//
// Left out is what looks like something else here: microtasks from elsewhere are a lane beside that of internal tasks,
// and take their way; so does what a worker's function submits that of its outcome, the end of a context that of
// Shutdown, a change of mode that of a registration, a timer without room that of a producer without. Timers are of one
// tier. A pause only moves a tick in time; so does who gives way. Budgets end a tick early. Promises that are pending when
// everything has run are some more of that. A loop parks in the runtime's poller as it blocks in the system's. And what an
// ending loop still accepts is a handful.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/park"
)

type word = park.Word

// kind is what an actor does.
type kind uint8

const (
	submitter  kind = iota // Submit
	grower                 // Submit that finds the lane's chunk full
	insider                // SubmitInternal
	server                 // SubmitInternal, of a function that each time submits itself again
	flooder                // SubmitInternal, again and again; what waits of it counts as one function
	leaver                 // UnregisterFDThen
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

var kindNames = [...]string{"submit", "submit+grow", "internal", "serve", "flood", "unregister", "worker",
	"shutdown", "close", "register", "descriptor", "watch", "timer", "alarm", "release"}

func (k kind) external() bool { return k <= grower }
func (k kind) task() bool     { return k <= worker }

// again tells whether there is more than one function of an actor.
func (k kind) again() bool { return k == server || k == flooder }

// owed tells whether an ending loop accepts any amount of an actor's work.
func (k kind) owed() bool { return k == worker || k == leaver }

// cast is who takes part in an exploration.
type cast struct {
	kinds    []kind
	blocking bool // FastPathDisabled
	autoExit bool
}

func (c cast) has(kinds ...kind) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return slices.Contains(c.kinds, k) })
}

// castOf reads a cast: the names of its kinds, and what else there is.
func castOf(words string) (c cast) {
	for word := range strings.FieldsSeq(words) {
		switch i := slices.Index(kindNames[:], word); {
		case word == "(blocking)":
			c.blocking = true
		case word == "(auto-exit)":
			c.autoExit = true
		case i < 0:
			panic(word)
		default:
			c.kinds = append(c.kinds, kind(i))
		}
	}
	return c
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
	eager   bool // releases that nobody can tell from later ones come at once

	// What follows from the cast. Steps that concern nobody in it are left out.
	boxes                                []uint8 // the inboxes with work, in the order in which who takes both locks does
	workers, timers, descriptors, counts bool    // counts: what an ending loop accepts is bounded

	marks marks // of the step that is being taken
}

func newProtocol(c cast, t transitions, m mistake) *protocol {
	p := &protocol{cast: c, transitions: t, mistake: m, workers: c.has(worker), timers: c.has(scheduler),
		descriptors: c.blocking || c.has(registrar), counts: c.has(server, flooder)}
	if c.has(submitter, grower) {
		p.boxes = append(p.boxes, outer)
	}
	if c.has(insider, server, flooder, leaver, worker, holder) || len(p.boxes) == 0 {
		p.boxes = append(p.boxes, inner)
	}
	return p
}

// The inboxes.
const (
	outer = iota // Loop.inbox
	inner        // Loop.urgent
)

// box is the inbox that an actor's work goes to.
func (k kind) box() uint8 {
	if k.external() {
		return outer
	}
	return inner
}

const (
	crowd = 7 // actors at most; the loop is the first
	few   = 2 // functions that an ending loop accepts from elsewhere, and from its own callbacks
)

// world is a state of the model.
type world struct {
	word   uint16 // the loop's state
	claims uint8  // of the wake-up of the last sleep

	lock                       [2]uint8 // of the inboxes
	sealed                     [2]bool
	workers, late, credit      uint8
	urgent, token, done, holds bool // urgent: the flag; token: there is one in the wake channel
	noticed                    bool // the loop knows that it ends

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
	buffer uint8  // the stores that have not reached the memory
	from   uint16 // the state that it has read
	task   uint8
	note   uint8
}

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
	w.word = uint16(loopapi.StateAwake)
	w.holds = p.has(holder)
	w.changed = p.blocking // New has set the mode
	if p.counts {
		w.late, w.credit = few, few
	}
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
	onlyLoopLeft := p.onlyLoopLeft(&from)
	take := func(i int, does string, to world, wrong string) {
		marks := p.marks
		if i == loop {
			marks |= byLoop
		}
		if onlyLoopLeft {
			marks |= afterwards
		}
		yield(p.checkInvariants(&from, step[world]{i, does, to, wrong, marks}))
	}
	for i := range len(p.kinds) + 1 {
		taken := false
		if from.actors[i].buffer != 0 {
			to := from
			to.flush(i)
			p.marks = sure | idle
			take(i, "its store reaches the memory", to, "")
			taken = true
		}
		if i > loop && p.kinds[i-1] == flooder && from.actors[i].at == atBegin {
			to := from
			to.actors[i].at = atGone
			p.marks = sure | idle
			take(i, "has enough", to, "")
		}
		to := from
		p.marks = sure | idle
		if does, wrong := p.step(&to, i); does != "" {
			take(i, does, to, wrong)
			taken = true
		}
		if taken && from.done {
			break // what others still do is refused, in any order
		}
	}
}

// The marks of steps.
const (
	byLoop     marks = 1 << iota
	idle             // no callback runs
	sure             // it is no look at a lock that has just been taken, by somebody who may not bring work
	accepts          // work, into an ending loop
	afterwards       // the end was asked for, and nobody is left but the loop, and who goes on for ever
)

// endless are the ways in which the loop may not go on. That it is misled each time that it looks is nobody's intention:
// it would have to be a new holder each time, and the loop just there at the moment; but while it is one and the same,
// who has been preempted, the loop must wait, and not go round.
func (p *protocol) endless() []cycle {
	return []cycle{
		{byLoop | idle, 0, "the loop goes round and round, and runs nothing"},
		{afterwards, accepts, "there is no bound to what it accepts while it ends"},
		{afterwards | sure, byLoop, "the end was asked for, and the loop goes on for ever"},
	}
}

// onlyLoopLeft tells whether the end was asked for, and has not come, and everybody but the loop has done what they had to do,
// or goes on for ever.
func (p *protocol) onlyLoopLeft(w *world) bool {
	if !word(w.word).Ending() || w.done {
		return false
	}
	for i, k := range p.kinds {
		if at := w.actors[i+1].at; at != atGone && k != flooder && !(at == atBegin && k.waits()) {
			return false
		}
	}
	return true
}

// waits tells whether an actor may wait for ever, for something to happen.
func (k kind) waits() bool { return k == descriptor || k == watcher || k == ringer || k == leaver }

func (p *protocol) name(i int) string {
	if i == loop {
		return "loop"
	}
	return kindNames[p.kinds[i-1]]
}

// checkInvariants adds to a step what it violates, whoever takes it.
func (p *protocol) checkInvariants(from *world, s step[world]) step[world] {
	before, after := word(from.word), word(s.to.word)
	switch {
	case s.wrong != "":
	case rank(after) < rank(before):
		s.wrong = fmt.Sprintf("the state goes back from %v to %v", before.State(), after.State())
	case before.Closing() && !after.Closing():
		s.wrong = "a Close is forgotten"
	case s.to.claims > 1:
		s.wrong = "two claim the wake-up of one sleep"
	case s.to.done && after.State() != loopapi.StateTerminated:
		s.wrong = "done before Terminated"
	}
	return s
}

func rank(w word) int {
	switch w.State() {
	case loopapi.StateAwake:
		return 0
	case loopapi.StateTerminating:
		return 2
	case loopapi.StateTerminated:
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
		case a.at != atGone && !(a.at == atBegin && k.waits()):
			return "stuck: " + p.name(i+1)
		case w.done && a.task&(taskQueued|taskTaken) != 0 && state.Closing():
			return "an ended loop keeps what it has dropped: " + p.name(i+1)
		case k == leaver && a.task&taskAccepted != 0 && a.task&taskRan == 0:
			return "what follows a registration is never called"
		case state.Closing():
		case a.task&taskAccepted != 0 && a.task&taskRan == 0, a.task&(taskQueued|taskTaken) != 0:
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
	state := word(w.word).State().String()
	if word(w.word).Sleeping() && word(w.word).Ending() {
		state += "+rest"
	}
	if word(w.word).Closing() {
		state += "+close"
	}
	s := fmt.Sprintf("%-11s", state)
	for _, b := range p.boxes {
		s += " " + [...]string{"inbox", "urgent"}[b] + " " + [...]string{"empty", "taken", "work"}[w.lock[b]]
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{w.urgent, "flag"}, {w.token, "token"}, {w.blocked, "blocking"}, {w.event, "event"}, {w.changed, "changed"},
		{w.ready, "ready"}, {w.rang, "rang"}, {w.sealed[outer], "sealed"}, {w.sealed[inner], "urgent sealed"},
		{w.noticed, "noticed"}, {w.done, "done"}} {
		if flag.on {
			s += ", " + flag.name
		}
	}
	if p.counts {
		s += fmt.Sprintf(", late %d, credit %d", w.late, w.credit)
	}
	return s
}
