// Where the system tells no identity of the machine: what its network does.

//go:build !linux

package environ

import "net"

// hardwareAddress returns the first address of a network interface that its maker gave it.
func hardwareAddress() string {
	interfaces, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range interfaces {
		if a := i.HardwareAddr; len(a) > 0 && a[0]&2 == 0 {
			return a.String()
		}
	}
	return ""
}
