//go:build !race

package looptest

// Whether the race detector runs: it is slow, and it makes sync.Pool forget on purpose.

const raceEnabled = false
