//go:build !race

package alternatetwo_test

const raceEnabled = false
