package eventloop

// Stalls: callbacks that block the loop for too long, reported while they do.

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Stall tells of a callback that blocks its loop.
type Stall struct {
	Loop    uint64        // ID of the loop
	Kind    string        // of the callback, as in [Activity]; "handler" for a handler or a logger
	Running time.Duration // how long it has run, at least; how long it ran, if it has returned
	Ended   bool          // it has returned
	Stack   []byte        // of the loop's goroutine, when the stall was first reported
	From    string        // in debug mode, where the callback was submitted: the function, "at", file and line
	Hint    string        // what to do about it, if the stack shows that
}

// WithStallThreshold has report called for each callback that runs for longer than d, while it still runs: at most a quarter
// of d later. When the callback has returned, it is called again, with Ended set and with how long the callback ran, to a quarter
// of d or to a second if that is less. Handlers and loggers count as callbacks here.
//
// report is called on a goroutine of its own, not on the loop, and may call any method of the loop. Reports come one at a
// time. When one has returned, the callback that blocks the loop then is next; callbacks that have begun and ended during a
// report are not reported, and a report that never returns is the last. A panic in report is logged. d must be positive,
// report not nil.
//
// While the loop is awake a timer looks at it four times in d, but at most every 100 microseconds and at least every
// second; while it is parked there is none. A callback costs two nanoseconds, and a loop the 30 KiB of [WithMetrics]. To
// take the stack of one goroutine, the runtime stops all of them, for a time that depends on how many there are.
func WithStallThreshold(d time.Duration, report func(Stall)) Option {
	return func(c *config) error {
		switch {
		case d <= 0:
			return fmt.Errorf("eventloop: WithStallThreshold(%v): not positive", d)
		case report == nil:
			return loopapi.Wrap(ErrNilCallback, "WithStallThreshold")
		}
		c.stallThreshold, c.onStall = d, report
		return nil
	}
}

// stalls watches the running callback: the function of a timer looks now and then which callback runs, and for how long
// it has been the same. The timer is not set again while the loop is asleep, and the loop sets it when it wakes. The
// timer's function clears armed before it reads asleep, and the loop clears asleep before it tries to set armed: so while
// the loop is awake, the timer is set.
type stalls struct {
	timer     *time.Timer   // nil without WithStallThreshold
	armed     atomic.Bool   // the timer is set, or its function runs
	asleep    atomic.Bool   // the loop is parked, or has not begun
	goroutine atomic.Uint64 // the loop's, by its number in stacks

	// Owned by the method look, the timer's function, which sets the timer again when it is done.
	seen     callbackID // the callback that was running
	seenAt   int64      // when it began, or was first seen; nanoseconds since the anchor
	reported callbackID
	open     Stall // of the callback in reported, until it has returned; else zero
	openAt   int64 // when that began

	telling sync.Mutex  // guards what follows
	busy    atomic.Bool // a goroutine calls the user's function; look alone sets it, and reads it without the lock
	ended   Stall       // the end that it is called with next, if Ended is set
}

func (p *probe) watchStalls() {
	if p.loop.onStall != nil {
		p.stalls.timer = time.AfterFunc(time.Hour, p.look)
		p.stalls.timer.Stop()
		p.stalls.asleep.Store(true)
	}
}

// watched notes that the loop runs on the calling goroutine.
func (s *stalls) watched() {
	if s.timer != nil {
		s.goroutine.Store(goroutineID())
	}
}

func (s *stalls) sleeps() {
	if s.timer != nil {
		s.asleep.Store(true)
	}
}

func (s *stalls) wakes(l *Loop) {
	if s.timer == nil {
		return
	}
	s.asleep.Store(false)
	if s.armed.CompareAndSwap(false, true) {
		s.timer.Reset(l.betweenLooks())
	}
}

// betweenLooks returns the timer's interval. The lower bound keeps a tiny threshold from using up a processor; the
// upper one lets the timer of an ended loop, and with it the loop's memory, go soon.
func (l *Loop) betweenLooks() time.Duration {
	return min(max(l.stallThreshold/4, 100*time.Microsecond), time.Second)
}

// look reports the running callback if it has blocked the loop for longer than the threshold, and the end of the one that it has
// reported before. The timer calls it.
func (p *probe) look() {
	s, l := &p.stalls, p.loop
	now, running := l.now(), p.runningID()
	if running != s.seen {
		s.seen, s.seenAt = running, now
		if since := running.since(); since > 0 {
			s.seenAt = since
		}
	}
	if s.open.Running != 0 && running != s.reported {
		s.open.Ended, s.open.Running = true, time.Duration(s.seenAt-s.openAt)
		p.tell(s.open)
		s.open = Stall{}
	}
	took := time.Duration(now - s.seenAt)
	if running.kind() != noCallback && took > l.stallThreshold && running != s.reported && !s.asleep.Load() && !s.busy.Load() {
		p.stalled(running, took)
	}
	p.lookAgain()
}

