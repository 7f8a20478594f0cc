//go:build !race

// Package race tells tests whether the race detector runs. The detector slows everything down, and makes sync.Pool drop
// objects at random.
package race

// Enabled reports whether the race detector runs.
const Enabled = false
