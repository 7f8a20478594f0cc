package eventloop

// Debug mode: where timers, workers, promises and the like were created.

import "github.com/turnloop/turnloop/internal/place"

// here returns the stack of its caller, or nil without debug mode. When a callback of this module creates something itself,
// as an interval creates its next timer, here returns the place of that callback.
func (l *Loop) here() *place.Place {
	if !l.debug {
		return nil
	}
	return l.hereBehind(2)
}

// hereBehind is here in debug mode, for a stack without its first frames: 1 is hereBehind.
func (l *Loop) hereBehind(frames int) *place.Place {
	p := place.Here(frames)
	if l.OnLoop() && !p.Outside() {
		if from := l.probe.Place(); from != nil {
			return from
		}
	}
	return p
}

// placed wraps a callback in debug mode: while the callback runs, the place where placed was called is shown.
func (l *Loop) placed(fn func()) func() {
	from := l.here()
	return func() {
		l.shows(from)
		fn()
	}
}

// shows notes the place of the callback that runs.
func (l *Loop) shows(from *place.Place) { l.probe.Show(from) }

// places is the loop as the realm of its promises sees it in debug mode: the realm then tells the loop where each handler
// was attached.
type places struct{ scheduler }

func (l places) Here() *place.Place          { return l.hereBehind(3) } // its caller's
func (l places) HandlerFrom(at *place.Place) { l.shows(at) }

// noted wraps a timer's function in debug mode. run removes the timer's note, and shows the timer's place while fn
// runs. known must be called with the timer's id before the timer can fire, that is, under the timers' lock.
func (l *Loop) noted(fn func()) (run func(), known func(TimerID)) {
	from, since := l.here(), l.now()
	var id TimerID
	run = func() {
		l.notes.Drop(place.Timers, id)
		l.shows(from)
		fn()
	}
	return run, func(given TimerID) {
		id = given
		l.notes.Put(place.Timers, id, since, from)
	}
}
