package gojaloop

// Timers: a list for each delay, a heap of the lists by expiry, and one timer of the loop for the earliest.

import (
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/slim"
)

// timers holds the timers of a host. Used on the loop alone. Times are nanoseconds since the anchor.
type timers struct {
	host   *Host
	anchor time.Time
	html   bool // WithHTMLTimers
	zero   bool // WithZeroDelays

	lists      slim.Map[time.Duration, *list]
	order      []*list                  // a heap of the lists, by expiry, then by age
	empty      int                      // lists without a timer
	recent     *list                    // the list that listOf has returned last
	running    *list                    // the list of the timer that next has returned last in this phase
	newest     uint64                   // the last value that was given to an age
	callback   uint64                   // counts callbacks of scripts
	refs       int                      // pending timers with a ref, for which Run waits
	phaseBegan int64                    // when the timing phase began: timers due by then fire in it
	set        uint64                   // how many timers were set so far, refreshes and repeats included
	lastBefore uint64                   // the value of set when the phase began: timers set later wait for the next phase
	current    *timer                   // the timer that runs, if finish has something to do for it
	level      int                      // nesting level of the timer that runs
	ids        slim.Map[uint64, *timer] // pending timers that have a number
	lastID     uint64

	alarm   eventloop.TimerID // the loop's timer; 0 when none is pending
	alarmAt int64             // when the alarm rings
	unref   bool              // the alarm has no ref, as no timer has one
	onAlarm func()            // the alarm's callback

	proto *goja.Object // prototype of Timeout
	apply *goja.Object // calls the function of a timer with arguments
}

// list holds the timers of one delay, in the order in which they fire.
type list struct {
	delay      time.Duration
	head, tail *timer
	last       *batch // the batch begun last
	expiry     int64  // no timer is due earlier
	age        uint64 // grows whenever expiry changes: of equal expiry, the older list is first
}

// batch is the timers of one delay that one callback has set within a millisecond: all are due when the last one is.
// So timers that belong together in Node, whose clock has whole milliseconds, stay together, and none is early.
type batch struct {
	callback   uint64
	began, due int64
}

// timer is a timeout or an interval, and implements its Timeout object.
type timer struct {
	timers     *timers
	fn         goja.Value
	delay      time.Duration
	list       *list // the list that it is in; nil when it is not pending
	prev, next *timer
	batch      *batch
	set        uint64 // the value of timers.set when it was set
	object     *goja.Object
	rare
	repeat, unref, cleared bool
}

// extra is the part of a timer or an immediate that few of them need. All others share the variable none, which is never written.
type extra struct {
	args  []goja.Value
	scope *scope
	id    uint64 // of a timer; 0 until a script asks for it; HTML timers have it from the start
	level int    // nesting level, of HTML timers
	began int64  // when an interval's callback began; the next delay counts from there
	props properties
}

var none = new(extra)

type rare struct{ *extra }

// own returns the extra of the timer or immediate alone, which may be written; it makes it on the first call.
func (r *rare) own() *extra {
	if r.extra == none {
		r.extra = new(extra)
	}
	return r.extra
}

func (ts *timers) init(h *Host) {
	ts.host, ts.anchor = h, time.Now()
	ts.onAlarm = func() { h.timersDue() }
}

func (ts *timers) now() int64 {
	if s := ts.host.schedule; s != nil {
		return int64(s.Now())
	}
	return int64(time.Since(ts.anchor))
}

// coerce returns the delay that a script's argument stands for.
func (ts *timers) coerce(v goja.Value, repeat bool) time.Duration {
	var ms float64
	if v != nil && !goja.IsUndefined(v) {
		ms = v.ToFloat()
	}
	switch {
	case ts.html:
		if math.IsNaN(ms) || math.IsInf(ms, 0) {
			return 0
		}
		return time.Duration(max(0, int32(int64(math.Mod(math.Trunc(ms), 1<<32))))) * time.Millisecond
	case ts.zero && !repeat && !(ms >= 1):
		return 0
	case !(ms >= 1 && ms <= math.MaxInt32):
		ms = 1
	}
	return time.Duration(ms) * time.Millisecond
}

