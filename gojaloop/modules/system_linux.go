package modules

// The machine, as Linux tells of it.

import "golang.org/x/sys/unix"

// machine returns the seconds since the machine began, its load, and its memory.
func machine() (uptime float64, load [3]float64, total, free int64) {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return
	}
	for i, l := range s.Loads {
		load[i] = float64(l) / 65536
	}
	unit := int64(s.Unit)
	return float64(s.Uptime), load, int64(s.Totalram) * unit, int64(s.Freeram) * unit
}
