package eventloop

// Stalls: callbacks that keep the loop for too long, reported while they do.

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Stall tells of a callback that blocks its loop.
type Stall struct {
	Loop    uint64        // its ID
	Kind    string        // of the callback, as in [Activity]; handler of a handler or a logger
	Running time.Duration // for at least so long
	Stack   []byte        // of the loop's goroutine, now
	From    string        // in debug mode, where the callback was submitted
}

// WithStallThreshold has report called for each callback that runs for longer than d, once, while it still runs: within a
// quarter of d of that moment. So it is for a handler, or a logger, that keeps the loop for so long. report is called on a
// goroutine of its own, not on the loop, and may call any method of the loop. There is one report at a time: what blocks the
// loop when one returns is reported next, and what has begun and ended meanwhile is not. A panic in it is logged. d must be
// positive, report not nil.
//
// While the loop is awake a timer looks at it four times in d, but at most every 100 microseconds and at least every
// second; while it is parked there is none. A callback costs two nanoseconds. To take the stack of one goroutine, the
// runtime stops all of them, for a time that depends on how many there are.
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

// stalls watches over the running callback: it looks now and then which one that is, and how long it has been that. Who
// looks stops when the loop is asleep, and the loop starts it when it wakes; each writes its own flag before it looks at
// the other's, so there is always somebody who watches a loop that is awake.
type stalls struct {
	timer     *time.Timer // nil if nobody wants to know
	armed     atomic.Bool
	asleep    atomic.Bool
	goroutine atomic.Uint64 // that runs the loop, as stacks have it

	// Who looks has these alone: it sets the timer again when it is done.
	seen     runs  // the callback that was running
	seenAt   int64 // when it was first seen, or began
	reported runs
}

func (p *probe) watchStalls() {
	if p.loop.onStall != nil {
		p.stalls.timer = time.AfterFunc(time.Hour, p.look)
		p.stalls.timer.Stop()
		p.stalls.asleep.Store(true)
	}
}

// watched is told that the loop runs on the calling goroutine.
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

// betweenLooks is how long the timer waits. It is bounded so that a tiny threshold takes no processor for itself, and
// that the timer of a loop that has ended does not keep its memory for long.
func (l *Loop) betweenLooks() time.Duration {
	return min(max(l.stallThreshold/4, 100*time.Microsecond), time.Second)
}

// look is called by the timer.
func (p *probe) look() {
	defer p.lookAgain() // also if the report calls runtime.Goexit
	s, l := &p.stalls, p.loop
	now, running := l.now(), p.runs()
	if running != s.seen {
		s.seen, s.seenAt = running, now
		if since := running.since(); since > 0 {
			s.seenAt = since
		}
	}
	took := time.Duration(now - s.seenAt)
	if running.kind() != noCallback && took > l.stallThreshold && running != s.reported && !s.asleep.Load() {
		s.reported = running
		p.stalled(running, took)
	}
}

// lookAgain sets the timer, unless the loop is asleep.
func (p *probe) lookAgain() {
	s := &p.stalls
	if s.asleep.Load() {
		s.armed.Store(false)
		if s.asleep.Load() || !s.armed.CompareAndSwap(false, true) {
			return
		}
	}
	s.timer.Reset(p.loop.betweenLooks())
}

func (p *probe) stalled(running runs, took time.Duration) {
	stall := Stall{Loop: p.loop.id, Kind: running.kind().String(), Running: took, From: p.place.Load().String(),
		Stack: stackOf(p.stalls.goroutine.Load())}
	if p.runs() != running {
		return // it has just returned, and this is somebody else's stack
	}
	p.mu.Lock()
	p.read()
	p.ring.add(record{end: p.loop.now(), kind: aStall})
	p.mu.Unlock()
	returned := false
	defer func() {
		if !returned {
			fault := &PanicError{Value: recover(), Stack: debug.Stack()}
			if fault.Value == nil {
				fault.Value = ErrGoexit
			}
			p.loop.complain("the report of a stall panicked", fault, "kind", aStall.String(), "of", stall.Kind, "stack", string(fault.Stack))
		}
	}()
	p.loop.onStall(stall)
	returned = true
}

// goroutineID returns the number that the calling goroutine has in stacks: it is in their first line and nowhere else.
func goroutineID() uint64 {
	var b [64]byte
	line, _, _ := bytes.Cut(b[:runtime.Stack(b[:], false)], []byte(" ["))
	id, _ := strconv.ParseUint(string(bytes.TrimPrefix(line, []byte("goroutine "))), 10, 64)
	return id
}

// stackOf returns the stack of a goroutine, or nil if it is not among those that fit.
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

// mostStacks is how many bytes the stacks of all goroutines may take for one to be found among them.
const mostStacks = 1 << 26
