package gojaloop

// Access for tests.

// Watched tells whether the host's watch is armed.
func (h *Host) Watched() bool { return h.guard.watched.Load() }

// Room returns for how many timers, lists of timers, promises and rejections the host keeps places. For the loop.
func (h *Host) Room() int {
	ts := &h.timers
	return ts.lists.Room() + cap(ts.order) + ts.ids.Room() + h.awaited.Room() + h.rejections.reported.Room()
}
