//go:build schedules

package promise_test

// The end of a loop under every schedule with a few preemptions, beside goroutines that settle, derive and wait.

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// scheduled is a loop of a case.
type scheduled struct {
	*promise.Owner
	owner   atomic.Uintptr
	refused int // number of the call from another goroutine that is refused, from 1

	mu    sched.Mutex
	calls int
	ended bool
	queue []func()

	local []func() // the loop's
}

func newScheduled(refused int) *scheduled {
	s := &scheduled{refused: refused}
	s.Owner = promise.NewOwner(s, promise.Config{})
	return s
}

func (s *scheduled) OnLoop() bool { return s.owner.Load() == goroutine.ID() }

func (s *scheduled) ScheduleMicrotask(fn func()) error {
	if s.OnLoop() {
		s.local = append(s.local, fn)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.ended || s.calls == s.refused {
		return loopapi.ErrLoopTerminated
	}
	s.queue = append(s.queue, fn)
	return nil
}

// serve is the goroutine of the loop. It begins to end, and ends, as soon as it can after the conditions hold.
func (s *scheduled) serve(mayBegin, mayEnd func() bool) {
	s.owner.Store(goroutine.ID())
	for !s.ended {
		for ; len(s.local) > 0; s.local = s.local[1:] {
			s.local[0]()
		}
		s.mu.Lock()
		s.local, s.queue = s.queue, nil
		s.mu.Unlock()
		if len(s.local) > 0 || mayBegin() && s.RejectAll(loopapi.ErrLoopTerminated) {
			continue
		}
		sched.Until(func() bool { return len(s.queue) > 0 || mayEnd() })
		s.mu.Lock()
		s.ended = len(s.queue) == 0
		s.mu.Unlock()
	}
	s.owner.Store(0)
	s.End()
}

// crowd is a case: workers beside a loop that ends when they are done, and beside another one that ends after it.
type crowd struct {
	loop, other *scheduled
	working     int
	answers     []answer
}

type answer struct {
	p      *promise.Promise
	result promise.Result
}

// wait waits for p.
func (c *crowd) wait(p *promise.Promise) {
	ch := p.ToChannel()
	sched.Until(func() bool { return len(ch) > 0 })
	c.answers = append(c.answers, answer{p, <-ch})
}

// consistent tells whether all answers about a promise are the same, and the last one too.
func (c *crowd) consistent() error {
	for _, a := range c.answers {
		if last := <-a.p.ToChannel(); fmt.Sprint(last) != fmt.Sprint(a.result) {
			return fmt.Errorf("somebody heard %v, and at the end it is %v", a.result, last)
		}
	}
	return nil
}

// crowds are what the workers do. No two of them wait for roots of the same loop, which have no order.
var crowds = map[string]func(c *crowd) []func(){
	"settle and wait": func(c *crowd) []func() {
		p, resolve, reject := c.loop.New()
		return []func(){func() { resolve(1); c.wait(p) }, func() { c.wait(p); reject(errTest); c.wait(p) }}
	},
	"derive and wait": func(c *crowd) []func() {
		p, resolve, _ := c.loop.New()
		recover := func(error) (any, error) { return "recovered", nil }
		return []func(){func() { c.wait(p.Catch(recover)) }, func() { c.wait(p.Then(increment, nil)); resolve(1) }}
	},
	"follow and wait": func(c *crowd) []func() {
		p, resolve, _ := c.loop.New()
		q, resolveQ, _ := c.loop.New()
		return []func(){func() { resolve(q); c.wait(p) }, func() { c.wait(p); resolveQ(1) }}
	},
	"combine and wait": func(c *crowd) []func() {
		p, resolve, _ := c.loop.New()
		return []func(){func() { c.wait(c.loop.All(p, p)) }, func() { resolve(1); c.wait(c.loop.Race(p)) }}
	},
	"make and wait": func(c *crowd) []func() {
		return []func(){func() { p, _, _ := c.loop.New(); c.wait(p) }, func() { c.loop.Resolved(1).Then(nil, nil) }}
	},
	"make a cycle and wait": func(c *crowd) []func() {
		return []func(){func() {
			p, resolve, _ := c.loop.New()
			resolve(c.loop.Race(p).Then(nil, nil))
			c.wait(p)
		}}
	},
	"follow another loop's": func(c *crowd) []func() {
		p, resolve, _ := c.loop.New()
		q, _, _ := c.other.New()
		return []func(){func() { c.wait(c.other.Resolved(p)) }, func() { resolve(q); c.wait(p) }}
	},
}

func setting(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every wait has an answer while the loop ends, the same as all others, whichever call the loop refuses: no worker waits for
// a loop that waits for its workers. TURNLOOP_PREEMPTIONS, TURNLOOP_SCHEDULES and TURNLOOP_TRACE are as in the schedules of
// the loop.
func TestSchedules(t *testing.T) {
	const refusals = 5 // more than any of the cases has calls, and none
	preemptions := setting(t, "TURNLOOP_PREEMPTIONS", 1)
	random := setting(t, "TURNLOOP_SCHEDULES", 20_000)/len(crowds)/refusals + 1
	trace, err := sched.ParseTrace(os.Getenv("TURNLOOP_TRACE"))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one goroutine runs at a time; the next need not wake a thread
	for name, workers := range crowds {
		for refused := range refusals {
			t.Run(fmt.Sprintf("%s, refusing %d", name, refused), func(t *testing.T) {
				begin := func() sched.Case { return newCrowd(workers, refused) }
				if trace != nil {
					log, err := sched.Replay(trace, begin)
					t.Logf("%s%v", log, err)
					return
				}
				bounded, failure := sched.Bounded(preemptions, 0, begin)
				if failure != nil {
					t.Fatalf("schedule %d of those with at most %d preemptions: %v", bounded, preemptions, failure)
				}
				if n, failure := sched.Random(uint64(refused), random, begin); failure != nil {
					t.Fatalf("random schedule %d: %v", n, failure)
				}
				t.Logf("all %d schedules with at most %d preemptions, and %d random ones", bounded, preemptions, random)
			})
		}
	}
}

func newCrowd(workers func(c *crowd) []func(), refused int) sched.Case {
	c := &crowd{loop: newScheduled(refused), other: newScheduled(0)}
	always, ended := func() bool { return true }, func() bool { return c.loop.ended }
	threads := []sched.Thread{
		{Name: "loop", Run: func() { c.loop.serve(always, func() bool { return c.working == 0 }) }},
		{Name: "other", Run: func() { c.other.serve(ended, ended) }},
	}
	for _, work := range workers(c) {
		c.working++
		threads = append(threads, sched.Thread{Name: "worker", Run: func() { work(); c.working-- }})
	}
	return sched.Case{Threads: threads, Check: c.consistent}
}
