//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package looptest

// Descriptors to try a loop with, where the kit can make them: system calls only.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	canOpen          = true  // the kit can make descriptors
	canChooseNumbers = true  // and say under which number
	canInterrupt     = true  // signals are sent to threads
	bytesTravel      = false // what was written is at the other end at once
)

// The systems differ: epoll polls no regular file and tells of a hang-up that nobody asked for; kqueue has filters for
// reading and for writing, polls every file, tells nothing without a filter, and of a hang-up without an error only who
// writes.
const (
	filesArePolled   = runtime.GOOS != "linux"
	hangupIsImplicit = runtime.GOOS == "linux"
)

var (
	errBadDescriptor error = unix.EBADF
	errNotPollable   error = unix.EPERM
)

// aside is where the descriptors of checks begin. The numbers that the system gives out by itself stay below, so that
// no other part of the process takes a number that a check has closed and is about to use again.
const aside = 100

// scanned is how many descriptor numbers listDescriptors looks at.
const scanned = 4096

// newSockets returns a connected pair of stream sockets with the lowest numbers, non-blocking and closed on exec.
func newSockets() (pair [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		return pair, os.NewSyscallError("socketpair", err)
	}
	return pair, prepare(pair)
}

// newPipe returns a pipe like newSockets does: read from the first, write to the second.
func newPipe() (pair [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(pair[:]); err != nil {
		return pair, os.NewSyscallError("pipe", err)
	}
	return pair, prepare(pair)
}

func prepare(pair [2]int) error {
	for _, fd := range pair {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	return nil
}

// duplicate returns the lowest free number from lowest on for what fd stands for.
func duplicate(fd, lowest int) (int, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, lowest)
	return n, os.NewSyscallError("fcntl", err)
}

// moveTo gives what fd stands for the number to, which must be free, and frees fd.
func moveTo(fd, to int) error {
	got, err := duplicate(fd, to)
	if err != nil {
		return err
	}
	if got != to {
		return errors.Join(fmt.Errorf("the number %d was not free", to), closeDescriptor(got))
	}
	return closeDescriptor(fd)
}

func closeDescriptor(fd int) error { return os.NewSyscallError("close", unix.Close(fd)) }

// read reads what is there; io.EOF is the end. With nothing there it returns no bytes and no error.
func read(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, nil
		case err == nil && n == 0:
			return 0, io.EOF
		}
		return max(n, 0), os.NewSyscallError("read", err)
	}
}

// write writes what fits; nothing is no error.
func write(fd int, data []byte) (int, error) {
	for {
		n, err := unix.Write(fd, data)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, nil
		}
		return max(n, 0), os.NewSyscallError("write", err)
	}
}

// listEach returns which of the numbers from first on, and below end, are open.
func listEach(first, end int) (open []int) {
	for fd := first; fd < end; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			open = append(open, fd)
		}
	}
	return open
}

// staysOpenOnExec tells whether a child process would get fd.
func staysOpenOnExec(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// processorTime is how long all threads of this process have been running.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// interrupt sends a signal that Go programs ignore: to every thread where the system lists them, else to the process.
func interrupt() {
	pid := unix.Getpid()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		_ = unix.Kill(pid, unix.SIGURG)
	}
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			_ = signalThread(pid, id)
		}
	}
}
