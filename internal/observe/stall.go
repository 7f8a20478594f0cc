package observe

// Stalls: callbacks that block the loop for too long, told while they do.

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Stall tells of a callback that blocks its loop.
type Stall struct {
	Loop    uint64        // ID of the loop
	Kind    string        // of the callback
	Running time.Duration // how long it has run, at least; how long it ran, if it has returned
	Ended   bool          // it has returned
	Stack   []byte        // of the loop's goroutine, when the stall was first told
	From    string        // where the callback was submitted, if that is known
	Hint    string        // what to do about it, if the stack shows that
}

// stalls watches the running callback: the function of a timer looks now and then which callback runs, and for how long
// it has been the same. The timer is not set again while the loop is asleep, and the loop sets it when it wakes. The
// timer's function clears armed before it reads asleep, and the loop clears asleep before it tries to set armed: so while
// the loop is awake, the timer is set.
type stalls struct {
	threshold time.Duration
	report    func(Stall)   // fixed, like threshold
	timer     *time.Timer   // nil without a report
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

func (p *Probe) watchStalls(threshold time.Duration, report func(Stall)) {
	if report != nil {
		p.stalls.threshold, p.stalls.report = threshold, report
		p.stalls.timer = time.AfterFunc(time.Hour, p.look)
		p.stalls.timer.Stop()
		p.stalls.asleep.Store(true)
	}
}

// Runs notes that the loop runs on the calling goroutine.
func (p *Probe) Runs() {
	if p != nil && p.stalls.timer != nil {
		p.stalls.goroutine.Store(Goroutine())
	}
}

// Switch notes the goroutine, by its number in stacks, on which the running callback goes on, and returns the one before.
func (p *Probe) Switch(goroutine uint64) (before uint64) { return p.stalls.goroutine.Swap(goroutine) }

// Watched tells whether a timer looks for stalls.
func (p *Probe) Watched() bool { return p.stalls.armed.Load() }

func (s *stalls) sleeps() {
	if s.timer != nil {
		s.asleep.Store(true)
	}
}

func (s *stalls) wakes() {
	if s.timer == nil {
		return
	}
	s.asleep.Store(false)
	if s.armed.CompareAndSwap(false, true) {
		s.timer.Reset(s.betweenLooks())
	}
}

// betweenLooks returns the timer's interval. The lower bound keeps a tiny threshold from using up a processor; the
// upper one lets the timer of an ended loop, and with it the loop's memory, go soon.
func (s *stalls) betweenLooks() time.Duration {
	return min(max(s.threshold/4, 100*time.Microsecond), time.Second)
}

// look reports the running callback if it has blocked the loop for longer than the threshold, and the end of the one that it has
// reported before. The timer calls it.
func (p *Probe) look() {
	s := &p.stalls
	now, running := p.now(), p.runningID()
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
	if running.kind() != None && took > s.threshold && running != s.reported && !s.asleep.Load() && !s.busy.Load() {
		p.stalled(running, took)
	}
	p.lookAgain()
}

// lookAgain sets the timer, unless the loop is asleep and has no stall whose end is to be told.
func (p *Probe) lookAgain() {
	s := &p.stalls
	if s.open.Running == 0 && s.asleep.Load() {
		s.armed.Store(false)
		if s.asleep.Load() || !s.armed.CompareAndSwap(false, true) {
			return
		}
	}
	s.timer.Reset(s.betweenLooks())
}

func (p *Probe) stalled(running callbackID, took time.Duration) {
	stall := Stall{Loop: p.loop, Kind: running.kind().String(), Running: took,
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
	p.ring.add(record{end: p.now(), kind: Stalled})
	p.mu.Unlock()
	s := &p.stalls
	s.reported, s.open, s.openAt = running, stall, s.seenAt
	p.tell(stall)
}

// tell has a goroutine call the user's function: when it has returned from the call before, which only an end has to wait for.
func (p *Probe) tell(stall Stall) {
	s := &p.stalls
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.busy.Load() {
		s.ended = stall
		return
	}
	s.busy.Store(true)
	go s.callReport(stall)
}

func (s *stalls) callReport(stall Stall) {
	defer func() { // also after runtime.Goexit
		s.telling.Lock()
		defer s.telling.Unlock()
		if !s.ended.Ended {
			s.busy.Store(false)
			return
		}
		go s.callReport(s.ended)
		s.ended = Stall{}
	}()
	s.report(stall)
}

// hintOf returns what to do about a callback that waits, by the state of its goroutine. A threadlet that waits for a lock
// which another one of the loop has blocks the loop for ever.
func hintOf(kind Kind, stack []byte) string {
	state, _, _ := bytes.Cut(stack, []byte("\n"))
	_, state, _ = bytes.Cut(state, []byte("["))
	if bytes.HasPrefix(state, []byte("select")) && bytes.Contains(stack, []byte("/eventloop/flow.Call[")) {
		return "the loop asks another one, which may ask this one, with flow.Call: use threadlet.Call in a threadlet, elsewhere a promise"
	}
	for _, h := range hints {
		switch {
		case !bytes.HasPrefix(state, []byte(h.state)):
		case kind != Threadlet:
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

// Goroutine returns the calling goroutine's number in stacks. It is found only in the first line of the goroutine's
// own stack.
func Goroutine() uint64 {
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
