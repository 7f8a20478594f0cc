//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventloop_test

// Other processes: what a child gets of a loop, and a loop in a process whose standard streams are broken.

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

// alone runs the test that calls it in a process of its own, and tells whether this is that process.
func alone(t *testing.T) bool {
	const child = "TURNLOOP_TEST_ALONE"
	if os.Getenv(child) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS")
	return false
}

// TestStandardStreams runs itself in processes of their own: in one standard output and error are pipes that nobody
// reads, in the other they are closed, so that the loop's own descriptors get these numbers. Nothing that a loop does
// with them ends the process.
func TestStandardStreams(t *testing.T) {
	const child = "TURNLOOP_TEST_STREAMS"
	if state := os.Getenv(child); state != "" {
		report := os.NewFile(3, "report")
		if state == "closed" {
			closeAll(0, 1, 2)
		}
		for _, s := range seats {
			standard(s, state == "broken")
		}
		_, _ = io.WriteString(report, "survived")
		os.Exit(0) // or else the test's end would be printed
	}
	for _, state := range []string{"broken", "closed"} {
		unread, broken, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, unread.Close())
		result, report, err := os.Pipe()
		require.NoError(t, err)
		cmd := exec.Command(os.Args[0], "-test.run=^TestStandardStreams$", "-test.count=1")
		cmd.Env = append(os.Environ(), child+"="+state)
		cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = broken, broken, []*os.File{report}
		err = cmd.Run()
		_, _ = broken.Close(), report.Close()
		said, _ := io.ReadAll(result)
		result.Close()
		require.NoErrorf(t, err, "%s standard streams", state)
		require.Equal(t, "survived", string(said), "%s standard streams", state)
	}
}

// standard has a loop work and, if they are broken, write to the standard streams. There is nobody to tell what goes
// wrong: it panics.
func standard(s seat, broken bool) {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	f := &fakePoller{parks: s.parks}
	l, err := eventloop.New(eventloop.WithPoller(f.open), eventloop.WithFastPathMode(s.mode),
		eventloop.WithLogger(slog.New(slog.DiscardHandler))) // the default logger writes to standard error
	check(err)
	go l.Run(context.Background())
	heard := make(chan struct{}, 1)
	for _, fd := range []int{1, 2} {
		if !broken || s.mode == eventloop.FastPathAuto && !s.silent {
			break
		}
		check(l.RegisterFD(fd, eventloop.EventWrite, func(eventloop.IOEvents) {
			if _, err := unix.Write(fd, []byte("lost")); err != unix.EPIPE {
				panic(err)
			}
			check(l.UnregisterFD(fd))
			heard <- struct{}{}
		}))
		<-heard
	}
	pair, err := openPair()
	check(err)
	check(l.RegisterFD(pair[0], eventloop.EventRead, func(eventloop.IOEvents) {
		receive(pair[0])
		heard <- struct{}{}
	}))
	for range 50 {
		rest(l)
		check(l.Submit(func() { heard <- struct{}{} }))
		<-heard
		send(pair[1], 1)
		<-heard
	}
	check(l.Shutdown(context.Background()))
	closeAll(pair[:]...)
}
