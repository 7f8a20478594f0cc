package gojaloop

// Timers: lists by delay, whose order is that of their first ones, with one timer of the loop for the earliest.

import (
	"math"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// timers are those of a host; touched on the loop alone. Times are nanoseconds since the anchor.
type timers struct {
	host   *Host
	anchor time.Time
	html   bool
	zero   bool

	lists    map[time.Duration]*list
	order    []*list // a heap by expiry, then by age
	recent   *list   // that was asked for last
	newest   uint64  // of lists
	callback uint64  // counts callbacks of scripts
	refs     int     // timers that are pending and keep Run waiting
	phase    int64   // until when the timers that run are due
	set      uint64  // counts timers that were set
	limit    uint64  // those set up to then run in this phase
	current  *timer  // that runs, if it has to be seen to afterwards
	level    int     // of nesting, of the timer that runs
	ids      map[uint64]*timer
	lastID   uint64

	alarm   eventloop.TimerID // of the loop; 0 when none is pending
	alarmAt int64
	unref   bool // the alarm is, as no timer has a ref
	ring    func()

	proto *goja.Object // of Timeout
	apply *goja.Object // what a timer with arguments calls
}

// list is of timers of one delay, in the order in which they fire.
type list struct {
	delay      time.Duration
	head, tail *timer
	last       *batch // that was begun
	expiry     int64  // nothing is due before it
	age        uint64
}

// batch is of timers of one delay that one callback has set within a millisecond: they are due together, when the last
// is. So what belongs together in Node, whose clock has whole milliseconds, stays together, and nothing is early.
type batch struct {
	callback   uint64
	began, due int64
}

// timer is a timeout or an interval, and the object that scripts have.
type timer struct {
	timers     *timers
	fn         goja.Value
	delay      time.Duration
	list       *list // that it is in; nil when it is not pending
	prev, next *timer
	batch      *batch
	set        uint64
	object     *goja.Object
	*extra
	repeat, unref, cleared bool
}

// extra is what few timers have. Of those that do not it is common to all, and nobody writes it.
type extra struct {
	args  []goja.Value
	id    uint64 // 0 until somebody asks; of HTML timers from the start
	level int
	began int64 // when an interval's callback began, which its next run counts from
	props properties
}

var none = new(extra)

// own returns the timer's own extra, to be written.
func (t *timer) own() *extra {
	if t.extra == none {
		t.extra = new(extra)
	}
	return t.extra
}

func (ts *timers) init(h *Host) {
	ts.host = h
	ts.anchor = time.Now()
	ts.ring = func() { h.timersDue() }
}

func (ts *timers) now() int64 {
	if s := ts.host.schedule; s != nil {
		return int64(s.Now())
	}
	return int64(time.Since(ts.anchor))
}

// coerce makes a delay of what a script gives.
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
	// freeLevels is how deep HTML timers nest before they wait for at least leastNested.
	freeLevels  = 6
	leastNested = 4 * time.Millisecond
)

// insert makes a timer pending, with a delay from start on.
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
	}
	l.tail = t
	if !t.unref {
		ts.refs++
	}
}

// listOf returns the list for a delay.
func (ts *timers) listOf(delay time.Duration, start int64) *list {
	l := ts.lists[delay]
	if l == nil {
		ts.newest++
		l = &list{delay: delay, age: ts.newest, expiry: start + int64(delay)}
		if ts.lists == nil {
			ts.lists = map[time.Duration]*list{}
		}
		ts.lists[delay] = l
		ts.push(l)
	}
	ts.recent = l
	return l
}

// remove takes a timer out of its list.
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
	t.prev, t.next, t.list = nil, nil, nil
	if !t.unref {
		ts.refs--
	}
}

// begin begins a phase: what is due now, and was set before, fires in it.
func (ts *timers) begin() { ts.phase, ts.limit = ts.now(), ts.set }

// earliest returns the first list that has a timer, with its expiry brought up to date; nil if there is none.
func (ts *timers) earliest() *list {
	for len(ts.order) != 0 {
		l := ts.order[0]
		if l.head == nil {
			if delete(ts.lists, l.delay); ts.recent == l {
				ts.recent = nil
			}
			ts.pop()
			continue
		}
		expiry := l.head.batch.due
		if l.head.set > ts.limit && expiry <= ts.phase {
			expiry = ts.phase + 1 // set in this phase, without a delay: it fires in the next one
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

// ready tells whether a timer is due.
func (ts *timers) ready(now int64) bool {
	l := ts.earliest()
	return l != nil && l.expiry <= now
}

// next takes the next timer that is due in this phase; nil if there is none.
func (ts *timers) next() *timer {
	l := ts.earliest()
	if l == nil || l.expiry > ts.phase {
		return nil
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

// ran sees to a timer whose callback is over: an interval goes on, from where its callback began; so it drifts, as in
// Node, and never overlaps itself.
func (ts *timers) ran() {
	t := ts.current
	ts.current, ts.level = nil, 0
	switch {
	case t.list != nil: // refreshed
	case t.repeat && !t.cleared && ts.host.over == nil:
		t.own().level = min(t.level, freeLevels) + 1
		ts.insert(t, t.began)
	case t.id != 0:
		delete(ts.ids, t.id)
	}
}

// clear takes a timer back for good.
func (ts *timers) clear(t *timer) {
	ts.remove(t)
	t.cleared = true
	t.fn = goja.Undefined()
	if t.id != 0 {
		delete(ts.ids, t.id)
	}
	if t.args != nil {
		t.args = nil
	}
}

// drop forgets all timers, when the host ends.
func (ts *timers) drop() {
	for _, l := range ts.order {
		for t := l.head; t != nil; t = t.next {
			t.list, t.cleared = nil, true
		}
	}
	ts.lists, ts.order, ts.recent, ts.ids, ts.refs = nil, nil, nil, nil, 0
	if ts.alarm != 0 {
		_ = ts.host.alarms().CancelTimer(ts.alarm)
		ts.alarm = 0
	}
}

// setAlarm has the loop's timer ring when the first timer is due. One that would ring too early is left alone, as long as
// there are timers: an idle entry costs less than moving it whenever one is cleared. It returns the error of a loop that
// refuses.
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
		ts.alarm, err = loop.ScheduleTimer(time.Duration(l.expiry-ts.now()), ts.ring)
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

// timersDue is the alarm.
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
	ts.order = ts.order[:last]
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
