package js

// What tests see of the adapter.

import "time"

const MaxID = maxID

// SetLastID makes id the last one that was used.
func (j *JS) SetLastID(id ID) {
	j.mu.Lock()
	j.lastID = id
	j.mu.Unlock()
}

// Held returns how many timers and immediates the adapter has.
func (j *JS) Held() (timers, immediates int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.timers.Of), len(j.immediates) + len(j.batch)
}

// Locked calls fn with the adapter's lock held.
func (j *JS) Locked(fn func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fn()
}

// Room returns for how many immediates the adapter keeps memory.
func (j *JS) Room() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return cap(j.immediates) + cap(j.batch)
}

// Followers returns how many signals s knows to follow it, forgotten ones included.
func (s *AbortSignal) Followers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.followers.Of)
}

// Sources returns how many signals s follows; one that it follows twice counts twice.
func (s *AbortSignal) Sources() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sources)
}

// Watchers returns for how many watchers s has a place, those that were taken back included.
func (s *AbortSignal) Watchers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers)
}

// Entries returns how many entries t has for a type, those that were removed included.
func (t *EventTarget) Entries(typ string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.audiences.Of[typ].order)
}

func Coerce(ms float64) time.Duration { return coerce(ms) }

// Following returns the next due time of an interval; all times are in the same unit, from the same zero.
func Following(due, now, period time.Duration) time.Duration {
	zero := time.Unix(0, 0)
	return following(zero.Add(due), zero.Add(now), period).Sub(zero)
}

// Filter returns the entries that keep chooses, in order of their times.
func (p *Performance) Filter(keep func(PerformanceEntry) bool) []PerformanceEntry {
	return p.filter(keep)
}
