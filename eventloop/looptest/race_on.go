//go:build race

// Whether the race detector runs: it is slow, and it makes sync.Pool forget on purpose.
package looptest

const raceEnabled = true
