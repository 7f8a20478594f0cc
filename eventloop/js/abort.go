package js

// Abort: controllers, signals, and signals that follow others.

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/slim"
)

// AbortController aborts its signal (the DOM standard's AbortController). All methods may be called from any goroutine.
type AbortController struct{ signal *AbortSignal }

// NewAbortController returns a controller with a signal that is not aborted.
func (j *JS) NewAbortController() *AbortController {
	return &AbortController{j.newSignal()}
}

// Signal returns the controller's signal, always the same.
func (c *AbortController) Signal() *AbortSignal { return c.signal }

// Abort aborts the signal, and those that follow it, with a reason; nil stands for ErrAbort. The first call decides.
// When Abort returns, the signals are aborted and contexts made from them are cancelled. If it was called on the loop, the
// listeners of the signals have run; otherwise they are queued to run on the loop ahead of other work. Abort returns
// ErrLoopTerminated if there are listeners and the loop has ended.
func (c *AbortController) Abort(reason error) error {
	return c.signal.abort(cmp.Or(reason, ErrAbort))
}

// AbortSignal tells that something is not wanted any more (the DOM standard's AbortSignal). All methods may be called
// from any goroutine.
//
// A signal that follows others ([JS.AnySignal] and the like) is held by them only while it has listeners. So a follower
// that the program has dropped is garbage although the others live on. It does not hold them either: who alone can abort
// a signal holds it, that is its controller, its timer or its context.
type AbortSignal struct {
	js        *JS
	following bool // it follows the signals in sources; no signal follows it: a follower of it follows its sources
	owning    bool // it follows one signal alone, which is garbage soon after it; see owner

	mu        sync.Mutex // guards what follows; may be held when that of a source is taken
	reason    error      // nil until it is aborted
	watchers  []*watcher // some of them, fewer than half, may have been taken back
	takenBack int        // how many of watchers were taken back
	followers slim.Map[weak.Pointer[AbortSignal], follower]
	order     uint64   // of the latest follower
	sources   []source // the signals that it follows; none when aborted
}

// source is a signal's record of another one that it follows. If that one has an owner, all its followers but the owner
// itself hold the owner, so that the other one can still be aborted.
type source struct {
	signal weak.Pointer[AbortSignal] // garbage when nobody can abort it any more
	owner  *AbortSignal
}

// follower is a signal's record of another one that follows it.
type follower struct {
	order uint64       // its number: followers are aborted in the order of their numbers
	held  *AbortSignal // the follower, held in memory while it has watchers; else nil
}

// watcher is a function that is called once, when the signal is aborted.
type watcher struct {
	fn     func(reason error) // nil when it was called or taken back; guarded by the signal's mu
	onLoop bool               // a listener, called on the loop; others are called on the goroutine that aborts
}

func (j *JS) newSignal() *AbortSignal { return &AbortSignal{js: j} }

// AbortedSignal returns a signal that is aborted; a nil reason stands for ErrAbort (the DOM standard's
// AbortSignal.abort).
func (j *JS) AbortedSignal(reason error) *AbortSignal {
	return &AbortSignal{js: j, reason: cmp.Or(reason, ErrAbort)}
}

// TimeoutSignal returns a signal that is aborted with ErrTimeout in ms milliseconds (the DOM standard's
// AbortSignal.timeout). As in Node, it does not keep an auto-exit loop alive. The timer holds the signal's listeners until
// it fires or they are taken back; when a signal without listeners is forgotten, its timer is cancelled. It returns an
// error that wraps ErrTime unless ms is between 0 and 2^53-1, and ErrLoopTerminated once the loop is ending.
func (j *JS) TimeoutSignal(ms float64) (*AbortSignal, error) {
	if !(ms >= 0 && ms <= float64(maxID)) {
		return nil, &DOMException{Name: "TypeError", Message: "the timeout is out of range", Err: ErrTime}
	}
	delay := time.Duration(math.MaxInt64)
	if ms < float64(delay/time.Millisecond) {
		delay = time.Duration(ms) * time.Millisecond
	}
	timed := j.newSignal()
	id, err := j.loop.ScheduleTimer(delay, func() { timed.abort(ErrTimeout) })
	if err != nil {
		return nil, err
	}
	j.loop.UnrefTimer(id)
	s := j.owner(timed) // timed, and so the timer, holds s while s has listeners
	runtime.AddCleanup(s, func(id eventloop.TimerID) { j.loop.CancelTimer(id) }, id)
	return s, nil
}

