//go:build schedules

package sched

// The points at which a schedule may let another goroutine go on.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
)

const Exploring = true

// active is the schedule that is going on.
var active atomic.Pointer[schedule]

// mine returns the schedule if the caller is the one of its goroutines that has the token.
func mine() *schedule {
	if s := active.Load(); s != nil && s.holder.Load() == goroutine.ID() {
		return s
	}
	return nil
}

// Point is a place at which another goroutine may go on.
func Point() {
	if s := mine(); s != nil {
		s.point(nil, false)
	}
}

// Until is a point at which the caller goes on only when cond holds. cond may look at values that have points.
func Until(cond func() bool) {
	if s := mine(); s != nil {
		s.point(cond, false)
	}
}

// Await is a point at which the caller goes on only when a receive from one of the channels would not block. A channel
// without room is one that is closed, and never sent to.
func Await(channels ...<-chan struct{}) {
	Until(func() bool {
		for _, c := range channels {
			if len(c) > 0 {
				return true
			}
			if cap(c) == 0 {
				select {
				case <-c:
					return true
				default:
				}
			}
		}
		return false
	})
}

// Yield is a point at which it costs nothing to let another goroutine go on.
func Yield() {
	if s := mine(); s != nil {
		s.point(nil, true)
	}
}

// Hand says that the goroutine with this identity goes on in place of the caller, which waits for it.
func Hand(id uintptr) {
	if s := active.Load(); s != nil && id != 0 {
		s.holder.Store(id)
	}
}

// Go makes f another goroutine of the schedule.
func Go(f func()) {
	if s := mine(); s != nil {
		s.threads = append(s.threads, &thread{name: "go", run: f})
		return
	}
	go f()
}

// Since tells, while a schedule goes on, its own time, which moves when a timer fires and at no other time.
func Since(t time.Time) time.Duration {
	if s := active.Load(); s != nil {
		return s.clock
	}
	return time.Since(t)
}

// Timer is a timer of AfterFunc. In a schedule it may fire at any point once it is set, so it is one more goroutine:
// that is what a deadline means to who shares memory with it. One that is a lifetime away never fires: who waits for
// nothing else is in a deadlock.
type Timer struct {
	real *time.Timer
	f    func()
	set  *thread // it fires when this goroutine begins
}

// Lifetime is longer than any schedule.
const Lifetime time.Duration = 1 << 61

// AfterFunc has f called when d has passed.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{f: f}
	if mine() == nil {
		t.real = time.AfterFunc(d, f)
	} else {
		t.Reset(d)
	}
	return t
}

// Reset is that of time.Timer; so is Stop.
func (t *Timer) Reset(d time.Duration) bool {
	if t.real != nil {
		return t.real.Reset(d)
	}
	was := t.Stop()
	t.set = nil
	if d >= Lifetime {
		return was
	}
	s := active.Load()
	at := s.clock + d
	t.set = &thread{name: "timer", timer: true, run: func() {
		s.clock = max(s.clock, at)
		t.f()
	}}
	s.threads = append(s.threads, t.set)
	return was
}

func (t *Timer) Stop() bool {
	if t.real != nil {
		return t.real.Stop()
	}
	if t.set == nil || t.set.began {
		return false
	}
	was := !t.set.ended
	t.set.ended = true
	return was
}

// AfterContext makes f another goroutine of the schedule when ctx ends, if ctx is one of the test's, which knows how.
func AfterContext(ctx context.Context, f func()) (stop func() bool) {
	if c, ok := ctx.(interface{ AfterFunc(func()) func() bool }); ok && mine() != nil {
		return c.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}

// Mutex is a sync.Mutex with a point before Lock, which waits there for its turn.
type Mutex struct {
	mu   sync.Mutex
	held atomic.Bool
}

func (m *Mutex) Lock() {
	Until(func() bool { return !m.held.Load() })
	m.mu.Lock()
	m.held.Store(true)
}

func (m *Mutex) Unlock() {
	m.held.Store(false)
	m.mu.Unlock()
}
