package js

// Events: targets that dispatch them to listeners.

import (
	"slices"
	"sync"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/slim"
)

// Event is something that happens at an [EventTarget] (the DOM standard's Event and CustomEvent). There is no tree of
// targets, so there are no capture and bubbling phases, and stopping propagation is only of use in its immediate form.
// An event is for the loop alone.
type Event struct {
	Type       string
	Cancelable bool // PreventDefault has an effect
	Detail     any  // of a CustomEvent

	target      *EventTarget
	dispatching bool
	prevented   bool
	stopped     bool
}

// CustomEvent is an event that carries a Detail. One type serves for both.
type CustomEvent = Event

// NewEvent returns an event that cannot be cancelled.
func NewEvent(typ string) *Event { return &Event{Type: typ} }

// NewCustomEvent returns an event that carries detail and cannot be cancelled.
func NewCustomEvent(typ string, detail any) *CustomEvent {
	return &CustomEvent{Type: typ, Detail: detail}
}

// Target returns the target that the event was last dispatched at, or nil.
func (e *Event) Target() *EventTarget { return e.target }

// PreventDefault makes DispatchEvent return false, if the event is cancelable.
func (e *Event) PreventDefault() { e.prevented = e.prevented || e.Cancelable }

// DefaultPrevented tells whether PreventDefault had an effect.
func (e *Event) DefaultPrevented() bool { return e.prevented }

// StopImmediatePropagation keeps listeners that have not run from running.
func (e *Event) StopImmediatePropagation() { e.stopped = true }

// EventListener is a function with an identity, by which it is removed.
type EventListener struct{ handle func(*Event) }

// NewEventListener returns a listener that calls fn. Each is different from all others, whatever fn is.
func NewEventListener(fn func(*Event)) *EventListener { return &EventListener{fn} }

// EventTarget dispatches events to listeners (the DOM standard's EventTarget). Listeners may be added and removed from
// any goroutine; events are dispatched on the loop.
type EventTarget struct {
	js        *JS
	mu        sync.Mutex // guards what follows, and the entries
	audiences slim.Map[string, audience]
}

// audience has the listeners of one type of event. The elements of order never change: when entries are dropped, order is
// replaced by a new slice. So DispatchEvent can walk the old one.
type audience struct {
	entries slim.Map[*EventListener, *entry]
	order   []*entry // in order of adding; some of them, fewer than half, were removed
}

// entry is a listener that was added.
type entry struct {
	listener *EventListener // nil when it was removed
	once     bool
	unwatch  func() // of the signal; may be nil
}

// NewEventTarget returns a target without listeners.
func (j *JS) NewEventTarget() *EventTarget {
	return &EventTarget{js: j}
}

// ListenerOption says how a listener is added.
type ListenerOption func(*listening)

type listening struct {
	once   bool
	signal *AbortSignal
}

// Once removes a listener when it is first called.
func Once() ListenerOption { return func(o *listening) { o.once = true } }

// Until removes a listener when signal is aborted; if that has happened already, the listener is not added. A nil signal is
// never aborted.
func Until(signal *AbortSignal) ListenerOption { return func(o *listening) { o.signal = signal } }

// AddEventListener adds a listener for events of a type. Listeners are called in the order of adding; adding one that is
// there already does nothing, as in the DOM. A listener that is added during a dispatch is called in the next one. Any
// goroutine may call it. It returns ErrNilCallback for a nil listener or function.
func (t *EventTarget) AddEventListener(typ string, listener *EventListener, opts ...ListenerOption) error {
	if listener == nil || listener.handle == nil {
		return eventloop.ErrNilCallback
	}
	var o listening
	for _, opt := range opts {
		opt(&o)
	}
	e := &entry{listener: listener, once: o.once}
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.audiences.Of[typ]
	if a.entries.Of[listener] != nil {
		return nil
	}
	if o.signal != nil {
		e.unwatch = o.signal.watch(func(error) { t.remove(typ, e) }, false)
		if o.signal.Aborted() {
			return nil
		}
	}
	a.entries.Put(listener, e)
	a.order = append(a.order, e)
	t.audiences.Put(typ, a)
	return nil
}

// RemoveEventListener takes a listener back, also during a dispatch, which then does not call it. It does nothing if
// the listener is not there. Any goroutine may call it.
func (t *EventTarget) RemoveEventListener(typ string, listener *EventListener) {
	t.mu.Lock()
	e := t.audiences.Of[typ].entries.Of[listener]
	t.mu.Unlock()
	if e != nil {
		t.remove(typ, e)
	}
}

// remove takes an entry back and returns its listener, or nil if it was removed before.
func (t *EventTarget) remove(typ string, e *entry) *EventListener {
	t.mu.Lock()
	listener, unwatch := e.listener, e.unwatch
	e.listener, e.unwatch = nil, nil
	if a := t.audiences.Of[typ]; a.entries.Of[listener] == e {
		a.entries.Delete(listener)
		if len(a.order) >= 2*len(a.entries.Of) {
			a.order = slices.DeleteFunc(slices.Clone(a.order), func(e *entry) bool { return e.listener == nil })
		}
		if t.audiences.Put(typ, a); len(a.entries.Of) == 0 {
			t.audiences.Delete(typ)
		}
	}
	t.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	return listener
}

// DispatchEvent calls the listeners for e.Type, one after the other, before it returns; those that are added meanwhile
// are not called, nor are those that are removed. A listener that panics is reported, and the others run. It returns
// false if a listener prevented the default.
//
// It must be called on the loop, else it returns ErrNotOnLoop. It returns a DOMException "InvalidStateError" if e is
// being dispatched already, and ErrNilCallback if e is nil.
func (t *EventTarget) DispatchEvent(e *Event) (proceed bool, err error) {
	switch {
	case e == nil:
		return false, eventloop.ErrNilCallback
	case !t.js.loop.OnLoop():
		return false, ErrNotOnLoop
	case e.dispatching:
		return false, &DOMException{Name: "InvalidStateError", Message: "the event is already being dispatched"}
	}
	t.mu.Lock()
	entries := t.audiences.Of[e.Type].order
	t.mu.Unlock()
	e.target, e.dispatching = t, true
	defer func() { e.dispatching, e.stopped = false, false }()
	typ := e.Type
	t.js.each(len(entries), func(i int) {
		if e.stopped {
			return
		}
		if listener := t.claim(typ, entries[i]); listener != nil {
			listener.handle(e)
		}
	})
	return !e.prevented, nil
}

// claim returns an entry's listener, or nil if it was removed, and removes one that is called once.
func (t *EventTarget) claim(typ string, e *entry) *EventListener {
	if e.once {
		return t.remove(typ, e)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return e.listener
}
