package eventloop

// What a loop is doing, and what keeps it from its end.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/fdset"
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
)

// Activity is something that a loop is doing, or that keeps it alive.
type Activity struct {
	Kind   string    // task, internal, microtask, timer, descriptor, handler, hold, worker, promise or threadlet; tick if it is not known which runs
	Name   string    // "running" for the running callback; the number of a timer, descriptor or threadlet; a hold's name
	Detail string    // how many wait, when it is due, and the like; in debug mode also where it was created
	Since  time.Time // when it began, or the oldest of several; zero if that is not known
	Keeps  bool      // the loop does not end by itself while this is so, or an ending one waits for it
}

// String returns the activity in one line.
func (a Activity) String() string {
	parts := slices.DeleteFunc([]string{a.Kind, a.Name, a.Detail}, func(part string) bool { return part == "" })
	if !a.Since.IsZero() {
		parts = append(parts, fmt.Sprintf("for %v", time.Since(a.Since).Round(time.Millisecond)))
	}
	return strings.Join(parts, " ")
}

// mostListed is how many activities of a kind are listed one by one. If there are more, one Activity says how many. Of
// holds, which have names, the oldest are listed in any case.
const mostListed = 100

// Active returns what the loop is doing and what keeps it alive: the running callback, queued functions, ref'd timers,
// descriptors, holds, functions of Promisify, promises that somebody waits for, threadlets. The kinds are in this
// order, and of each but promises the oldest is first. Of an ending loop it returns only what the end waits for; of one that has
// ended, the functions of Promisify that still run.
//
// Some of it keeps the loop alive: then Alive is true. Promises and threadlets keep none, but an ending loop waits for
// threadlets; nor do the descriptors of connections if no threadlet waits for any. A callback
// that calls Active keeps the loop alive only while it is ending.
//
// The running callback is listed with [WithMetrics], [WithStallThreshold], [WithFlightRecorder] or [WithDebug]. Its
// start is known with WithFlightRecorder and WithDebug, and with WithMetrics unless [WithMetricsSampling] is used.
// WithDebug adds the places of creation; the ages of timers, descriptors, functions of Promisify and threadlets; and
// what each threadlet is doing. Active also answers while a callback blocks the loop. It takes the loop's locks for
// some microseconds, and allocates what it returns.
func (l *Loop) Active() (all []Activity) {
	for range 10 { // a reason may move, while they are listed, from what is looked at later to what was looked at before
		all = l.active(false)
		if slices.ContainsFunc(all, keeps) || !l.Alive() {
			break
		}
	}
	return all
}

// active lists what Active returns. It leaves out what no end waits for if the loop is ending, or if the caller waits for an end
// that has not begun yet, because threadlets drain.
func (l *Loop) active(ending bool) (all []Activity) {
	add := func(keeps bool, as []Activity) {
		for i := range as {
			as[i].Keeps = keeps
		}
		all = append(all, as...)
	}
	state, inside := l.state.Load(), l.OnLoop()
	ending = ending || state.Ending()
	if state.State() == StateTerminated {
		add(false, l.activeWorkers(true))
		return all
	}
	awake := state.State() != StateAwake && !state.Sleeping()
	counts := awake && (!inside || ending)
	if awake {
		add(counts, l.activeCallback(ending && !inside))
	}
	if !state.Closing() {
		add(true, l.activeQueues(inside))
	}
	if !ending {
		add(true, l.activeTimers())
		add(l.watches(l.guest.unneeded(inside)), l.activeDescriptors())
		add(true, l.activeHolds())
	}
	if !state.Closing() {
		add(true, l.activeWorkers(false))
	}
	if !ending {
		add(false, l.activePromises())
	}
	add(ending || inside && l.guest.ready(), l.activeThreadlets())
	if counts && !slices.ContainsFunc(all, keeps) {
		add(true, []Activity{{Kind: observe.Tick.String(), Name: "running"}})
	}
	return all
}

func keeps(a Activity) bool { return a.Keeps }

