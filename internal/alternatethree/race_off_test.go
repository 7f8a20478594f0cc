//go:build !race

package alternatethree_test

// See race_on_test.go.

const raceEnabled = false
