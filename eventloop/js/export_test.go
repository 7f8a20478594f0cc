package js

import (
	"slices"
	"time"
)

const MaxID = maxID

// SetLastID makes id the last one that was given out.
func (j *JS) SetLastID(id ID) {
	j.mu.Lock()
	j.lastID = id
	j.mu.Unlock()
}

// Held returns how many timers and immediates the adapter has.
func (j *JS) Held() (timers, immediates int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.timers), len(j.immediates) + len(j.batch)
}

// Followers returns how many signals s knows to follow it, forgotten ones included.
func (s *AbortSignal) Followers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.followers)
}

func Coerce(ms float64) time.Duration { return coerce(ms) }

// Following is the interval's next time, all in units from the same zero.
func Following(due, now, period time.Duration) time.Duration {
	zero := time.Unix(0, 0)
	return following(zero.Add(due), zero.Add(now), period).Sub(zero)
}

// Queue is the queue behind ticks and microtasks.
type Queue struct{ queue }

func (q *Queue) Push(fn func()) { q.push(fn) }
func (q *Queue) Pop() func()    { return q.pop() }
func (q *Queue) Empty() bool    { return q.empty() }
func (q *Queue) Room() int      { return cap(q.buf) }

// Stale tells whether there are functions in the buffer that are not in the queue.
func (q *Queue) Stale() bool {
	some := func(fn func()) bool { return fn != nil }
	return slices.ContainsFunc(q.buf[:q.head], some) || slices.ContainsFunc(q.buf[len(q.buf):cap(q.buf)], some)
}
