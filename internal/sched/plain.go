//go:build !schedules

package sched

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Exploring tells whether schedules decide who goes on. Then nothing may depend on chance.
const Exploring = false

// Mutex is sync.Mutex.
type Mutex = sync.Mutex

// Timer is time.Timer.
type Timer = time.Timer

// Point is a place at which another goroutine may go on: before a shared access that is no atomic of ours.
func Point() {}

// Await goes before an operation that blocks until one of the channels has something, or is closed.
func Await(...<-chan struct{}) {}

// Until goes before a loop that waits for a condition.
func Until(func() bool) {}

// Yield is runtime.Gosched.
func Yield() { runtime.Gosched() }

// Hand goes where a goroutine lets another go on in its place.
func Hand(uintptr) {}

// Go calls f on a goroutine of its own.
func Go(f func()) { go f() }

// Since is time.Since.
func Since(t time.Time) time.Duration { return time.Since(t) }

// AfterFunc is time.AfterFunc.
func AfterFunc(d time.Duration, f func()) *Timer { return time.AfterFunc(d, f) }

// AfterContext is context.AfterFunc.
func AfterContext(ctx context.Context, f func()) (stop func() bool) { return context.AfterFunc(ctx, f) }

// The compiler hands on the body of what is inlined here, so that whoever imports this package can inline it too.
var _ = func(m, n *Mutex) { m.Lock(); n.Unlock() }
