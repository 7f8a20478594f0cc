package eventloop

// What is running: the kinds of callbacks, and which one the loop is in, for whoever looks from elsewhere.

// kind says what a callback is.
type kind uint8

const (
	noCallback kind = iota
	aTask
	anInternal
	aMicrotask
	aTimer
	aDescriptor
	aThreadlet

	// What else the flight recorder keeps.
	aTick
	aPark
	aStall
	aHandler // of panics, rejections or overload, or a logger: no callback that counts, but it may block the loop as one does
	anEnd
	kinds

	lastCallback = aThreadlet
)

var kindNames = [kinds]string{"none", "task", "internal", "microtask", "timer", "descriptor", "threadlet", "tick", "sleep", "stall", "handler", "end"}

func (k kind) String() string { return kindNames[k] }

// runs is a callback that runs: its kind, and when it began if that is known, which no two have in common that took any
// time; else a number, counted.
type runs int64

const (
	kindBits   = 4
	isStart    = 1 << kindBits
	startShift = kindBits + 1
)

func (p *probe) runs() runs { return runs(p.running.Load()) }

func startedAt(k kind, start int64) runs { return runs(start<<startShift | isStart | int64(k)) }

func numbered(k kind, number int64) runs { return runs(number<<startShift | int64(k)) }

func (r runs) kind() kind { return kind(r & (isStart - 1)) }

// since returns when it began, 0 if that is not known.
func (r runs) since() int64 {
	if r&isStart == 0 {
		return 0
	}
	return int64(r >> startShift)
}

// unwound is told that what was running did not return.
func (p *probe) unwound() {
	p.last = 0
	switch {
	case p.handler != 0:
		p.handled()
	case p.now.kind != noCallback:
		p.end()
	}
}

// between is told that something other than callbacks has taken time since the last one, and that none is running.
func (p *probe) between() {
	p.last = 0
	publish(&p.running, 0)
}

// handles is told that the loop calls a handler, or a logger; handled that it has returned.
func (p *probe) handles() {
	p.handler = max(p.loop.now(), 1)
	if p.loop.debug {
		p.place.Store(nil)
	}
	publish(&p.running, int64(startedAt(aHandler, p.handler)))
}

func (p *probe) handled() {
	now := p.loop.now()
	if len(p.ring.events) != 0 {
		p.note(now, now-p.handler, -1, 0, aHandler)
	}
	p.handler = 0
	p.between()
}

// handle calls a handler, or a logger.
func (l *Loop) handle(f func()) {
	l.calling.kind = aHandler
	if l.probe == nil {
		f()
		return
	}
	l.probe.handles()
	f()
	l.probe.handled()
}
