package goroutine_test

// Tests and benchmarks of the identity.

import (
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/turnloop/turnloop/internal/goroutine"
)

// Both implementations keep the contract, whichever of them ID is on this architecture.
var implementations = map[string]func() uintptr{"ID": goroutine.ID, "StackID": goroutine.StackID}

func each(t *testing.T, test func(t *testing.T, id func() uintptr)) {
	for name, id := range implementations {
		t.Run(name, func(t *testing.T) { test(t, id) })
	}
}

//go:noinline
func deep(n int, id func() uintptr) uintptr {
	var frame [256]byte
	frame[n%len(frame)] = byte(n)
	if n > 0 {
		return deep(n-1, id) + uintptr(frame[(n+1)%len(frame)])
	}
	return id()
}

// The identity stays while the stack moves, the collector runs and others get the processor.
func TestStable(t *testing.T) {
	each(t, func(t *testing.T, id func() uintptr) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				want := id()
				if want == 0 {
					t.Error("the identity is 0")
				}
				for i := range 200 {
					if got := id(); got != want {
						t.Errorf("the identity was %#x and is %#x", want, got)
					}
					if got := deep(i*5, id); got != want {
						t.Errorf("%d calls deep: the identity was %#x and is %#x", i*5, want, got)
					}
					if i%50 == 0 {
						runtime.GC() // also shrinks the stack
					}
					runtime.Gosched()
				}
			})
		}
		group.Wait()
	})
}

// Goroutines that live at the same time have different identities, and the two implementations agree on who is who.
func TestDistinct(t *testing.T) {
	const n = 500
	type pair struct{ id, stack uintptr }
	ids := make(chan pair)
	end := make(chan struct{})
	var group sync.WaitGroup
	defer group.Wait()
	defer close(end)
	for range n {
		group.Go(func() {
			ids <- pair{goroutine.ID(), goroutine.StackID()}
			<-end
		})
	}
	byID, byStack := map[uintptr]pair{}, map[uintptr]pair{}
	byID[goroutine.ID()] = pair{}
	byStack[goroutine.StackID()] = pair{}
	for range n {
		p := <-ids
		if other, ok := byID[p.id]; ok {
			t.Fatalf("two goroutines have the identity %#x; StackID says %d and %d", p.id, p.stack, other.stack)
		}
		if other, ok := byStack[p.stack]; ok {
			t.Fatalf("two goroutines have the number %d; ID says %#x and %#x", p.stack, p.id, other.id)
		}
		byID[p.id], byStack[p.stack] = p, p
	}
}

// Everything that runs on a goroutine of its own has an identity of its own: what a callback starts, a coroutine, a
// finalizer. What runs on the same goroutine has the same one: a deferred call, also while panicking.
func TestInheritance(t *testing.T) {
	each(t, func(t *testing.T, id func() uintptr) {
		own := id()
		child := make(chan uintptr)
		go func() { child <- id() }()
		if got := <-child; got == own {
			t.Errorf("a goroutine has the identity of the one that started it, %#x", own)
		}
		next, stop := iter.Pull(func(yield func(uintptr) bool) {
			for yield(id()) {
			}
		})
		defer stop()
		first, _ := next()
		second, _ := next()
		if first == own || first != second {
			t.Errorf("a coroutine is %#x, then %#x; its caller is %#x", first, second, own)
		}
		func() {
			defer func() {
				recover()
				if got := id(); got != own {
					t.Errorf("a deferred call of %#x is %#x", own, got)
				}
			}()
			panic("for the deferred call")
		}()
	})
}

func TestAllocs(t *testing.T) {
	each(t, func(t *testing.T, id func() uintptr) {
		if n := testing.AllocsPerRun(1000, func() { id() }); n != 0 {
			t.Errorf("%v allocations per call", n)
		}
	})
}

func BenchmarkID(b *testing.B) {
	want := goroutine.ID()
	for b.Loop() {
		if goroutine.ID() != want {
			b.Fatal("the identity changed")
		}
	}
}

func BenchmarkStackID(b *testing.B) {
	for b.Loop() {
		goroutine.StackID()
	}
}
