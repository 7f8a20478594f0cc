// Package slim has maps and slices that give memory back after a burst. A map of Go keeps the room for the most entries
// that it ever had, even when it is empty.
package slim

import "maps"

// Keep is a number of entries: what has room for no more than this is never replaced.
const Keep = 64

// Map is a map that is replaced by a smaller one when it has few of the entries that it has room for. It is replaced in a
// call of Delete, which is cheap on average: before the few entries are copied, three times as many were deleted. The zero
// Map is empty. Whoever shares a Map guards it.
type Map[K comparable, V any] struct {
	Of   map[K]V // for reading and, as long as Put made it, for changing what is in it; nil before the first Put
	peak int     // the most entries that Of had, as far as Delete has seen; it sees all peaks, since each ends with a deletion
}

// Put stores v under k.
func (m *Map[K, V]) Put(k K, v V) {
	if m.Of == nil {
		m.Of = map[K]V{}
	}
	m.Of[k] = v
}

// Delete removes k, if it is there. It may replace Of: a loop over Of that deletes goes on with the old map, which still
// has all that it had.
func (m *Map[K, V]) Delete(k K) {
	m.peak = max(m.peak, len(m.Of))
	delete(m.Of, k)
	if n := len(m.Of); m.peak > Keep && n < m.peak/4 {
		m.shrink(n)
	}
}

func (m *Map[K, V]) shrink(n int) {
	smaller := make(map[K]V, n)
	maps.Copy(smaller, m.Of)
	m.Of, m.peak = smaller, n
}

// Room returns how many entries the map has had since it was made or replaced. Tests ask for it.
func (m *Map[K, V]) Room() int { return max(m.peak, len(m.Of)) }

// Slice returns s, or a copy with less room if s has more than it will soon need.
func Slice[E any](s []E) []E {
	if n := len(s); cap(s) > Keep && n < cap(s)/4 {
		return append(make([]E, 0, max(2*n, Keep)), s...)
	}
	return s
}
