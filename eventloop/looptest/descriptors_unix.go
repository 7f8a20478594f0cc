//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package looptest

// Descriptors for the checks on Unix systems: system calls only.

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
	canChooseNumbers = true  // the kit can choose their numbers
	canInterrupt     = true  // interrupt sends signals
	bytesTravel      = false // written bytes can be read at the other end at once
)

// The systems differ. epoll rejects regular files, and reports a hang-up whatever events are watched. kqueue accepts all
// files, and reports only through its filters for reading and for writing: without a filter it reports nothing, and a
// hang-up without an error goes to the filter for writing only.
const (
	filesArePolled   = runtime.GOOS != "linux"
	hangupIsImplicit = runtime.GOOS == "linux"
)

var (
	errBadDescriptor error = unix.EBADF
	errNotPollable   error = unix.EPERM
)

// aside is the lowest descriptor number of checks. The numbers that the system gives out by itself stay below, so that
// no other part of the process takes a number that a check has closed and is about to use again.
const aside = 100

// scanned is the number of descriptor numbers that listDescriptors looks at, from 0 on.
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

// newPipe returns a pipe with the properties of newSockets: the reading end first, then the writing end.
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

// duplicate returns a duplicate of fd with the lowest free number from lowest on.
func duplicate(fd, lowest int) (int, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, lowest)
	return n, os.NewSyscallError("fcntl", err)
}

// moveTo renumbers fd to the number to, which must be free, and frees the number fd.
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

// read reads without waiting. It returns 0 and nil when no bytes are there, io.EOF at the end.
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

// write writes without waiting as many bytes as fit; it returns 0 and nil when none fits.
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

// listEach returns the open descriptors among the numbers from first up to, but not including, end.
func listEach(first, end int) (open []int) {
	for fd := first; fd < end; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			open = append(open, fd)
		}
	}
	return open
}

// staysOpenOnExec reports whether a child process would inherit fd.
func staysOpenOnExec(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// processorTime returns the processor time of this process, or 0 if the system does not say.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// interrupt sends a signal that Go programs ignore, to every thread where the system lists them, else to the process.
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
