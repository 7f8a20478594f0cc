package eventloop

// Debug mode: where what a loop has was created.

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// place is the stack on which something was created: enough of it to see past this module, and zeros.
type place [8]uintptr

// here returns where the caller of the exported function is, or nil without debug mode.
func (l *Loop) here() *place {
	if !l.debug {
		return nil
	}
	p := new(place)
	runtime.Callers(2, p[:])
	return p
}

// ownPackages are what the names of functions begin with that create things for others.
var ownPackages = []string{
	"github.com/turnloop/turnloop/eventloop.",
	"github.com/turnloop/turnloop/eventloop/promise.",
	"github.com/turnloop/turnloop/eventloop/js.",
	"github.com/turnloop/turnloop/eventloop/threadlet.",
}

// String tells where something comes from, or nothing of nil.
func (p *place) String() string {
	if p == nil {
		return ""
	}
	return "from " + p.where()
}

// where tells the first function on the stack that is not one of ours.
func (p *place) where() string {
	for frames := runtime.CallersFrames(p[:]); ; {
		f, more := frames.Next()
		own := false
		for _, name := range ownPackages {
			own = own || strings.HasPrefix(f.Function, name)
		}
		if !own || !more {
			return fmt.Sprintf("%s at %s:%d", f.Function, filepath.Base(f.File), f.Line)
		}
	}
}

// ledger has in debug mode what is known of timers, registrations and workers besides. Without, it is nil, and knows
// nothing.
type ledger struct {
	mu    sync.Mutex // held for a look at the map, under any other lock
	notes map[any]entry
}

type entry struct {
	since int64
	from  *place
	doing string // of a threadlet
}

// registrationTag is the key of a registration, threadletID of a threadlet; a TimerID is that of a timer, and the work that
// of a worker.
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
	g.notes[key] = entry{since: max(since, 1), from: from}
}

// tell is put for what does one thing after the other: what is known stays.
func (g *ledger) tell(key any, since int64, from *place, doing string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.notes[key]
	if e.doing = doing; e.since == 0 {
		e.since = max(since, 1)
	}
	if from != nil {
		e.from = from
	}
	g.notes[key] = e
}

func (g *ledger) get(key any) (since int64, from *place) {
	if g == nil {
		return 0, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.notes[key]
	return e.since, e.from
}

func (g *ledger) drop(key any) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.notes, key)
}

func (g *ledger) each(f func(key any, e entry)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, e := range g.notes {
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
	for key := range g.notes {
		if _, is := key.(*work); !is {
			delete(g.notes, key)
		}
	}
}

// noted returns, in debug mode, a timer's function that strikes the timer out of the ledger and says where it comes from
// while it runs; and what to call with the timer's id, under the timers' lock, where it cannot have fired.
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
