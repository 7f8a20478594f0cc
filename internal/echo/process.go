// The client as a process of its own, as clients are, so that no server shares a scheduler and a garbage collector with it. Its program is
// that of the benchmark, started anew.

package echo

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// order is the environment variable that makes a process the client: which one, the server's address, how many connections.
const order = "TURNLOOP_ECHO"

// Role makes this process the client if it was started as one, and does not return then. A program that calls Start calls it first.
func Role() {
	if os.Getenv(order) != "" {
		os.Exit(serve())
	}
}

// A Process is the client process as the benchmark sees it. The benchmark writes a number of requests to it as a line, and
// the client answers with a line when they are done.
type Process struct {
	cmd      *exec.Cmd
	commands *os.File
	answers  *os.File
	lines    *bufio.Reader
}

const (
	through = "through in "
	failed  = "failed: "
)

// Start returns a client of a kind, which Dialers has, whose connections are all accepted and have carried one request each.
func Start(kind, addr string, conns int, limit time.Duration) (*Process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	stdin, commands, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	answers, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, commands.Close())
	}
	defer stdout.Close()
	cmd := exec.Command(exe)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, os.Stderr
	cmd.Env = append(os.Environ(), order+"="+fmt.Sprint(kind, " ", addr, " ", conns), "GOMAXPROCS=1", "GOGC=off")
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, commands.Close(), answers.Close())
	}
	c := &Process{cmd: cmd, commands: commands, answers: answers, lines: bufio.NewReader(answers)}
	if _, err := c.await(limit); err != nil {
		c.End()
		return nil, err
	}
	return c, nil
}

// Run has the client send n requests, and returns how long they took by the client's clock. So the time that the command takes
// to reach the client does not count.
func (c *Process) Run(n int, limit time.Duration) (time.Duration, error) {
	if _, err := fmt.Fprintln(c.commands, n); err != nil {
		return 0, fmt.Errorf("asking the client: %w", err)
	}
	return c.await(limit)
}

// await waits until the client is through.
func (c *Process) await(limit time.Duration) (time.Duration, error) {
	if err := c.answers.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return 0, err
	}
	line, err := c.lines.ReadString('\n')
	line = strings.TrimSuffix(line, "\n")
	took, ok := strings.CutPrefix(line, through)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, fmt.Errorf("gave up waiting for the client: a request was not answered: %w", err)
	case err != nil:
		return 0, fmt.Errorf("the client has ended: %w", err)
	case !ok:
		return 0, errors.New("client: " + strings.TrimPrefix(line, failed))
	}
	return time.ParseDuration(took)
}

// End ends the process, whatever it does, and with it its connections.
func (c *Process) End() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	_ = c.cmd.Wait()         // which tells of the kill
	_ = c.commands.Close()
	_ = c.answers.Close()
}

// serve is the client process. It ends when the benchmark's process does, in whatever way: between two commands it
// finds its standard input closed, and amid requests its connections.
func serve() int {
	var kind, addr string
	var conns int
	if _, err := fmt.Sscan(os.Getenv(order), &kind, &addr, &conns); err != nil {
		return answer(0, err)
	}
	dial, ok := Dialers[kind]
	if !ok {
		return answer(0, fmt.Errorf("there is no client %q", kind))
	}
	connections, err := dial(addr, conns)
	if err == nil {
		err = connections.Exchange(conns)
	}
	code := answer(0, err)
	for lines := bufio.NewScanner(os.Stdin); code == 0 && lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return answer(0, err)
		}
		begin := time.Now()
		err = connections.Exchange(n)
		code = answer(time.Since(begin), err)
	}
	return code
}

// answer tells the benchmark how it went, and returns the exit code.
func answer(took time.Duration, err error) (code int) {
	if err != nil {
		fmt.Println(failed + strings.ReplaceAll(err.Error(), "\n", "; "))
		return 1
	}
	fmt.Println(through + took.String())
	return 0
}