// at turns nanoseconds since the anchor into a time, and 0 into the zero time.
func (l *Loop) at(nanoseconds int64) (t time.Time) {
	if nanoseconds > 0 {
		t = l.park.Anchor.Add(time.Duration(nanoseconds))
	}
	return t
}

// activeCallback lists the callback that runs. Without a probe nobody knows which; then it says that one does if wanted is set.
func (l *Loop) activeCallback(wanted bool) []Activity {
	if l.probe == nil {
		if wanted {
			return []Activity{{Kind: observe.Task.String(), Name: "running", Detail: "(WithDebug tells which callback)"}}
		}
		return nil
	}
	kind, since, from := l.probe.Running()
	if kind == observe.None {
		return nil
	}
	return []Activity{{Kind: kind.String(), Name: "running", Detail: from.From(), Since: l.at(since)}}
}

func (l *Loop) activeQueues(inside bool) (as []Activity) {
	own := [...]func() int{l.externals.Len, l.internals.Len, func() int { return l.micro.Len() + l.ticks.Len() }}
	for i, at := range []lane{external, internal, microtask} {
		b := l.inboxOf(at)
		l.lock(&b.Lock)
		n, m := b.Len(), b.First()
		left, accepted := l.probe.Waiting(kindOf(at))
		if inside {
			left = own[i]()
		}
		if left > 0 {
			n, m = n+left, inbox.Mark{Accepted: accepted}
		}
		b.UnlockAndYield()
		as = l.appendWaiting(as, kindOf(at), n, m)
	}
	n, accepted, from := l.shared.Oldest()
	if accepted != 0 {
		accepted = max(accepted-l.park.Born, 1)
	}
	return l.appendWaiting(as, observe.Task, n, inbox.Mark{Accepted: accepted, Place: from})
}

// appendWaiting appends n functions that wait, if there are any. m is the mark of the first.
func (l *Loop) appendWaiting(as []Activity, k observe.Kind, n int, m inbox.Mark) []Activity {
	if n == 0 {
		return as
	}
	a := Activity{Kind: k.String(), Detail: fmt.Sprint(n, " waiting"), Since: l.at(m.Accepted)}
	if m.Place != nil {
		a.Detail += ", the first " + m.Place.From()
	}
	return append(as, a)
}

func (l *Loop) activeTimers() (as []Activity) {
	type timer struct {
		id, seq  uint64
		deadline int64
	}
	var timers []timer
	t := &l.timers
	l.lock(&t.mu)
	n, next := t.wheel.Refs(), t.wheel.Earliest()
	if few := t.wheel.Len() <= mostListed; few {
		t.wheel.Each(func(id, seq uint64, deadline int64, ref bool) {
			if ref {
				timers = append(timers, timer{id, seq, deadline})
			}
		})
	}
	t.mu.UnlockAndYield()
	now := l.now()
	due := func(deadline int64) string {
		switch {
		case deadline == never:
			return "never due"
		case deadline < now:
			return fmt.Sprintf("due %v ago", time.Duration(now-deadline).Round(time.Microsecond))
		}
		return fmt.Sprintf("due in %v", time.Duration(deadline-now).Round(time.Microsecond))
	}
	if n > 0 && len(timers) == 0 {
		return []Activity{{Kind: observe.Timer.String(), Detail: fmt.Sprintf("%d pending, the next %s", n, due(next))}}
	}
	slices.SortFunc(timers, func(a, b timer) int { return cmp.Compare(a.seq, b.seq) })
	for _, t := range timers {
		e := l.notes.Get(place.Timers, TimerID(t.id))
		as = append(as, Activity{Kind: observe.Timer.String(), Name: fmt.Sprint("#", t.id), Detail: join(due(t.deadline), e.From), Since: l.at(e.Since)})
	}
	return as
}

func (l *Loop) activeDescriptors() (as []Activity) {
	if n := l.fds.Len(); n > mostListed {
		return []Activity{{Kind: observe.Descriptor.String(), Detail: fmt.Sprint(n, " registered")}}
	}
	l.fds.Each(mostListed, func(r *fdset.Registration) {
		a := Activity{Kind: observe.Descriptor.String(), Name: fmt.Sprint("fd ", r.FD), Detail: r.Events().String()}
		if e := r.Created; e != nil {
			a.Detail, a.Since = join(a.Detail, e.From), l.at(e.Since)
		}
		as = append(as, a)
	})
	return as
}

