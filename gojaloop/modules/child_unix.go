//go:build unix

package modules

// Children and inputs of a Unix.

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// setCredentials prepares a child's group of processes, and its user and group unless those are negative.
func setCredentials(cmd *exec.Cmd, leads bool, uid, gid int64) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: leads}
	if uid >= 0 || gid >= 0 {
		c := &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid()), NoSetGroups: true}
		if uid >= 0 {
			c.Uid = uint32(uid)
		}
		if gid >= 0 {
			c.Gid = uint32(gid)
		}
		cmd.SysProcAttr.Credential = c
	}
}

// ended returns the exit code of a process, or the number of the signal that has ended it.
func ended(s *os.ProcessState) (code, signal int) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 0, int(w.Signal())
	}
	return s.ExitCode(), 0
}

// continued are the signals that tell a process that it goes on.
var continued = []os.Signal{syscall.SIGCONT}

// EndBy ends the process by a signal, as parents expect it: a shell that runs programs in a loop ends with the one that Ctrl-C ends.
// Terminals are restored before.
func EndBy(s syscall.Signal) {
	RestoreTerminals()
	signal.Reset(s)
	if syscall.Kill(os.Getpid(), s) == nil {
		time.Sleep(time.Second) // the signal comes soon; it does not come where the parent ignores it
	}
	os.Exit(128 + int(s))
}

func isAgain(err error) bool { return errors.Is(err, syscall.EAGAIN) }

// atEnd returns nil for the end of an input.
func atEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// awaitInput waits until a file has something to read, and returns false if ctx ends first. Nothing is read meanwhile, so that
// other readers of a terminal or a pipe get what a program does not ask for.
func awaitInput(ctx context.Context, f *os.File) (bool, error) {
	if f != os.Stdin {
		interruptReads(ctx, f)
		return ctx.Err() == nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return false, err
	}
	defer r.Close()
	stop := context.AfterFunc(ctx, func() { _ = w.Close() })
	defer func() {
		if stop() {
			_ = w.Close()
		}
	}()
	fd, err := numberOf(r)
	if err != nil {
		return false, err
	}
	fds := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}, {Fd: int32(fd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case ctx.Err() != nil:
			return false, nil
		case err == unix.EINTR:
		case err != nil:
			return false, err
		case fds[0].Revents != 0:
			return true, nil
		}
	}
}