// lookAgain sets the timer, unless the loop is asleep and has no stall whose end is to be told.
func (p *probe) lookAgain() {
	s := &p.stalls
	if s.open.Running == 0 && s.asleep.Load() {
		s.armed.Store(false)
		if s.asleep.Load() || !s.armed.CompareAndSwap(false, true) {
			return
		}
	}
	s.timer.Reset(p.loop.betweenLooks())
}

func (p *probe) stalled(running callbackID, took time.Duration) {
	stall := Stall{Loop: p.loop.id, Kind: running.kind().String(), Running: took,
		Stack: stackOf(p.stalls.goroutine.Load())}
	if from := p.place.Load(); from != nil {
		stall.From = from.String()
	}
	stall.Hint = hintOf(running.kind(), stall.Stack)
	if p.runningID() != running {
		return // the callback has just returned, and the stack may be that of another one
	}
	p.mu.Lock()
	p.read()
	p.ring.add(record{end: p.loop.now(), kind: aStall})
	p.mu.Unlock()
	s := &p.stalls
	s.reported, s.open, s.openAt = running, stall, s.seenAt
	p.tell(stall)
}

// tell has a goroutine call the user's function: when it has returned from the call before, which only an end has to wait for.
func (p *probe) tell(stall Stall) {
	s := &p.stalls
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.busy.Load() {
		s.ended = stall
		return
	}
	s.busy.Store(true)
	go p.callReport(stall)
}

func (p *probe) callReport(stall Stall) {
	fault := &PanicError{Value: ErrGoexit}
	defer func() { // also after runtime.Goexit
		if fault != nil {
			p.loop.logError("the report of a stall panicked", fault, "kind", aStall.String(), "of", stall.Kind, "stack", string(fault.Stack))
		}
		s := &p.stalls
		s.telling.Lock()
		defer s.telling.Unlock()
		if !s.ended.Ended {
			s.busy.Store(false)
			return
		}
		go p.callReport(s.ended)
		s.ended = Stall{}
	}()
	fault = guarded(func() { p.loop.onStall(stall) })
}

// hintOf returns what to do about a callback that waits, by the state of its goroutine. A threadlet that waits for a lock
// which another one of the loop has blocks the loop for ever.
func hintOf(kind kind, stack []byte) string {
	state, _, _ := bytes.Cut(stack, []byte("\n"))
	_, state, _ = bytes.Cut(state, []byte("["))
	for _, h := range hints {
		switch {
		case !bytes.HasPrefix(state, []byte(h.state)):
		case kind != aThreadlet:
			return h.hint + "; let a function of Promisify wait, or the other side submit what comes then"
		case h.state == "sync." && bytes.Contains(stack, []byte("\ncrypto/tls.(*Conn).")):
			return "a tls.Conn is used by two threadlets, and its lock stops the loop: use package threadlet/secure"
		default:
			return h.hint + ", a threadlet: use " + h.instead
		}
	}
	return ""
}

// hints are by the beginning of the state that the runtime tells of a goroutine.
var hints = []struct{ state, hint, instead string }{
	{"sync.WaitGroup", "the loop waits for a sync.WaitGroup", "Join or threadlet.Do"},
	{"sync.Cond", "the loop waits for a sync.Cond", "threadlet.Cond"},
	{"sync.", "the loop waits for a lock of package sync", "threadlet.Mutex, if another threadlet of the loop has it"},
	{"chan ", "the loop waits for a channel", "threadlet.Chan"},
	{"select", "the loop waits for one of several channels", "threadlet.Chan"},
	{"sleep", "the loop sleeps", "threadlet.Sleep"},
}

// goroutineID returns the calling goroutine's number in stacks. It is found only in the first line of the goroutine's
// own stack.
func goroutineID() uint64 {
	var b [64]byte
	line, _, _ := bytes.Cut(b[:runtime.Stack(b[:], false)], []byte(" ["))
	id, _ := strconv.ParseUint(string(bytes.TrimPrefix(line, []byte("goroutine "))), 10, 64)
	return id
}

// stackOf returns the stack of a goroutine, or nil if there is none in the first mostStacks bytes of all stacks.
func stackOf(id uint64) []byte {
	header := fmt.Appendf(nil, "goroutine %d ", id)
	for size := 1 << 16; ; size *= 4 {
		b := make([]byte, size)
		b = b[:runtime.Stack(b, true)]
		at := 0
		if !bytes.HasPrefix(b, header) {
			at = bytes.Index(b, append([]byte("\n\n"), header...)) + 2
		}
		whole := len(b) < size
		if at != 1 {
			if stack, _, ended := bytes.Cut(b[at:], []byte("\n\n")); ended || whole {
				return bytes.Clone(stack)
			}
		}
		if whole || size >= mostStacks {
			return nil
		}
	}
}

// mostStacks is how many bytes of stacks are searched for one.
const mostStacks = 1 << 26