const (
	// freeLevels is the nesting level beyond which HTML timers wait for at least leastNested.
	freeLevels  = 6
	leastNested = 4 * time.Millisecond
)

// insert makes a timer pending. Its delay counts from start.
func (ts *timers) insert(t *timer, start int64) {
	delay := t.delay
	if ts.html && t.level > freeLevels {
		delay = max(delay, leastNested)
	}
	l := ts.recent
	if l == nil || l.delay != delay {
		l = ts.listOf(delay, start)
	}
	due := start + int64(delay)
	if b := l.last; b != nil && b.callback == ts.callback && start-b.began < int64(time.Millisecond) {
		b.due = max(b.due, due)
	} else {
		l.last = &batch{ts.callback, start, due}
	}
	t.batch = l.last
	ts.set++
	t.set, t.list = ts.set, l
	if t.prev = l.tail; t.prev != nil {
		t.prev.next = t
	} else {
		l.head = t
		ts.empty--
	}
	l.tail = t
	if !t.unref {
		ts.refs++
	}
}

// listOf returns the list of a delay, and makes it if need be, with the expiry of a timer that counts from start.
func (ts *timers) listOf(delay time.Duration, start int64) *list {
	l := ts.lists.Of[delay]
	if l == nil {
		ts.newest++
		l = &list{delay: delay, age: ts.newest, expiry: start + int64(delay)}
		ts.lists.Put(delay, l)
		ts.empty++
		ts.push(l)
	}
	ts.recent = l
	return l
}

// remove takes a timer out of its list; one that is not pending stays as it is.
func (ts *timers) remove(t *timer) {
	l := t.list
	if l == nil {
		return
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		l.head = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		l.tail = t.prev
	}
	if l.head == nil {
		ts.empty++
	}
	t.prev, t.next, t.list = nil, nil, nil
	if !t.unref {
		ts.refs--
	}
}

// begin begins a timing phase: timers that are due and set by now fire in it.
func (ts *timers) begin() { ts.phaseBegan, ts.lastBefore, ts.running = ts.now(), ts.set, nil }

// earliest returns the first list that has a timer, with its expiry brought up to date; nil if there is none.
func (ts *timers) earliest() *list {
	for len(ts.order) != 0 {
		l := ts.order[0]
		if l.head == nil {
			ts.forget(l)
			ts.pop()
			continue
		}
		expiry := l.head.batch.due
		if l.head.set > ts.lastBefore && expiry <= ts.phaseBegan {
			expiry = ts.phaseBegan + 1 // set in this phase, without a delay: it fires in the next one
		}
		if expiry <= l.expiry {
			return l
		}
		l.expiry = expiry
		ts.newest++
		l.age = ts.newest
		ts.down(0)
	}
	return nil
}

// forget drops a list without a timer, which the caller takes out of the heap.
func (ts *timers) forget(l *list) {
	ts.empty--
	if ts.lists.Delete(l.delay); ts.recent == l {
		ts.recent = nil
	}
}

// sweep drops the lists without a timer, if they are many. earliest drops only those that come to the top of the heap, when
// their cleared timers would have been due.
func (ts *timers) sweep() {
	if ts.empty <= slim.Keep || 2*ts.empty < len(ts.order) {
		return
	}
	ts.order = slim.Slice(slices.DeleteFunc(ts.order, func(l *list) bool {
		if l.head == nil {
			ts.forget(l)
		}
		return l.head == nil
	}))
	for i := len(ts.order)/2 - 1; i >= 0; i-- {
		ts.down(i)
	}
}

// ready tells whether a timer is due.
func (ts *timers) ready(now int64) bool {
	l := ts.earliest()
	return l != nil && l.expiry <= now
}

// next takes out the next timer of this phase, nil if there is none. As in Node, a list goes on while its timers are due,
// although those of another may be due earlier; HTML timers go by what they are due alone.
func (ts *timers) next() *timer {
	l := ts.running
	if l == nil || l.head == nil || l.head.set > ts.lastBefore || l.head.batch.due > ts.phaseBegan || ts.html {
		if l = ts.earliest(); l == nil || l.expiry > ts.phaseBegan {
			return nil
		}
		ts.running = l
	}
	t := l.head
	ts.remove(t)
	if t.repeat {
		t.own().began = ts.now()
	}
	if t.repeat || t.id != 0 {
		ts.current, ts.level = t, t.level
	}
	return t
}

