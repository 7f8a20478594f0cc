//go:build !schedules

package sched

// An ordinary build: Go's own scheduler, mutexes and timers.

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Exploring says whether schedules decide which goroutine runs. If so, the code under test must not depend on chance.
const Exploring = false

// Mutex is sync.Mutex.
type Mutex = sync.Mutex

// Timer is time.Timer.
type Timer = time.Timer

// Point is a point at which another goroutine may run. Call it before a shared access that is not through this package or
// sched/atomic.
func Point() {}

// Await must be called before an operation that blocks until one of the channels has a value or is closed.
func Await(...<-chan struct{}) {}

// Until must be called before a loop that waits for a condition.
func Until(func() bool) {}

// Yield is runtime.Gosched.
func Yield() { runtime.Gosched() }

// Hand must be called where a goroutine lets another one, whose identity is given, run in its place.
func Hand(uintptr) {}

// Go calls f on a new goroutine.
func Go(f func()) { go f() }

// Since is time.Since.
func Since(t time.Time) time.Duration { return time.Since(t) }

// AfterFunc is time.AfterFunc.
func AfterFunc(d time.Duration, f func()) *Timer { return time.AfterFunc(d, f) }

// AfterContext is context.AfterFunc.
func AfterContext(ctx context.Context, f func()) (stop func() bool) { return context.AfterFunc(ctx, f) }

// With this call of Lock and Unlock the compiler exports their bodies, so that importers of this package can inline them.
var _ = func(m, n *Mutex) { m.Lock(); n.Unlock() }
