//go:build !race && (linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows)

package poller_test

// That a poller allocates nothing; not under the race detector.

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/poller"
)

// The race detector's own allocations would count.
func TestNothingAllocates(t *testing.T) {
	p := open(t)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = p.Wake()
		_, _ = p.Wait(forever)
	}), "a wake-up")
	a, b := pair(t)
	put(t, b)
	require.NoError(t, p.Add(a, read, 1))
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = p.Wait(forever) }), "an event")
	if parker, ok := any(p).(poller.Parker); ok {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = parker.Park() }), "an event for who is parked")
	}
}
