//go:build !schedules

package atomic

// An ordinary build: this package is sync/atomic.

import "sync/atomic"

// The types of sync/atomic.
type (
	Bool           = atomic.Bool
	Int32          = atomic.Int32
	Int64          = atomic.Int64
	Uint32         = atomic.Uint32
	Uintptr        = atomic.Uintptr
	Pointer[T any] = atomic.Pointer[T]
)

// With these calls the compiler exports the bodies of the methods, so that importers of this package can inline them.
var _ = func(b *Bool, i *Int32, l *Int64, u *Uint32, p *Pointer[int], q *Uintptr) {
	b.Store(b.Load() || b.Swap(true))
	i.Store(i.Load() + i.Swap(1) + i.Add(1))
	l.Store(l.Load() + l.Add(1))
	u.Store(u.Load() + u.Swap(1))
	u.CompareAndSwap(1, 2)
	p.Store(p.Load())
	p.Swap(nil)
	p.CompareAndSwap(nil, nil)
	q.Store(q.Load())
}
