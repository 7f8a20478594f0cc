//go:build !race

package promise_test

const raceEnabled = false
