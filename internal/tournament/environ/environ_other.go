// Other systems: nothing beyond what the runtime tells.

//go:build !linux && !darwin

package environ

import "time"

func (e *Env) machine() {}

// LoadAverage returns the load of the last 1, 5 and 15 minutes, nil if it is unknown.
func LoadAverage() []float64 { return nil }

// Stolen returns for how long the host has kept processors from this machine while it had work for them, all of them together; 0 if
// that is unknown.
func Stolen() time.Duration { return 0 }
