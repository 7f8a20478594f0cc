//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows

package poller_test

// Tests of readiness, and of the watch, on every system that has descriptors.

import (
	"maps"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

const (
	read   = loopapi.EventRead
	write  = loopapi.EventWrite
	failed = loopapi.EventError
	hangup = loopapi.EventHangup
)

type tags = map[uint32]loopapi.IOEvents

// ready returns the events that are ready now.
func ready(t *testing.T, p *poller.Poller) tags {
	t.Helper()
	events, err := p.Wait(0)
	require.NoError(t, err)
	merged := tags{}
	for _, e := range events {
		merged[e.Tag] |= e.Events
	}
	return merged
}

// becomes fails unless the poller reports want: at once, or, on Windows, when an operation on one socket has reached the other.
func becomes(t *testing.T, p *poller.Poller, want tags, what string) {
	t.Helper()
	got := ready(t, p)
	if runtime.GOOS == "windows" {
		beat.Until(func() bool { got = ready(t, p); return maps.Equal(got, want) })
	}
	require.Equal(t, want, got, what)
}

func put(t *testing.T, fd int) { require.NoError(t, send(fd)) }

func take(t *testing.T, fd int) { require.NoError(t, receive(fd)) }

func TestReadiness(t *testing.T) {
	p := open(t)
	a, b := pair(t)

	require.NoError(t, p.Add(a, read, 7))
	require.Empty(t, ready(t, p))
	put(t, b)
	put(t, b)
	becomes(t, p, tags{7: read}, "there is something to read")
	take(t, a)
	becomes(t, p, tags{7: read}, "there is more to read: the level counts, not the edge")
	require.Equal(t, tags{7: read}, ready(t, p), "and goes on to count")
	take(t, a)
	require.Empty(t, ready(t, p))

	require.NoError(t, p.Modify(a, read, read|write, 8))
	becomes(t, p, tags{8: write}, "there is room to write")
	put(t, b)
	becomes(t, p, tags{8: read | write}, "both")
	require.NoError(t, p.Modify(a, read|write, write, 9))
	require.Equal(t, tags{9: write}, ready(t, p))
	require.NoError(t, p.Modify(a, write, 0, 10))
	require.Empty(t, ready(t, p))
	require.NoError(t, p.Modify(a, 0, read, 11))
	becomes(t, p, tags{11: read}, "it is watched again")

	require.NoError(t, p.Remove(a, read))
	require.Empty(t, ready(t, p))
	require.NoError(t, p.Add(a, read, 1<<32-1))
	becomes(t, p, tags{1<<32 - 1: read}, "all bits of a tag come back")
}

// More descriptors than one Wait returns are all returned in the end.
func TestMoreThanABatch(t *testing.T) {
	p := open(t)
	const n = 300
	for i := range uint32(n) {
		a, b := pair(t)
		put(t, b)
		require.NoError(t, p.Add(a, read, i+1))
	}
	seen := tags{}
	beat.Eventually(t, func() bool { maps.Copy(seen, ready(t, p)); return len(seen) == n }, "all descriptors")
}

// The watch reports descriptors that become ready after a Wait that found nothing: by data, by registration, by a change of
// the watched events.
func TestWatch(t *testing.T) {
	rounds := 10_000
	if runtime.GOOS == "windows" || runtime.GOMAXPROCS(0) == 1 {
		rounds = 1000
	}
	if testing.Short() {
		rounds = 100
	}
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	noticed, stop := watch(t, p)
	defer stop()
	until := func(want tags) {
		t.Helper()
		for {
			if got := ready(t, p); len(got) > 0 {
				require.Equal(t, want, got)
				return
			}
			notice(t, noticed)
		}
	}
	sent := make(chan error)
	for range rounds {
		go func() { sent <- send(b) }()
		until(tags{1: read})
		until(tags{1: read})
		take(t, a)
		require.Empty(t, ready(t, p))
		require.NoError(t, <-sent) // before the next: of two at once, Wine refuses one
	}
	for range rounds {
		go p.Modify(a, read, read|write, 1)
		until(tags{1: write})
		require.NoError(t, p.Modify(a, read|write, read, 1))
		require.Empty(t, ready(t, p))
	}
	c, d := pair(t)
	put(t, d)
	for tag := uint32(2); tag < uint32(rounds); tag++ {
		go p.Add(c, read, tag)
		until(tags{tag: read})
		require.NoError(t, p.Remove(c, read))
		require.Empty(t, ready(t, p))
	}
}
