//go:build race

package alternateone_test

const raceEnabled = true
