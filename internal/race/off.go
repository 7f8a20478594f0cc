//go:build !race

// Package race tells tests whether the race detector runs: it makes everything slow, and sync.Pool forget on purpose.
package race

// Enabled says that the race detector runs.
const Enabled = false
