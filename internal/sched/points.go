//go:build schedules

package sched

// The points at which a schedule may let another goroutine run.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
)

const Exploring = true

// active is the schedule that is being played, or nil.
var active atomic.Pointer[schedule]

// mine returns the active schedule if the calling goroutine belongs to it and has its token, else nil.
func mine() *schedule {
	if s := active.Load(); s != nil && s.holder.Load() == goroutine.ID() {
		return s
	}
	return nil
}

// Point is a point at which another goroutine may run.
func Point() {
	if s := mine(); s != nil {
		s.point(nil, false)
	}
}

// Until is a point behind which the caller runs only when cond holds. cond may use operations that are points.
func Until(cond func() bool) {
	if s := mine(); s != nil {
		s.point(cond, false)
	}
}

// Await is a point behind which the caller runs only when a receive from one of the channels would not block. An
// unbuffered channel may only be closed, never sent to.
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

// Yield is a point at which a switch to another goroutine does not count as a preemption.
func Yield() {
	if s := mine(); s != nil {
		s.point(nil, true)
	}
}

// Hand gives the token to the goroutine with the identity id, which runs in place of the caller; the caller waits for it.
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

// Since returns the time of the active schedule, whose clock moves only when a timer fires. Without a schedule it is
// time.Since.
func Since(t time.Time) time.Duration {
	if s := active.Load(); s != nil {
		return s.clock
	}
	return time.Since(t)
}

// Timer is a timer of AfterFunc. In a schedule it is one more goroutine: it may fire at any point once it is set, as the
// code under test must not rely on the time of a deadline. A timer with a delay of Lifetime or more never fires: if all
// goroutines wait for such timers, that is a deadlock.
type Timer struct {
	real *time.Timer // nil in a schedule
	f    func()
	set  *thread // the goroutine of the timer that is set: the timer fires when it begins
}

// Lifetime is longer than any schedule.
const Lifetime time.Duration = 1 << 61

// AfterFunc calls f on a goroutine of its own when d has passed.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{f: f}
	if mine() == nil {
		t.real = time.AfterFunc(d, f)
	} else {
		t.Reset(d)
	}
	return t
}

// Reset behaves as that of time.Timer, and so does Stop.
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

// AfterContext makes f another goroutine of the schedule when ctx ends, if ctx has a method AfterFunc, as the contexts of
// the tests have. Otherwise it is context.AfterFunc.
func AfterContext(ctx context.Context, f func()) (stop func() bool) {
	if c, ok := ctx.(interface{ AfterFunc(func()) func() bool }); ok && mine() != nil {
		return c.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}

// Mutex is a sync.Mutex with a point before Lock, at which the caller waits until the mutex is free.
type Mutex struct {
	mu   sync.Mutex
	held atomic.Bool
}

func (m *Mutex) Lock() {
	Until(func() bool { return !m.held.Load() })
	m.mu.Lock()
	m.held.Store(true)
}

// TryLock is that of a sync.Mutex, with a point before it.
func (m *Mutex) TryLock() bool {
	Point()
	locked := m.mu.TryLock()
	if locked {
		m.held.Store(true)
	}
	return locked
}

func (m *Mutex) Unlock() {
	m.held.Store(false)
	m.mu.Unlock()
}