// AnySignal returns a signal that is aborted as soon as one of signals is, with the same reason (the DOM standard's
// AbortSignal.any). If one of them is aborted already, so is the new signal. The signals may be of different loops, and
// none may be nil. Listeners of the new signal run on the loop of j.
func (j *JS) AnySignal(signals ...*AbortSignal) *AbortSignal {
	s := &AbortSignal{js: j, following: true}
	sources := make([]source, 0, len(signals)) // some may be there more than once
	for _, input := range signals {
		input.mu.Lock()
		s.reason = cmp.Or(s.reason, input.reason)
		first := len(sources)
		if !input.following {
			sources = append(sources, source{signal: weak.Make(input)})
		} else if sources = append(sources, input.sources...); input.owning && len(sources) > first {
			sources[first].owner = input
		}
		input.mu.Unlock()
	}
	if s.reason != nil {
		return s
	}
	reason := s.follow(sources)
	for _, input := range signals { // a source may have been aborted, and be garbage, before s could follow it
		reason = cmp.Or(reason, input.Reason())
	}
	if reason != nil {
		s.abort(reason)
	}
	return s
}

// owner returns an owning signal, which follows one that nobody has but who will abort it. The caller gives the owner a
// cleanup that makes this one garbage.
func (j *JS) owner(of *AbortSignal) *AbortSignal {
	s := j.AnySignal(of)
	s.owning = true
	return s
}

// follow makes s follow the sources, each once, and those that are garbage not at all. If one is aborted already, it stops
// there and returns that one's reason. The sources forget s when it is garbage.
func (s *AbortSignal) follow(sources []source) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := weak.Make(s)
	var followed []weak.Pointer[AbortSignal]
	for _, from := range sources {
		signal := from.signal.Value()
		if signal == nil {
			continue
		}
		added, reason := signal.adopt(p)
		if reason != nil {
			return reason
		}
		if added {
			s.sources = append(s.sources, from)
			followed = append(followed, from.signal)
		}
	}
	runtime.AddCleanup(s, func(followed []weak.Pointer[AbortSignal]) {
		for _, from := range followed {
			if signal := from.Value(); signal != nil {
				signal.leave(p)
			}
		}
	}, followed)
	return nil
}

// adopt makes f follow s. added tells that f did not follow s before. If s is aborted, adopt returns the reason.
func (s *AbortSignal) adopt(f weak.Pointer[AbortSignal]) (added bool, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != nil {
		return false, s.reason
	}
	if s.followers.Of[f].order == 0 {
		s.order++
		s.followers.Put(f, follower{order: s.order})
		added = true
	}
	return added, nil
}

// leave makes s forget its follower f.
func (s *AbortSignal) leave(f weak.Pointer[AbortSignal]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.followers.Delete(f)
}

// Aborted tells whether the signal is aborted.
func (s *AbortSignal) Aborted() bool { return s.Reason() != nil }

// Reason returns why the signal is aborted, or nil.
func (s *AbortSignal) Reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// ThrowIfAborted returns the reason, or nil while the signal is not aborted: Go returns what JavaScript throws.
func (s *AbortSignal) ThrowIfAborted() error { return s.Reason() }

// OnAbort arranges that fn is called once, on the loop, when the signal is aborted. Listeners run in order. On a signal that
// is aborted already it does nothing, as in the DOM: call OnAbort first, then Aborted. remove takes fn back, also while
// listeners run; calling it again does nothing. A nil fn is ignored.
func (s *AbortSignal) OnAbort(fn func(reason error)) (remove func()) {
	if fn == nil {
		return func() {}
	}
	return s.watch(fn, true)
}

