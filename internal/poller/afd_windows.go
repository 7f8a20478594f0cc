package poller

// The system calls on Windows. AFD, the driver behind sockets, polls a socket once; the end of the poll arrives at a
// completion port.

import (
	"errors"
	"math"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	deviceIoControlFile      = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtDeviceIoControlFile")
	queuedCompletionStatuses = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetQueuedCompletionStatusEx")
)

// AFD's events.
const (
	afdReceive     = 0x001
	afdSend        = 0x004
	afdDisconnect  = 0x008
	afdAbort       = 0x010
	afdLocalClose  = 0x020
	afdAccept      = 0x080
	afdConnectFail = 0x100
)

// openAFD opens a handle whose polls complete at the port.
func openAFD(port windows.Handle) (afd windows.Handle, err error) {
	name, err := windows.NewNTUnicodeString(`\Device\Afd\Turnloop`)
	if err != nil {
		return 0, err
	}
	attributes := windows.OBJECT_ATTRIBUTES{ObjectName: name}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	var status windows.IO_STATUS_BLOCK
	if err := windows.NtCreateFile(&afd, windows.SYNCHRONIZE, &attributes, &status, nil, 0,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, windows.FILE_OPEN, 0, 0, 0); err != nil {
		return 0, os.NewSyscallError("NtCreateFile", err)
	}
	if _, err := windows.CreateIoCompletionPort(afd, port, 0, 0); err != nil {
		_ = windows.CloseHandle(afd)
		return 0, os.NewSyscallError("CreateIoCompletionPort", err)
	}
	return afd, nil
}

// baseHandle returns the handle by which AFD knows a socket. Layered software may have wrapped it in another handle.
func baseHandle(fd int) (base windows.Handle, err error) {
	const sioBaseHandle, sioBSPHandlePoll = 0x48000022, 0x4800001d // some layered software refuses the first
	var errs [2]error
	for i, code := range [len(errs)]uint32{sioBaseHandle, sioBSPHandlePoll} {
		var n uint32
		errs[i] = windows.WSAIoctl(windows.Handle(fd), code, nil, 0, (*byte)(unsafe.Pointer(&base)),
			uint32(unsafe.Sizeof(base)), &n, nil, 0)
		if errs[i] == nil {
			return base, nil
		}
	}
	return 0, os.NewSyscallError("WSAIoctl", errs[0])
}

// request is the memory of a poll. The system writes to it from begin until the end of the poll arrives at the port: until
// then it must be neither used for another poll nor collected.
type request struct {
	info   [4]uint64          // room for a pollInfo, as large as the C structure
	status windows.Overlapped // begins with the IO_STATUS_BLOCK
}

// pollInfo is AFD_POLL_INFO for one handle. The C structure has 32 bytes everywhere; this one is smaller on 386, where
// Go's alignment is smaller.
type pollInfo struct {
	timeout   int64
	handles   uint32
	exclusive uint32
	handle    windows.Handle
	events    uint32
	status    uint32
}

// begin polls a socket for AFD's events. If it returns nil, the end of the poll will arrive at the port, also if the poll
// ends at once.
func (r *request) begin(afd, base windows.Handle, events uint32, context uintptr) error {
	const ioctlAFDPoll = 0x00012024
	info := (*pollInfo)(unsafe.Pointer(&r.info))
	*info = pollInfo{timeout: math.MaxInt64, handles: 1, handle: base, events: events}
	r.status = windows.Overlapped{Internal: uintptr(windows.STATUS_PENDING)}
	status, _, _ := syscall.SyscallN(deviceIoControlFile.Addr(), uintptr(afd), 0, 0, context,
		uintptr(unsafe.Pointer(&r.status)), ioctlAFDPoll, uintptr(unsafe.Pointer(info)), unsafe.Sizeof(r.info),
		uintptr(unsafe.Pointer(info)), unsafe.Sizeof(r.info))
	return failure(status)
}

// found returns the events that have ended a poll, none if it was cancelled, or the socket's error. The poll must have
// ended.
func (r *request) found() (uint32, error) {
	err := failure(r.status.Internal)
	if info := (*pollInfo)(unsafe.Pointer(&r.info)); err == nil && info.handles > 0 {
		return info.events, nil
	}
	if errors.Is(err, windows.ERROR_OPERATION_ABORTED) {
		err = nil
	}
	return 0, err
}

// cancel ends a poll, unless it has ended. The end arrives at the port as usual.
func (r *request) cancel(afd windows.Handle) { _ = windows.CancelIoEx(afd, &r.status) }

// failure returns the error of a status, or nil if the status is no error. If a request has no error, its end arrives at the
// port.
func failure(status uintptr) error {
	switch s := windows.NTStatus(status); {
	case s < 0xc0000000:
		return nil
	case s == windows.STATUS_INVALID_HANDLE, s == windows.STATUS_OBJECT_TYPE_MISMATCH:
		return os.NewSyscallError("NtDeviceIoControlFile", windows.WSAENOTSOCK)
	default:
		return os.NewSyscallError("NtDeviceIoControlFile", s.Errno())
	}
}

// completions are packets taken from the port.
type completions struct {
	n       uint32          // the number of valid entries
	entries [batch]struct { // OVERLAPPED_ENTRY
		key     uintptr
		context uintptr // the context given to begin; zero for a packet sent by post
		status  uintptr
		bytes   uint32
	}
}

// wait takes packets from the port. It waits up to timeout for the first packet, or without limit if timeout is negative.
// The system measures the timeout in steps of its own clock.
func (c *completions) wait(port windows.Handle, timeout time.Duration) error {
	ok, _, err := syscall.SyscallN(queuedCompletionStatuses.Addr(), uintptr(port), uintptr(unsafe.Pointer(&c.entries)),
		batch, uintptr(unsafe.Pointer(&c.n)), uintptr(milliseconds(timeout)), 0)
	if ok != 0 {
		return nil
	}
	c.n = 0
	if err == syscall.Errno(windows.WAIT_TIMEOUT) {
		return nil
	}
	return os.NewSyscallError("GetQueuedCompletionStatusEx", err)
}

// milliseconds rounds up, so that a wait does not end early. A negative duration becomes INFINITE.
func milliseconds(d time.Duration) uint32 {
	switch {
	case d < 0:
		return windows.INFINITE
	case d > math.MaxInt32*time.Millisecond:
		return math.MaxInt32
	}
	return uint32((d + time.Millisecond - 1) / time.Millisecond)
}
