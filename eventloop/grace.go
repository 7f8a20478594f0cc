package eventloop

// Grace: what an ending loop still accepts. It is enough to finish the work that is under way, and not so much that the
// loop never ends.

// grace is what an ending loop accepts from its own callbacks. A graceful end accepts the functions that callbacks
// submit to finish their work; but some callbacks submit themselves again, for ever. Generations tell the two apart:
// the functions that waited are the first generation, those that they submit the second, and so on. A function that
// submits itself runs once in each generation, however many others wait beside it. So the number of generations bounds
// such functions, and leaves a large number of functions to work that is finite.
//
// There are three accounts. common and credit are the numbers of functions that may still be submitted, and time is how
// long callbacks may still take. The accounts are opened when the end begins, and renewed by Loop.finish. Elders are the
// internal tasks and microtasks that waited when the accounts were opened or renewed.
//
// Only the loop's goroutine touches grace.
type grace struct {
	counts   bool  // functions are counted: since the loop has noticed its end, except while it rejects promises
	rejected bool  // the loop has rejected promises, and that has caused work
	free     bool  // the running function is of one of the first generations, so what it submits is charged to common
	common   int64 // functions that the first generations may still submit
	credit   int64 // functions that later generations may still submit
	time     int64 // nanoseconds that functions other than elders may still take

	elders  [2]int // internal tasks, and microtasks, that are elders and have not started
	clock   int64  // when the last function started; 0 if that was an elder, or an external task
	tasks   round  // of internal tasks
	jobs    round  // of microtasks, or of functions of NextTick, since the last change from one to the other
	changes int    // how often the loop has begun one of these two queues: the first, and at each change from one to the other
	inTicks bool   // the last change was to functions of NextTick
}

// round is one generation of a queue: the functions that wait when the generation before has run. What a free function
// submits to a more urgent queue runs before the next function of its own queue: internal tasks run before the next
// external task, and microtasks before the next internal task. So a free function restarts the count of those queues.
type round struct {
	nth  int // the generation's number, from 1
	left int // functions of the generation that have not started
}

// next counts a function that is about to start. waiting is the length of its queue, the function included.
func (r *round) next(waiting int) {
	if r.left == 0 {
		r.nth, r.left = r.nth+1, waiting
	}
	r.left--
}

const (
	someGenerations = 8       // generations that are free however long they take
	mostGenerations = 64      // generations that are free while there is time
	mostCommon      = 1 << 20 // functions that free generations may submit, apart from what perElder and perOwed add
	perElder        = 8       // functions that they may submit besides, for each elder or external task
	perOwed         = 64      // functions that they may submit besides, for each function that a worker submits
	mostOwn         = 1 << 14 // functions that later generations may submit
	mostForeign     = 1 << 14 // functions that other goroutines may submit

	mostTime  = 500_000_000 // nanoseconds that functions other than elders may take
	mostTaken = 10_000_000  // the most nanoseconds charged for one function: the machine may have stood still
)

// accepts tells whether the running function may submit one more.
func (g *grace) accepts() bool {
	return !g.counts || g.free && g.common > 0 || g.credit > 0 && g.time > 0
}

// charge counts one function that was accepted.
func (g *grace) charge() {
	switch {
	case !g.counts:
	case g.free && g.common > 0:
		g.common--
	default:
		g.credit--
	}
}

// countExternal counts an external task before it starts. The task was accepted before the end began, so it is free.
func (l *Loop) countExternal() {
	g := &l.grace
	g.common += perElder
	g.time = mostTime
	g.free, g.clock, g.changes = true, 0, 0
	g.tasks, g.jobs = round{}, round{}
}

// countInternal counts an internal task before it starts.
func (l *Loop) countInternal() {
	g := &l.grace
	g.tasks.next(l.internals.len())
	l.measure(&g.elders[internal&1])
	if g.free = g.isFree(g.tasks.nth); g.free {
		g.jobs, g.changes = round{}, 0
	}
}

// countJob counts a microtask, or a function of NextTick, before it starts; q is its queue.
func (l *Loop) countJob(q *queue) {
	g := &l.grace
	if inTicks := q == &l.ticks; g.changes == 0 || inTicks != g.inTicks {
		g.inTicks, g.changes, g.jobs = inTicks, g.changes+1, round{}
	}
	g.jobs.next(q.len())
	if g.inTicks {
		l.measure(nil)
	} else {
		l.measure(&g.elders[microtask&1])
	}
	g.free = g.isFree(max(g.changes, g.jobs.nth))
}

// isFree tells whether a generation is free.
func (g *grace) isFree(generation int) bool {
	return generation <= someGenerations || generation <= mostGenerations && g.time > 0
}

// measure charges the time of the previous function, unless elders are left. elders is the number of elders in the queue
// of the function that starts now, nil for a queue that cannot have any. The loop calls measure between its last look at
// its state and a callback, so measure reads nothing that other goroutines write.
func (l *Loop) measure(elders *int) {
	g := &l.grace
	if elders != nil && *elders > 0 {
		*elders--
	}
	if g.elders != [2]int{} {
		return
	}
	now := l.now()
	if g.clock != 0 {
		g.time -= min(now-g.clock, mostTaken)
	}
	g.clock = now
}

// creditOwed credits n functions that workers have submitted, or that rejected promises cause: they count like elders.
func (g *grace) creditOwed(n int) {
	if n > 0 {
		g.common += int64(n) * perOwed
		g.tasks, g.jobs, g.changes = round{}, round{}, 0
	}
}

// noticeEnd begins to count. The first tick that is ending from its beginning calls it; the tick before, in which the end was
// asked for, has bounds of its own and counts nothing.
func (l *Loop) noticeEnd() {
	l.grace.counts = true
	l.renew()
}

// renew opens the accounts anew: the functions that wait now are the elders.
func (l *Loop) renew() {
	u := &l.urgent
	l.lock(&u.spinLock)
	elders := [...]int{l.internals.len() + u.lane[internal&1].len(), l.micro.len() + u.lane[microtask&1].len()}
	u.Unlock()
	common := mostCommon + perElder*int64(elders[0]+elders[1]+l.ticks.len())
	l.grace = grace{counts: l.grace.counts, rejected: l.grace.rejected, common: common, credit: mostOwn, time: mostTime, elders: elders}
}

// renewAll does what renew does, and renews the account of other goroutines, too.
func (l *Loop) renewAll() {
	l.renew()
	u := &l.urgent
	l.lock(&u.spinLock)
	u.foreignCredit = mostForeign
	u.Unlock()
}
