package eventloop

// Grace: what an ending loop still accepts, so that what is under way comes to its end, and the loop to its own.

// grace is what a loop that is ending accepts from its own callbacks. It takes what they bring, for there lies the sense
// of a graceful end; but not for ever, as some begin anew whatever happens. What tells these from work that comes to an
// end is how far they are from what had been accepted before: the functions that waited are the first generation, what
// they bring is the second, and so on. Where few begin anew, generations are short, however many functions wait beside
// them; so these few have as many turns as there are generations, and not a share of all that the others do not need.
//
// The loop's goroutine alone touches it.
type grace struct {
	counts   bool  // the loop has noticed that it ends; what it rejects itself does not count
	rejected bool  // it has rejected what was pending
	free     bool  // the function that runs is of one of the first generations: what it brings is on the common account
	common   int64 // how many functions there may be of these generations
	credit   int64 // how many of later ones
	time     int64 // how many nanoseconds they all may take

	elders  [2]int // internal tasks, and microtasks, that waited when the accounts were opened and have not started
	clock   int64  // when the last function started; 0 if that was one of them, or an external task
	tasks   round  // of internal tasks
	jobs    round  // of microtasks, or of ticks, since the last change from one to the other
	changes int    // of which there have been so many, with the first
	inTicks bool   // the last was one to ticks
}

// round is one generation of a queue: what waits when the last one has run. Each external task is followed by all internal
// tasks that it brings, and each of these by its microtasks and ticks; so a function of the first generations begins a new
// count in the queues behind its own.
type round struct {
	nth  int // from 1, of the function that was last to start
	left int
}

func (r *round) next(waiting int) {
	if r.left == 0 {
		r.nth, r.left = r.nth+1, waiting
	}
	r.left--
}

const (
	someGenerations = 8       // that are free whatever they take
	mostGenerations = 64      // that are free while there is time
	mostCommon      = 1 << 20 // functions of these,
	perElder        = 8       // and so many more for each that waited,
	perOwed         = 64      // or that a worker brings
	mostOwn         = 1 << 14 // functions of later ones
	mostLate        = 1 << 14 // functions from elsewhere

	mostTime  = 500_000_000 // nanoseconds that functions that were brought may take
	mostTaken = 10_000_000  // nanoseconds that count of one: the machine may have stood still
)

// accepts tells whether there is something left for what the function that runs brings.
func (g *grace) accepts() bool {
	return !g.counts || g.free && g.common > 0 || g.credit > 0 && g.time > 0
}

// charge takes one function that was accepted.
func (g *grace) charge() {
	switch {
	case !g.counts:
	case g.free && g.common > 0:
		g.common--
	default:
		g.credit--
	}
}

// runsExternal is told of each external task before it starts: it was accepted before the end began.
func (l *Loop) runsExternal() {
	g := &l.grace
	g.common += perElder
	g.time = mostTime
	g.free, g.clock, g.changes = true, 0, 0
	g.tasks, g.jobs = round{}, round{}
}

// runsInternal is told of each internal task.
func (l *Loop) runsInternal() {
	g := &l.grace
	g.tasks.next(l.priority.len())
	l.measure(&g.elders[internal&1])
	if g.free = g.within(g.tasks.nth); g.free {
		g.jobs, g.changes = round{}, 0
	}
}

// runsJob is told of each tick and microtask; q is its queue.
func (l *Loop) runsJob(q *queue) {
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
	g.free = g.within(max(g.changes, g.jobs.nth))
}

func (g *grace) within(generation int) bool {
	return generation <= someGenerations || generation <= mostGenerations && g.time > 0
}

// measure counts the time of the function that was started before. As long as elders are left it is theirs, whoever runs.
// It is called between the loop's last look at its state and a callback, so it looks at nothing that others write.
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

// owes is told how many functions workers have brought, or that others come by no fault of theirs: they are like elders.
func (g *grace) owes(n int) {
	if n > 0 {
		g.common += int64(n) * perOwed
		g.tasks, g.jobs, g.changes = round{}, round{}, 0
	}
}

// noticeEnd is called by the first turn that finds the loop ending. The turn in which the end was asked for counts
// nothing yet: it has bounds of its own.
func (l *Loop) noticeEnd() {
	l.grace.counts = true
	l.renew()
}

// renew opens the accounts anew, with what waits now.
func (l *Loop) renew() {
	u := &l.urgent
	l.lock(&u.spinLock)
	elders := [...]int{l.priority.len() + u.lane[internal&1].len(), l.micro.len() + u.lane[microtask&1].len()}
	u.Unlock()
	common := mostCommon + perElder*int64(elders[0]+elders[1]+l.ticks.len())
	l.grace = grace{counts: l.grace.counts, rejected: l.grace.rejected, common: common, credit: mostOwn, time: mostTime, elders: elders}
}

// renewAll does so for what comes from elsewhere too.
func (l *Loop) renewAll() {
	l.renew()
	u := &l.urgent
	l.lock(&u.spinLock)
	u.late = mostLate
	u.Unlock()
}
