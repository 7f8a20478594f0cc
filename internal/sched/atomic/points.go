//go:build schedules

package atomic

// With the tag schedules: each access is a point at which another goroutine may go on.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/sched"
)

// Bool is atomic.Bool with a point before each access; so are the others.
type Bool struct{ v atomic.Bool }

func (x *Bool) Load() bool         { sched.Point(); return x.v.Load() }
func (x *Bool) Store(v bool)       { sched.Point(); x.v.Store(v) }
func (x *Bool) Swap(new bool) bool { sched.Point(); return x.v.Swap(new) }

type Int32 struct{ v atomic.Int32 }

func (x *Int32) Load() int32          { sched.Point(); return x.v.Load() }
func (x *Int32) Store(v int32)        { sched.Point(); x.v.Store(v) }
func (x *Int32) Swap(new int32) int32 { sched.Point(); return x.v.Swap(new) }
func (x *Int32) Add(d int32) int32    { sched.Point(); return x.v.Add(d) }

type Int64 struct{ v atomic.Int64 }

func (x *Int64) Load() int64       { sched.Point(); return x.v.Load() }
func (x *Int64) Store(v int64)     { sched.Point(); x.v.Store(v) }
func (x *Int64) Add(d int64) int64 { sched.Point(); return x.v.Add(d) }

type Uint32 struct{ v atomic.Uint32 }

func (x *Uint32) Load() uint32           { sched.Point(); return x.v.Load() }
func (x *Uint32) Store(v uint32)         { sched.Point(); x.v.Store(v) }
func (x *Uint32) Swap(new uint32) uint32 { sched.Point(); return x.v.Swap(new) }
func (x *Uint32) CompareAndSwap(old, new uint32) bool {
	sched.Point()
	return x.v.CompareAndSwap(old, new)
}

type Pointer[T any] struct{ v atomic.Pointer[T] }

func (x *Pointer[T]) Load() *T       { sched.Point(); return x.v.Load() }
func (x *Pointer[T]) Store(v *T)     { sched.Point(); x.v.Store(v) }
func (x *Pointer[T]) Swap(new *T) *T { sched.Point(); return x.v.Swap(new) }
func (x *Pointer[T]) CompareAndSwap(old, new *T) bool {
	sched.Point()
	return x.v.CompareAndSwap(old, new)
}

// Uintptr holds the identity of a goroutine, which others compare with their own. To load it is no point: a goroutine that
// finds itself has stored it, or has the identity of an ended one that had. The latter takes a preemption before the store
// that takes that identity back.
type Uintptr struct{ v atomic.Uintptr }

func (x *Uintptr) Load() uintptr   { return x.v.Load() }
func (x *Uintptr) Store(v uintptr) { sched.Point(); x.v.Store(v) }
func (x *Uintptr) CompareAndSwap(old, new uintptr) bool {
	sched.Point()
	return x.v.CompareAndSwap(old, new)
}
