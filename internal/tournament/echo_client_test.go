// The client of BenchmarkEcho: a process of its own, as clients are, so that no contestant shares its scheduler and collector
// with it. It is the test binary again.
//
// Client and server share the processors of what may be a small machine. A goroutine per connection takes more of two
// processors than the leanest servers do, and figures would tell about the client. So on Linux it is one thread over epoll that makes
// the fewest system calls which a request takes, a read, a write and its share of a wait, and leaves the server the other
// processor. Elsewhere it is a goroutine per connection on one processor: a weaker measure, but the same for all
// contestants, and timings of different machines are not compared.

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	clientRole  = "echo-client"
	clientOrder = "TOURNAMENT_ECHO" // environment: which client, the server's address, how many connections
	netClient   = "net"
)

func init() { roles[clientRole] = echoClientMain }

// An exchanger holds connections to the server.
type exchanger interface {
	// exchange sends n requests over all connections, each connection one at a time, and checks the echoes.
	exchange(n int) error
}

// clients are the ways to connect.
var clients = map[string]func(addr string, conns int) (exchanger, error){netClient: dialNet}

// An echoClient is the client process as the benchmark sees it: it takes a number of requests in a line, and answers with a
// line when they are through.
type echoClient struct {
	cmd      *exec.Cmd
	commands *os.File
	answers  *os.File
	lines    *bufio.Reader
}

const (
	through = "through in "
	failed  = "failed: "
)

// startEchoClient returns a client whose connections are all accepted and have carried one request each.
func startEchoClient(kind, addr string, conns int, limit time.Duration) (*echoClient, error) {
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
	cmd.Env = append(os.Environ(), roleVariable+"="+clientRole, clientOrder+"="+fmt.Sprint(kind, " ", addr, " ", conns),
		"GOMAXPROCS=1", "GOGC=off")
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, commands.Close(), answers.Close())
	}
	c := &echoClient{cmd: cmd, commands: commands, answers: answers, lines: bufio.NewReader(answers)}
	if _, err := c.await(limit); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// run has the client send n requests, and returns how long they took by its clock: the way of the command is not part of it.
func (c *echoClient) run(n int, limit time.Duration) (time.Duration, error) {
	if _, err := fmt.Fprintln(c.commands, n); err != nil {
		return 0, fmt.Errorf("asking the client: %w", err)
	}
	return c.await(limit)
}

// await waits until the client is through.
func (c *echoClient) await(limit time.Duration) (time.Duration, error) {
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

// end ends the process, whatever it does, and with it its connections.
func (c *echoClient) end() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	_ = c.cmd.Wait()         // which tells of the kill
	_ = c.commands.Close()
	_ = c.answers.Close()
}

// echoClientMain is the client process. It ends when the benchmark's process does, in whatever way: between two commands it
// finds its standard input closed, and amid requests its connections.
func echoClientMain() int {
	var kind, addr string
	var conns int
	if _, err := fmt.Sscan(os.Getenv(clientOrder), &kind, &addr, &conns); err != nil {
		return answer(0, err)
	}
	dial, ok := clients[kind]
	if !ok {
		return answer(0, fmt.Errorf("there is no client %q", kind))
	}
	connections, err := dial(addr, conns)
	if err == nil {
		err = connections.exchange(conns)
	}
	code := answer(0, err)
	for lines := bufio.NewScanner(os.Stdin); code == 0 && lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return answer(0, err)
		}
		begin := time.Now()
		err = connections.exchange(n)
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

// A dialogue is what is said on a connection: no two requests are equal, also on different connections.
type dialogue struct {
	conn     int
	count    uint64
	request  [messageSize]byte
	response [messageSize]byte
	got      int // bytes of the response
}

// next makes the next request.
func (d *dialogue) next() []byte {
	if d.count == 0 {
		for i := range d.request {
			d.request[i] = byte(i)
		}
		binary.LittleEndian.PutUint32(d.request[:], uint32(d.conn))
	}
	d.count++
	d.got = 0
	binary.LittleEndian.PutUint64(d.request[4:], d.count)
	return d.request[:]
}

// check compares the response with the request.
func (d *dialogue) check() error {
	if d.request != d.response {
		at := 0
		for d.request[at] == d.response[at] {
			at++
		}
		return fmt.Errorf("connection %d: the echo of request %d is wrong from byte %d on", d.conn, d.count, at)
	}
	return nil
}

// lost is the error of a connection that ended.
func (d *dialogue) lost(err error) error {
	return fmt.Errorf("connection %d: request %d has no echo: %w", d.conn, d.count, err)
}

// netExchanger is a goroutine per connection.
type netExchanger struct {
	conns     []net.Conn
	dialogues []dialogue
}

func dialNet(addr string, conns int) (exchanger, error) {
	e := &netExchanger{dialogues: make([]dialogue, conns)}
	for i := range conns {
		conn, err := net.Dial("tcp4", addr) // the process that ends closes it
		if err != nil {
			return nil, err
		}
		e.conns = append(e.conns, conn)
		e.dialogues[i].conn = i
	}
	return e, nil
}

func (e *netExchanger) exchange(n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	ended := make(chan error, len(e.conns))
	for i, conn := range e.conns {
		go func() {
			d := &e.dialogues[i]
			var err error
			for err == nil && left.Add(-1) >= 0 {
				err = d.converse(conn)
			}
			ended <- err
		}()
	}
	for range e.conns {
		if err := <-ended; err != nil {
			return err
		}
	}
	return nil
}

// converse sends one request and waits for its echo.
func (d *dialogue) converse(conn net.Conn) error {
	if _, err := conn.Write(d.next()); err != nil {
		return d.lost(err)
	}
	if _, err := io.ReadFull(conn, d.response[:]); err != nil {
		return d.lost(err)
	}
	return d.check()
}
