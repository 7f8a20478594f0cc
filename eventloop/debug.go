package eventloop

// Debug mode: where timers, workers, promises and the like were created.

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/turnloop/turnloop/internal/slim"
)

// place is the top of the stack on which something was created: enough frames to see past this module, then zeros.
type place [8]uintptr

// here returns the stack of its caller, or nil without debug mode. When a callback of this module creates something itself,
// as an interval creates its next timer, here returns the place of that callback.
func (l *Loop) here() *place {
	if !l.debug {
		return nil
	}
	return l.hereBehind(3)
}

// hereBehind is here in debug mode, for a stack without its first frames: 2 are runtime.Callers and hereBehind.
func (l *Loop) hereBehind(frames int) *place {
	p := new(place)
	runtime.Callers(frames, p[:])
	if _, outside := p.frame(); !outside && l.OnLoop() {
		if from := l.probe.place.Load(); from != nil {
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
func (l *Loop) shows(from *place) { l.probe.place.Store(from) }

// places is the loop as the realm of its promises sees it in debug mode: the realm then tells the loop where each handler
// was attached.
type places Loop

func (l *places) ScheduleMicrotask(fn func()) error { return (*Loop)(l).ScheduleMicrotask(fn) }
func (l *places) OnLoop() bool                      { return (*Loop)(l).OnLoop() }
func (l *places) Closed() bool                      { return (*Loop)(l).Closed() }
func (l *places) Here() *[8]uintptr                 { return (*[8]uintptr)((*Loop)(l).hereBehind(4)) } // its caller's
func (l *places) HandlerFrom(at *[8]uintptr)        { (*Loop)(l).shows((*place)(at)) }

// ownPackages are prefixes of the names of functions that create things for others.
var ownPackages = []string{
	"github.com/turnloop/turnloop/eventloop.",
	"github.com/turnloop/turnloop/eventloop/flow.",
	"github.com/turnloop/turnloop/eventloop/promise.",
	"github.com/turnloop/turnloop/eventloop/js.",
	"github.com/turnloop/turnloop/eventloop/threadlet.",
}

// String returns "from" and the place, or nothing for nil.
func (p *place) String() string {
	if p == nil {
		return ""
	}
	return "from " + p.where()
}

// where returns the function, file and line of the first frame that is not in ownPackages.
func (p *place) where() string {
	f, _ := p.frame()
	return fmt.Sprintf("%s at %s:%d", f.Function, filepath.Base(f.File), f.Line)
}

// frame returns the first frame that is not in ownPackages; false, and the last frame, if there is none.
func (p *place) frame() (f runtime.Frame, outside bool) {
	for frames, more := runtime.CallersFrames(p[:]), true; more && !outside; {
		f, more = frames.Next()
		outside = !slices.ContainsFunc(ownPackages, func(name string) bool { return strings.HasPrefix(f.Function, name) })
	}
	return f, outside
}

// ledger keeps, in debug mode, when and where timers, registrations, workers and threadlets were created: their own structures
// have no room for that. Without debug mode the ledger is nil, and its methods do nothing.
type ledger struct {
	mu    sync.Mutex // guards the maps; it may be taken under any other lock, and no other under it
	notes [shelves]slim.Map[any, entry]
}

// shelf is a kind of entries. Each kind has a map of its own, so that listing one kind takes no longer when there are many
// entries of another.
type shelf int

const (
	ofOthers shelf = iota // timers and registrations, which are only looked up one by one
	ofWorkers
	ofThreadlets
	shelves
)

// of returns the map for a key. The caller holds mu.
func (g *ledger) of(key any) *slim.Map[any, entry] {
	switch key.(type) {
	case *workItem:
		return &g.notes[ofWorkers]
	case threadletID:
		return &g.notes[ofThreadlets]
	}
	return &g.notes[ofOthers]
}

type entry struct {
	since int64
	from  *place
	doing string // what a threadlet is doing
}

// registrationTag is the key of a registration, threadletID that of a threadlet. The key of a timer is its TimerID,
// that of a worker its *workItem.
type (
	registrationTag uint32
	threadletID     uint64
)

func (g *ledger) put(key any, since int64, from *place) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of(key).Put(key, entry{since: max(since, 1), from: from})
}

// tell notes what something is doing now. since counts only in the first call for a key, and from only if it is not nil.
func (g *ledger) tell(key any, since int64, from *place, doing string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	notes := g.of(key)
	e := notes.Of[key]
	if e.doing = doing; e.since == 0 {
		e.since = max(since, 1)
	}
	if from != nil {
		e.from = from
	}
	notes.Put(key, e)
}

func (g *ledger) get(key any) (since int64, from *place) {
	if g == nil {
		return 0, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.of(key).Of[key]
	return e.since, e.from
}

func (g *ledger) drop(key any) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of(key).Delete(key)
}

// each calls f for all notes of a shelf, or for none if there are more than most.
func (g *ledger) each(at shelf, most int, f func(key any, e entry)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.notes[at].Of) > most {
		return
	}
	for key, e := range g.notes[at].Of {
		f(key, e)
	}
}

// end forgets everything but the workers, which may go on.
func (g *ledger) end() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for at := range g.notes {
		if shelf(at) != ofWorkers {
			g.notes[at] = slim.Map[any, entry]{}
		}
	}
}

// noted wraps a timer's function in debug mode. run removes the timer's note, and shows the timer's place while fn
// runs. known must be called with the timer's id before the timer can fire, that is, under the timers' lock.
func (l *Loop) noted(fn func()) (run func(), known func(TimerID)) {
	from, since := l.here(), l.now()
	var id TimerID
	run = func() {
		l.notes.drop(id)
		l.probe.place.Store(from)
		fn()
	}
	return run, func(given TimerID) {
		id = given
		l.notes.put(id, since, from)
	}
}
