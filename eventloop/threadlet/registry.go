package threadlet

// The threadlets of a loop and their stacks, for people who search for the cause of a hang.

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// Info says what a threadlet is doing.
type Info struct {
	Threadlet *Threadlet
	Serial    uint64    // its number on the loop, from 1
	State     string    // "fresh", "ready", "running" or "waiting"
	Reason    string    // what it waits for, such as "sleep", "promise", "worker", "mutex", "chan send", "read", "accept"
	Since     time.Time // time of the tick in which its last wait began; before its first wait, of the tick in which it was made
	Stack     []byte    // nil if it has not begun
}

func (i Info) String() string {
	return fmt.Sprintf("threadlet %d: %s\n%s", i.Serial, strings.TrimSpace(i.State+" "+i.Reason), i.Stack)
}

// reason is what a threadlet waits for.
type reason uint8

const (
	sleeping reason = iota
	promised
	working
	joining
	locking
	conditional
	sending
	receiving
	reading
	writing
	accepting
	pausing
	yielding // no wait: it stays ready
)

var reasons = [...]string{sleeping: "sleep", promised: "promise", working: "worker", joining: "join", locking: "mutex",
	conditional: "cond", sending: "chan send", receiving: "chan receive", reading: "read", writing: "write",
	accepting: "accept", pausing: "a pause of accept"}

var phases = [...]string{fresh: "fresh", running: "running", waiting: "waiting", ready: "ready"}

// Threadlets returns the threadlets of a loop that have not ended, in the order in which they were made. It resumes each
// waiting threadlet for a moment to trace its stack, so it costs the loop a stack trace for each. Any goroutine may call it;
// outside of the loop it blocks until the loop comes to it. Of a loop that has not begun to run, or has ended, it returns none.
func Threadlets(l *eventloop.Loop) []Info {
	s := schedulerOf(l)
	if l.OnLoop() {
		return s.infos()
	}
	if l.State() == eventloop.StateAwake {
		return nil
	}
	answer := make(chan []Info, 1)
	if l.SubmitInternal(func() { answer <- s.infos() }) != nil {
		return nil
	}
	select {
	case infos := <-answer:
		return infos
	case <-l.Done():
		return nil
	}
}

func (s *scheduler) infos() []Info {
	infos := make([]Info, 0, s.count)
	for t := s.eldest; t != nil; t = t.younger {
		i := Info{Threadlet: t, Serial: t.serial, State: phases[t.phase], Since: s.host.When(t.since), Stack: s.stackOf(t)}
		if t.phase == waiting {
			i.Reason = reasons[t.reason]
		}
		infos = append(infos, i)
	}
	return infos
}

// stackOf returns the stack of a threadlet, or nil if it has not begun.
func (s *scheduler) stackOf(t *Threadlet) []byte {
	switch {
	case t.co == nil:
		return nil
	case t.phase == running:
		return debug.Stack()
	case t.co == s.driver: // the driver has resumed the caller, so the caller hands back to it to get its stack; see handedBack
		s.wantsTrace = true
		current().yield(struct{}{})
	default:
		s.tracing = true
		t.co.next()
		s.tracing = false
	}
	stack := s.trace
	s.trace = nil
	return stack
}

// Stuck logs a deadlock: the loop ends because nothing can happen any more, and threadlets wait. The loop calls it at most
// once.
func (s *scheduler) Stuck() {
	if s.count == 0 {
		return
	}
	var text strings.Builder
	var ids []uint64
	for _, i := range s.infos() {
		ids = append(ids, i.Serial)
		fmt.Fprintf(&text, "%v\n", i)
	}
	s.host.Log().Error("deadlock: threadlets wait, and nothing else can happen", "kind", "threadlet", "id", ids, "threadlets", text.String())
}