// finish finishes the current timer after its callback. An interval is set again, counted from where its callback began;
// so it drifts, as in Node, and never overlaps itself.
func (ts *timers) finish() {
	t := ts.current
	ts.current, ts.level = nil, 0
	switch {
	case t.list != nil: // refreshed
	case t.repeat && !t.cleared && !t.scope.over() && ts.host.endErr == nil:
		t.own().level = min(t.level, freeLevels) + 1
		ts.insert(t, t.began)
	case t.id != 0:
		ts.ids.Delete(t.id)
	}
}

// clear cancels a timer for good.
func (ts *timers) clear(t *timer) {
	ts.remove(t)
	ts.sweep()
	t.cleared = true
	t.fn = goja.Undefined()
	if t.id != 0 {
		ts.ids.Delete(t.id)
	}
	if t.args != nil {
		t.args = nil
	}
}

// drop cancels all timers, when the host ends.
func (ts *timers) drop() {
	for _, l := range ts.order {
		for t := l.head; t != nil; t = t.next {
			t.list, t.cleared = nil, true
		}
	}
	ts.lists, ts.ids = slim.Map[time.Duration, *list]{}, slim.Map[uint64, *timer]{}
	ts.order, ts.empty, ts.recent, ts.running, ts.refs = nil, 0, nil, nil, 0
	if ts.alarm != 0 {
		_ = ts.host.alarms().CancelTimer(ts.alarm)
		ts.alarm = 0
	}
}

// setAlarm sets the loop's timer, the alarm, for the first timer that is due, with a ref if any timer has one. An alarm
// that would ring too early stays as it is while there are timers: an entry that finds nothing to do costs less than moving
// the alarm whenever a timer is cleared. setAlarm returns the error of a loop that refuses the alarm.
func (ts *timers) setAlarm() error {
	loop := ts.host.alarms()
	l := ts.earliest()
	if l == nil {
		if ts.alarm != 0 {
			_ = loop.CancelTimer(ts.alarm)
			ts.alarm = 0
		}
		return nil
	}
	if ts.alarm == 0 || l.expiry < ts.alarmAt {
		if ts.alarm != 0 {
			_ = loop.CancelTimer(ts.alarm)
		}
		var err error
		ts.alarm, err = loop.ScheduleTimer(time.Duration(l.expiry-ts.now()), ts.onAlarm)
		if err != nil {
			ts.alarm = 0
			return err
		}
		ts.alarmAt, ts.unref = l.expiry, false
	}
	if unref := ts.refs == 0; unref != ts.unref {
		if ts.unref = unref; unref {
			_ = loop.UnrefTimer(ts.alarm)
		} else {
			_ = loop.RefTimer(ts.alarm)
		}
	}
	return nil
}

// timersDue is the alarm's callback: an entry for the turn.
func (h *Host) timersDue() {
	h.timers.alarm = 0
	_ = h.enter(entry{}, nil)
}

// The heap of lists.

func (l *list) before(m *list) bool {
	return l.expiry < m.expiry || l.expiry == m.expiry && l.age < m.age
}

func (ts *timers) push(l *list) {
	ts.order = append(ts.order, l)
	o := ts.order
	for i := len(o) - 1; i > 0; {
		up := (i - 1) / 2
		if !o[i].before(o[up]) {
			break
		}
		o[i], o[up] = o[up], o[i]
		i = up
	}
}

func (ts *timers) pop() {
	last := len(ts.order) - 1
	ts.order[0], ts.order[last] = ts.order[last], nil
	ts.order = slim.Slice(ts.order[:last])
	ts.down(0)
}

func (ts *timers) down(i int) {
	o := ts.order
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(o); c++ {
			if o[c].before(o[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		o[i], o[least] = o[least], o[i]
		i = least
	}
}
