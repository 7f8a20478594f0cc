package observe

// The running callback: its kind and its start, readable from other goroutines.

import "github.com/turnloop/turnloop/internal/release"

// Kind is the kind of a callback, or of what else the flight recorder keeps.
type Kind uint8

// The kinds. The first three are also those of the queues in which functions wait.
const (
	None Kind = iota
	Task
	Internal
	Microtask
	Timer
	Descriptor
	Threadlet

	// What else the flight recorder keeps.
	Tick
	Park
	Stalled
	Handler // a handler of panics, rejections or overload, or a logger: no callback, but it may block the loop like one
	End
	kinds

	lastCallback = Threadlet
)

var kindNames = [kinds]string{"none", "task", "internal", "microtask", "timer", "descriptor", "threadlet", "tick", "sleep", "stall", "handler", "end"}

// String returns the name of the kind in logs, stalls and activities.
func (k Kind) String() string { return kindNames[k] }

// callbackID identifies a running callback by its kind and its start, in nanoseconds since the anchor; if it is not
// timed, by its kind and a serial number. Two timed callbacks have the same start only if the first took no time.
type callbackID int64

const (
	kindBits   = 4
	isStart    = 1 << kindBits
	startShift = kindBits + 1
)

func (p *Probe) runningID() callbackID { return callbackID(p.running.Load()) }

func startedAt(k Kind, start int64) callbackID {
	return callbackID(start<<startShift | isStart | int64(k))
}

func numbered(k Kind, number int64) callbackID { return callbackID(number<<startShift | int64(k)) }

func (r callbackID) kind() Kind { return Kind(r & (isStart - 1)) }

// since returns when the callback began, 0 if that is not known.
func (r callbackID) since() int64 {
	if r&isStart == 0 {
		return 0
	}
	return int64(r >> startShift)
}

// Unwound notes that the running callback did not return.
func (p *Probe) Unwound() {
	if p == nil {
		return
	}
	p.last = 0
	switch {
	case p.handler != 0:
		p.HandlerEnded()
	case p.current.kind != None:
		p.ended()
	}
}

// Gap notes that no callback runs, and that something else has taken time since the last one.
func (p *Probe) Gap() {
	if p != nil {
		p.last = 0
		release.Publish(&p.running, 0)
	}
}

// HandlerBegan notes that the loop calls a handler, or a logger.
func (p *Probe) HandlerBegan() {
	p.handler = max(p.now(), 1)
	if p.places {
		p.place.Store(nil)
	}
	release.Publish(&p.running, int64(startedAt(Handler, p.handler)))
}

// HandlerEnded notes that it has returned.
func (p *Probe) HandlerEnded() {
	now := p.now()
	if len(p.ring.events) != 0 {
		p.note(now, now-p.handler, -1, 0, Handler)
	}
	p.handler = 0
	p.Gap()
}