// activeWorkers lists the functions of Promisify whose outcome the loop waits for. Of a loop that has ended, it lists
// those that still run.
func (l *Loop) activeWorkers(ended bool) (as []Activity) {
	u := &l.urgent
	l.lock(&u.Lock)
	n := int(u.begun - u.delivered.Load())
	u.UnlockAndYield()
	if ended {
		n = l.crew.Size()
	}
	if n == 0 {
		return nil
	}
	l.notes.Each(place.Workers, mostListed, func(_ any, e place.Entry) {
		as = append(as, Activity{Kind: "worker", Detail: e.From.From(), Since: l.at(e.Since)})
	})
	if len(as) == 0 {
		waiting := min(l.crew.Waiting(), n)
		if ended {
			waiting = 0
		}
		as = []Activity{{Kind: "worker", Detail: fmt.Sprint(n-waiting, " under way")}}
		if waiting > 0 {
			as[0].Detail += fmt.Sprintf(", %d waiting", waiting)
		}
	}
	return as
}

// activeThreadlets lists the threadlets that have not ended. They keep no loop alive, but an ending one waits for them.
func (l *Loop) activeThreadlets() (as []Activity) {
	n := l.guest.count()
	if n == 0 {
		return nil
	}
	l.notes.Each(place.Threadlets, mostListed, func(serial any, e place.Entry) {
		as = append(as, Activity{Kind: observe.Threadlet.String(), Name: fmt.Sprint("#", serial), Detail: join(e.Doing, e.From), Since: l.at(e.Since)})
	})
	if len(as) == 0 {
		as = []Activity{{Kind: observe.Threadlet.String(), Detail: fmt.Sprint(n, " not ended")}}
	}
	return as
}

func (l *Loop) activePromises() (as []Activity) {
	waited, n := l.promises.Waited(mostListed)
	if n > mostListed {
		return []Activity{{Kind: "promise", Detail: fmt.Sprint(n, " that somebody waits for")}}
	}
	for _, p := range waited {
		as = append(as, Activity{Kind: "promise", Detail: p.String()})
	}
	return as
}

func join(detail string, from *place.Place) string {
	return strings.TrimSpace(detail + " " + from.From())
}

// unfinished is the error of a Shutdown whose context ended before the loop did.
type unfinished struct {
	error
	what string
}

func (e *unfinished) Unwrap() error { return e.error }
func (e *unfinished) Error() string { return e.error.Error() + e.what }

// unfinished adds to the error of a context what the end still waits for.
func (l *Loop) unfinished(err error) error {
	const most = 8
	active, waits := l.active(true), " has not ended yet"
	var parts []string
	for i, a := range active {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(active)-most))
			break
		}
		parts = append(parts, a.String())
	}
	if len(parts) > 0 {
		waits = " waits for: " + strings.Join(parts, "; ")
	}
	return &unfinished{err, fmt.Sprintf("; loop %d%s", l.id, waits)}
}

// AwaitWorkers waits until no function of Promisify runs, or until ctx is done, and then returns ctx.Err().
// [Loop.Close] does not wait for these functions: call AwaitWorkers after Close to wait for the last of them. Before the
// loop has ended, further ones may begin at any time. A function of Promisify must not call AwaitWorkers: it would wait
// for itself. On the loop AwaitWorkers returns ErrAwaitOnLoop.
func (l *Loop) AwaitWorkers(ctx context.Context) error {
	_ = ctx.Done() // a nil context panics here
	if l.OnLoop() {
		return ErrAwaitOnLoop
	}
	return await(ctx, l.crew.WhenEmpty())
}

// ID returns the loop's number, unique in the process: "loop" in log records and in labels of profiles, Loop in a [Stall].
func (l *Loop) ID() uint64 { return l.id }
