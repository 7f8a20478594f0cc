package looptest

// What callbacks leave behind: their order, and how many there were.

import (
	"slices"
	"sync"
	"sync/atomic"
)

// journal is an ordered list of entries. Its methods may be called from any goroutine.
type journal[T any] struct {
	mu      sync.Mutex
	entries []T
}

func (j *journal[T]) add(e T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

// note returns a function that adds e.
func (j *journal[T]) note(e T) func() { return func() { j.add(e) } }

func (j *journal[T]) all() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

func (j *journal[T]) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

// latch closes its channel at the n-th call of done.
type latch struct {
	left atomic.Int64
	ch   chan struct{}
}

func newLatch(n int) *latch {
	l := &latch{ch: make(chan struct{})}
	l.left.Store(int64(n))
	return l
}

func (l *latch) done() {
	if l.left.Add(-1) == 0 {
		close(l.ch)
	}
}

// wantOrder compares the entries of a journal with the expected ones and reports the first difference.
func wantOrder[T comparable](t *trial, what string, got, want []T) {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("%s: %d entries instead of %d, %v is missing", what, len(got), len(want), want[i])
		case i >= len(want):
			t.Errorf("%s: %d entries instead of %d, %v is too much", what, len(got), len(want), got[i])
		case got[i] != want[i]:
			lo, hi := max(0, i-3), i+4
			t.Errorf("%s: entry %d is %v, want %v (around it: got %v, want %v)", what, i, got[i], want[i],
				got[lo:min(hi, len(got))], want[lo:min(hi, len(want))])
		default:
			continue
		}
		return
	}
}
