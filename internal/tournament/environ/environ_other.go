// Other systems: nothing beyond what the runtime tells.

//go:build !linux && !darwin

package environ

func (e *Env) machine() {}

func machineID() string { return hardwareAddress() }

func allowed() []int { return nil }

// LoadAverage returns the load of the last 1, 5 and 15 minutes, nil if it is unknown.
func LoadAverage() []float64 { return nil }
