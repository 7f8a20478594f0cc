package gojaloop

// Access for tests.

// Watched tells whether the host's watch is armed.
func (h *Host) Watched() bool { return h.guard.watched.Load() }
