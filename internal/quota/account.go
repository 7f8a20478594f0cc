package quota

// An account bounds what an ending loop accepts, and what it runs that nobody has submitted.

import "math"

const (
	// Functions is how many functions callbacks may submit to an ending loop.
	Functions = 1_000_000
	// Each is how many more they may submit for each that was accepted before the end, and in any case for each that a worker
	// brings. It is also how many functions may wait in a queue of an ending loop that accepts one more of another goroutine.
	Each = 64
	// Time is how long, in nanoseconds, the functions that start may take, apart from those that were accepted before the end.
	Time = 500_000_000
	// Foreign is how many functions all goroutines that are neither the loop's nor a worker's may submit to an ending loop.
	Foreign = 1 << 14

	mostTaken = Time / 2  // the most that one function is charged: the machine may have stood still
	usual     = Share     // the most that one function counts for the average, for the same reason
	known     = Time / 20 // the time after which the average is believed
)

// Account is what an ending loop accepts from its own callbacks: enough to finish what is under way, and not so much that the
// loop never ends. There is one for the whole end. A function that was accepted before the end may take any time; the time of
// every other one that starts is charged. No more are accepted than could run in that time, if each took what those that have
// run took on average: so the end does not wait for a queue that grew while there was time. What a worker brings is heard
// although the account is spent.
type Account struct {
	Open bool // the loop has noticed its end: functions are counted

	waited   [queues]int // functions that were accepted before the end and have not started
	most     int         // how many may be submitted
	accepted int         // how many were
	worker   int         // functions that may be submitted in any case, by what a worker has brought
	time     int64       // nanoseconds that may still be charged
	told     bool        // Over has returned true
	ran      int64       // functions that were charged
	took     int64       // nanoseconds that they took, each at most usual
	since    int64       // when the function that is charged has started
	charged  bool        // a function is being charged
}

// Queue says where a function has waited. A queue is in order, so those that were accepted before the end start first.
type Queue int

// The queues. All external tasks were accepted before the end. Reports are those of unhandled rejections, Turns those of
// threadlets: nobody submits them, so they are accepted when they start.
const (
	External Queue = iota
	Internal
	Microtasks
	Ticks // functions of NextTick
	Reports
	Turns
	queues
)

// Opened returns the account of an end that begins now, for so many functions. waited is how many were accepted before, in the
// queues from Internal on.
func Opened(functions int, waited ...int) Account {
	a := Account{Open: true, most: functions, time: Time, waited: [queues]int{External: math.MaxInt}}
	copy(a.waited[Internal:], waited)
	return a
}

// Accepts tells whether the callback that runs may submit a function.
func (a *Account) Accepts() bool { return !a.Open || a.worker > 0 || a.lasts() }

// Accept counts a function that a callback has submitted.
func (a *Account) Accept() {
	switch {
	case !a.Open:
	case a.lasts():
		a.accepted++
	default:
		a.worker--
	}
}

func (a *Account) lasts() bool {
	return a.accepted < a.most && a.time > 0 && (a.took < known || int64(a.accepted)*a.took < Time*a.ran)
}

// Over tells, once, that the time is over: then other goroutines are to be refused, too.
func (a *Account) Over() bool {
	first := a.time <= 0 && !a.told
	a.told = a.told || first
	return first
}

// Start counts a function that starts, and tells whether the account accepts it: as it does, unless nobody has submitted it.
//
//go:noinline
func (a *Account) Start(q Queue, now int64) bool {
	a.Pause(now)
	a.charged, a.since = true, now
	if a.waited[q] > 0 {
		a.waited[q]--
		a.Before()
		return true
	}
	return q < Reports || a.Resume()
}

// Resume counts a threadlet that goes on within a turn. It returns false if the account does not accept it.
//
//go:noinline
func (a *Account) Resume() bool {
	switch {
	case a.lasts():
		a.most--
	case a.worker > 0:
		a.worker--
	default:
		return false
	}
	return true
}

// Before says that the function that was counted last was accepted before the end, or is one that the end waits for.
func (a *Account) Before() {
	a.most += Each
	a.charged = false
}

// FromWorker says that the function that was counted last was brought by a worker, and may bring as many in any case.
func (a *Account) FromWorker() { a.worker, a.charged = Each, false }

// Pause ends the charging of the function that started last: it has returned.
func (a *Account) Pause(now int64) {
	if a.charged {
		took := now - a.since
		a.time -= min(took, mostTaken)
		a.took += min(took, usual)
		a.ran++
		a.charged = false
	}
}
