package quota

// An account bounds what an ending loop accepts from its own callbacks.

const (
	// Functions is how many functions callbacks may submit to an ending loop.
	Functions = 1_000_000
	// Each is how many more they may submit for each function that waited when the end began, or that a worker brings.
	Each = 64
	// Time is how long, in nanoseconds, the functions that came so may take.
	Time = 500_000_000
	// Foreign is how many functions all goroutines that are neither the loop's nor a worker's may submit to an ending loop.
	Foreign = 1 << 14

	mostTaken = Time / 2  // the most that one function is charged: the machine may have stood still
	usual     = Share     // the most that one function counts for the average, for the same reason
	known     = Time / 20 // the time after which the average is believed
)

// Account is what an ending loop accepts from its own callbacks: enough to finish what is under way, and not so much that the
// loop never ends. There is one for the whole end. A function that waited when the end began may take any time. What came since
// is charged; and what has come and not started counts as if it took what the others have taken on average, so that the end
// does not wait for a queue that grew while there was time. What a worker brings is heard although the account is spent.
type Account struct {
	Open bool // the loop has noticed its end: functions are counted
	Free bool // except those that are submitted now, because the loop rejects promises

	credit  int    // functions that may still be submitted
	time    int64  // nanoseconds that may still be charged
	worker  int    // functions that may be submitted in any case, by what a worker has brought
	waited  [2]int // of the internal tasks, and the microtasks, that waited: those that have not started
	pending int    // functions that were accepted and have not started
	ran     int64  // functions that were charged
	took    int64  // nanoseconds that they took, each at most usual
	since   int64  // when the function that is charged has started
	charged bool   // a function is being charged
	decided bool   // Reject was called
}

// Queue says in which queue of the loop a function was.
type Queue int

// The queues. A function that waited is found in the first two by its place, and runs before all that came since.
const (
	Internal Queue = iota
	Microtasks
	Ticks // functions of NextTick
)

// Opened returns the account of an end that begins now, for so many functions.
func Opened(functions int) Account { return Account{Open: true, credit: functions, time: Time} }

// Wait notes functions that waited when the end began.
func (a *Account) Wait(internal, microtasks, ticks int) {
	a.waited[Internal] += internal
	a.waited[Microtasks] += microtasks
	a.credit += Each * (internal + microtasks + ticks)
}

// Reject notes functions that waited for promises, which the end has rejected: the first ones are like others that waited.
// Later ones are not: handlers that leave another promise pending each time could keep the loop from its end.
func (a *Account) Reject(microtasks, ticks int) {
	if !a.decided {
		a.decided = true
		a.Wait(0, microtasks, ticks)
	}
}

// Accepts tells whether the callback that runs may submit a function.
func (a *Account) Accepts() bool { return !a.Open || a.Free || a.worker > 0 || a.lasts() }

// Accept counts a function that a callback has submitted.
func (a *Account) Accept() {
	switch {
	case !a.Open, a.Free:
		return
	case a.lasts():
		a.credit--
	default:
		a.worker--
	}
	a.pending++
}

func (a *Account) lasts() bool {
	return a.credit > 0 && a.time > 0 && (a.took < known || int64(a.pending)*a.took < a.time*a.ran)
}

// Over tells whether the time is over: then other goroutines are to be refused, too.
func (a *Account) Over() bool { return a.Open && a.time <= 0 }

// Start counts a function that starts.
//
//go:noinline
func (a *Account) Start(q Queue, now int64) {
	a.Pause(now)
	if q < Ticks && a.waited[q] > 0 {
		a.waited[q]--
		return
	}
	a.pending = max(0, a.pending-1)
	a.charged, a.since = a.waited == [2]int{}, now
}

// StartTask counts an external task that starts: it waited when the end began.
//
//go:noinline
func (a *Account) StartTask(now int64) {
	a.Pause(now)
	a.credit += Each
}

// StartTurn counts a turn of threadlets that starts, with the first threadlet that it resumes, as Resume does.
func (a *Account) StartTurn(now int64) bool {
	a.Pause(now)
	a.charged, a.since = a.waited == [2]int{}, now
	return a.Resume()
}

// Resume counts a threadlet that goes on, like a function that was submitted and starts. If the account does not accept it,
// Resume returns false.
//
//go:noinline
func (a *Account) Resume() bool {
	if !a.Accepts() {
		return false
	}
	a.Accept()
	a.pending--
	return true
}

// FromWorker says that the function that was counted last was brought by a worker.
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