// watch adds a watcher, and returns a function that takes it back. On an aborted signal it does nothing.
func (s *AbortSignal) watch(fn func(reason error), onLoop bool) (remove func()) {
	w := &watcher{fn: fn, onLoop: onLoop}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != nil {
		return func() {}
	}
	s.watchers = append(s.watchers, w)
	if len(s.watchers) == 1 {
		s.hold(s)
	}
	return func() { s.unwatch(w) }
}

func (s *AbortSignal) unwatch(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.fn == nil {
		return
	}
	w.fn = nil
	if s.takenBack++; 2*s.takenBack < len(s.watchers) {
		return
	}
	s.watchers = slim.Slice(slices.DeleteFunc(s.watchers, func(w *watcher) bool { return w.fn == nil }))
	s.takenBack = 0
	if len(s.watchers) == 0 {
		s.hold(nil)
	}
}

// hold(s) makes the sources of s hold s in memory, and hold(nil) makes them stop; the caller holds the mutex of s.
func (s *AbortSignal) hold(held *AbortSignal) {
	p := weak.Make(s)
	for _, from := range s.sources {
		signal := from.signal.Value()
		if signal == nil {
			continue
		}
		signal.mu.Lock()
		if f, ok := signal.followers.Of[p]; ok {
			f.held = held
			signal.followers.Of[p] = f
		}
		signal.mu.Unlock()
	}
}

// abort aborts s and its followers. All of them have the reason before any watcher is called.
func (s *AbortSignal) abort(reason error) (err error) {
	type aborted struct {
		signal   *AbortSignal
		watchers []*watcher
	}
	first, followers, ok := s.setReason(reason)
	if !ok {
		return nil
	}
	all := []aborted{{s, first}}
	for _, f := range followers {
		if watchers, _, ok := f.setReason(reason); ok {
			all = append(all, aborted{f, watchers})
		}
	}
	for _, t := range all {
		for _, w := range t.watchers {
			if fn := t.signal.claim(w, false); fn != nil {
				fn(reason)
			}
		}
	}
	for _, t := range all {
		err = cmp.Or(t.signal.notify(t.watchers, reason), err)
	}
	return err
}

// setReason gives the signal its reason, unless it has one, and returns the watchers and the followers to notify.
func (s *AbortSignal) setReason(reason error) (watchers []*watcher, followers []*AbortSignal, ok bool) {
	s.mu.Lock()
	if s.reason != nil {
		s.mu.Unlock()
		return nil, nil, false
	}
	s.reason = reason
	watchers, s.watchers = s.watchers, nil
	var records []follower // of those that are not garbage
	for p, f := range s.followers.Of {
		if f.held = p.Value(); f.held != nil {
			records = append(records, f)
		}
	}
	sources := s.sources
	s.followers, s.sources = slim.Map[weak.Pointer[AbortSignal], follower]{}, nil
	s.mu.Unlock()
	slices.SortFunc(records, func(a, b follower) int { return cmp.Compare(a.order, b.order) })
	for _, f := range records {
		followers = append(followers, f.held)
	}
	p := weak.Make(s)
	for _, from := range sources {
		if signal := from.signal.Value(); signal != nil {
			signal.leave(p)
		}
	}
	return watchers, followers, true
}

// claim returns the watcher's function, once, if it is of the given kind and has not been removed.
func (s *AbortSignal) claim(w *watcher, onLoop bool) (fn func(reason error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.onLoop == onLoop {
		fn, w.fn = w.fn, nil
	}
	return fn
}

// notify calls the listeners among watchers on the loop: at once if it is called there, and otherwise in an internal task.
func (s *AbortSignal) notify(watchers []*watcher, reason error) error {
	if !slices.ContainsFunc(watchers, func(w *watcher) bool { return w.onLoop }) {
		return nil
	}
	call := func() {
		s.js.each(len(watchers), func(i int) {
			if fn := s.claim(watchers[i], true); fn != nil {
				fn(reason)
			}
		})
	}
	if s.js.loop.OnLoop() {
		call()
		return nil
	}
	if s.js.loop.SubmitInternal(call) != nil {
		return eventloop.ErrLoopTerminated
	}
	return nil
}
