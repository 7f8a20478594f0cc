package main

// Tests of the raw mode of terminals.

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/beat"
)

// raw tells whether a terminal is in raw mode.
func raw(t *testing.T, terminal *os.File) bool {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return s.Lflag&unix.ICANON == 0
}

// However a program ends that has set the raw mode, the terminal is as it was.
func TestRawModeEnds(t *testing.T) {
	// What a process ignores, as under nohup, its children ignore too; what it has a handler for, they do not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	for _, c := range []struct {
		name, script string // no script: a session
		signal       syscall.Signal
		code         int // the exit code, or bySignal
	}{
		{"a session that is told to end", "", syscall.SIGTERM, bySignal},
		{"a session whose terminal is gone", "", syscall.SIGHUP, bySignal},
		{"a script that is told to end", "process.stdin.setRawMode(true); setInterval(() => {}, 1e6)", syscall.SIGTERM, bySignal},
		{"a script that listens", "process.stdin.setRawMode(true); process.on('SIGTERM', () => process.exit(3)); setInterval(() => {}, 1e6)", syscall.SIGTERM, 3},
		{"a script that is interrupted", "process.stdin.setRawMode(true); for (;;);", syscall.SIGINT, bySignal},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := loopjs(t, t.TempDir())
			if c.script != "" {
				cmd = loopjs(t, t.TempDir(), "-e", c.script+"; console.log()")
			}
			cmd.Env = append(cmd.Env, "TERM=xterm", asCommand+"="+asUsers)
			terminal, err := pty.Start(cmd)
			if err != nil {
				t.Skip("there is no pseudo-terminal:", err)
			}
			defer terminal.Close()
			l := readLines(t, terminal)
			beat.Eventually(t, func() bool { return raw(t, terminal) }, "the terminal to be in raw mode")
			if strings.Contains(c.script, "SIGTERM") {
				l.await("") // it listens by now
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if w := cmd.ProcessState.Sys().(syscall.WaitStatus); cmd.ProcessState.ExitCode() != c.code || c.code == bySignal && w.Signal() != c.signal {
				t.Errorf("it ends with %v", cmd.ProcessState)
			}
			if raw(t, terminal) {
				t.Error("the terminal is in raw mode")
			}
		})
	}
}

// A program that was stopped has its raw mode again when it goes on: the shell sets its own meanwhile.
func TestRawModeComesBack(t *testing.T) {
	t.Parallel()
	cmd, terminal, l := session(t, 200, "patiently")
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	beat.Eventually(t, func() bool { return raw(t, terminal) }, "the terminal to be in raw mode")
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	beat.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat")
		return err == nil && strings.Contains(string(stat), ") T ")
	}, "the program to stop")
	before.Lflag |= unix.ICANON
	if err := unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, before); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	beat.Eventually(t, func() bool { return raw(t, terminal) }, "the raw mode to come back")
	typed(t, cmd, terminal, l, [][2]string{{"'fir' + 'st'\r", "'first'"}, {".exit\r", ""}})
}
