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

// ledger has in debug mode what is known of timers, registrations, workers and threadlets besides. Without, it is nil, and
// knows nothing.
type ledger struct {
	mu    sync.Mutex // held for a look at the maps, under any other lock
	notes [shelves]map[any]entry
}

// shelf is where the ledger has the notes of a kind, so that to list one kind takes no longer for how many there are of
// another.
type shelf int

const (
	ofOthers shelf = iota // timers and registrations, which are only asked for one by one
	ofWorkers
	ofThreadlets
	shelves
)

func newLedger() *ledger {
	g := new(ledger)
	for i := range g.notes {
		g.notes[i] = map[any]entry{}
	}
	return g
}

// of returns the notes among which the key's is.
func (g *ledger) of(key any) map[any]entry {
	switch key.(type) {
	case *work:
		return g.notes[ofWorkers]
	case threadletID:
		return g.notes[ofThreadlets]
	}
	return g.notes[ofOthers]
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
	g.of(key)[key] = entry{since: max(since, 1), from: from}
}

// tell is put for what does one thing after the other: what is known stays.
func (g *ledger) tell(key any, since int64, from *place, doing string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	notes := g.of(key)
	e := notes[key]
	if e.doing = doing; e.since == 0 {
		e.since = max(since, 1)
	}
	if from != nil {
		e.from = from
	}
	notes[key] = e
}

func (g *ledger) get(key any) (since int64, from *place) {
	if g == nil {
		return 0, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.of(key)[key]
	return e.since, e.from
}

func (g *ledger) drop(key any) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.of(key), key)
}

// each calls f for all notes of a shelf, or for none if there are more than most.
func (g *ledger) each(at shelf, most int, f func(key any, e entry)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.notes[at]) > most {
		return
	}
	for key, e := range g.notes[at] {
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
			g.notes[at] = map[any]entry{}
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
