package eventloop

// The running callback: its kind and its start, readable from other goroutines.

// kind is the kind of a callback, or of what else the flight recorder keeps.
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
	aHandler // a handler of panics, rejections or overload, or a logger: no callback, but it may block the loop like one
	anEnd
	kinds

	lastCallback = aThreadlet
)

var kindNames = [kinds]string{"none", "task", "internal", "microtask", "timer", "descriptor", "threadlet", "tick", "sleep", "stall", "handler", "end"}

func (k kind) String() string { return kindNames[k] }

// callbackID identifies a running callback by its kind and its start, in nanoseconds since the anchor; if it is not
// timed, by its kind and a serial number. Two timed callbacks have the same start only if the first took no time.
type callbackID int64

const (
	kindBits   = 4
	isStart    = 1 << kindBits
	startShift = kindBits + 1
)

func (p *probe) runningID() callbackID { return callbackID(p.running.Load()) }

func startedAt(k kind, start int64) callbackID {
	return callbackID(start<<startShift | isStart | int64(k))
}

func numbered(k kind, number int64) callbackID { return callbackID(number<<startShift | int64(k)) }

func (r callbackID) kind() kind { return kind(r & (isStart - 1)) }

// since returns when the callback began, 0 if that is not known.
func (r callbackID) since() int64 {
	if r&isStart == 0 {
		return 0
	}
	return int64(r >> startShift)
}

// unwound notes that the running callback did not return.
func (p *probe) unwound() {
	p.last = 0
	switch {
	case p.handler != 0:
		p.endHandler()
	case p.now.kind != noCallback:
		p.end()
	}
}

// noteGap notes that no callback runs, and that something else has taken time since the last one.
func (p *probe) noteGap() {
	p.last = 0
	publish(&p.running, 0)
}

// beginHandler notes that the loop calls a handler, or a logger; endHandler that it has returned.
func (p *probe) beginHandler() {
	p.handler = max(p.loop.now(), 1)
	if p.loop.debug {
		p.place.Store(nil)
	}
	publish(&p.running, int64(startedAt(aHandler, p.handler)))
}

func (p *probe) endHandler() {
	now := p.loop.now()
	if len(p.ring.events) != 0 {
		p.note(now, now-p.handler, -1, 0, aHandler)
	}
	p.handler = 0
	p.noteGap()
}

// callHandler calls a handler, or a logger.
func (l *Loop) callHandler(f func()) {
	l.calling.kind = aHandler
	if l.probe == nil {
		f()
		return
	}
	l.probe.beginHandler()
	f()
	l.probe.endHandler()
}
