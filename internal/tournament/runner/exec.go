// One child process: its output, its time, and how it is ended in every case.

package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// A child is a process that the runner starts.
type child struct {
	path    string
	args    []string
	env     []string
	timeout time.Duration
}

// An outcome is what came of a child. err says why it did not end well.
type outcome struct {
	output string
	wall   time.Duration
	err    error
}

// errHung is the watchdog's verdict.
var errHung = errors.New("hung")

// grace is what a hung child gets to print the stacks of its goroutines.
const grace = 2 * time.Second

// run starts the child in a process group of its own and waits for it. When ctx ends the group is killed, so that nothing
// the child may have started survives either; when the timeout is over the child is first asked for its stacks.
func (c child) run(ctx context.Context) outcome {
	if ctx.Err() != nil {
		return outcome{err: ctx.Err()}
	}
	cmd := exec.Command(c.path, c.args...)
	cmd.Env = c.env
	out := &bounded{}
	cmd.Stdout, cmd.Stderr = out, out
	isolate(cmd)
	cmd.WaitDelay = time.Second

	start := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{err: err}
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	watchdog := time.NewTimer(c.timeout)
	defer watchdog.Stop()

	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
		kill(cmd)
		<-ended
	case <-watchdog.C:
		err = fmt.Errorf("%w: killed after %v", errHung, c.timeout)
		askForStacks(cmd)
		select {
		case <-ended:
		case <-time.After(grace):
			kill(cmd)
			<-ended
		}
	}
	wall := time.Since(start)
	return outcome{output: out.text.String(), wall: wall, err: err}
}

// bounded keeps the begin of what a process says.
type bounded struct{ text bytes.Buffer }

// outputLimit bounds what is kept of a process that talks without end.
const outputLimit = 16 << 20

func (b *bounded) Write(p []byte) (int, error) {
	if room := outputLimit - b.text.Len(); room > 0 {
		b.text.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
