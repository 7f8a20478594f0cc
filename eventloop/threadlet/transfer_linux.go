//go:build (amd64 || arm64) && !race

package threadlet

// Reads and writes without a word to the runtime's scheduler. Otherwise the runtime takes the processor away from a call
// that lasts, as one over the loopback does, and starts a thread for it, which finds nothing to do.

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostRaw is how many bytes a call may move without telling the scheduler: meanwhile the garbage collector waits for it.
const mostRaw = 16 << 10

func receive(fd int, p []byte) (int, error) {
	if len(p) > mostRaw {
		return unix.Read(fd, p)
	}
	return transfer(unix.SYS_RECVFROM, fd, p, unix.MSG_DONTWAIT)
}

func send(fd int, p []byte) (int, error) {
	if len(p) > mostRaw {
		return unix.Write(fd, p)
	}
	return transfer(unix.SYS_SENDTO, fd, p, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// transfer is told by its flags not to wait: whoever shares a socket can make it a blocking one, and a wait here would keep
// a processor.
func transfer(call uintptr, fd int, p []byte, flags uintptr) (int, error) {
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
