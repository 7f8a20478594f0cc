//go:build race

package alternatethree_test

// The race detector makes everything slow: fewer races then.

const raceEnabled = true
