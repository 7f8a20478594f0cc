package main

// Helpers of the tests: servers in this process or in one of their own, and clients.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/resp"
)

// asServer is the environment variable that makes this test binary the server.
const asServer = "TURNLOOP_REDIS"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		os.Exit(0)
	}
	lastWords = patience
	os.Exit(m.Run())
}

// patience is a limit that no test reaches: what hangs is given up by a watchdog or by go test.
const patience = time.Hour

var usual = options{fsync: "no", outputLimit: 32 << 20, softLimit: 8 << 20, softTime: time.Minute, maxClients: 10000}

// instance is a server in this process.
type instance struct {
	t     *testing.T
	group *eventloop.Group
	s     *server
	addr  string
	ended chan error
}

// serve starts a server, with a file if one is given. It ends with the test.
func serve(t *testing.T, o options, file logFile) *instance {
	group, err := newGroup(o, eventloop.WithOnOverload(func(err error) {
		if !errors.Is(err, eventloop.ErrLoopOverloaded) {
			t.Error(err) // would be logged
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{t: t, group: group, ended: make(chan error, 1)}
	if i.s, err = newServer(group.Loop(0), o); err != nil {
		t.Fatal(err)
	}
	if file != nil {
		if err := i.s.restore(file); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := i.s.listen("127.0.0.1:0")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no sockets of a loop here")
	}
	if err != nil {
		t.Fatal(err)
	}
	i.addr = listener.Addr().String()
	go func() { i.ended <- group.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = group.Close()
		<-i.ended
		<-group.Loop(0).Done()
	})
	return i
}

// on runs f on the loop.
func (i *instance) on(f func()) {
	i.t.Helper()
	done := make(chan struct{})
	if err := i.group.Loop(0).Submit(func() { defer close(done); f() }); err != nil {
		i.t.Fatal(err)
	}
	<-done
}

// until waits until f returns true on the loop.
func (i *instance) until(what string, f func() bool) {
	i.t.Helper()
	beat.Eventually(i.t, func() (is bool) {
		i.on(func() { is = f() })
		return is
	}, what)
}

// stopClock has keys of the server see the same time from now on.
func (i *instance) stopClock() *instance {
	i.on(func() {
		now := i.s.store.now()
		i.s.store.now = func() int64 { return now }
	})
	return i
}

// talk is a client's connection.
type talk struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func (i *instance) dial() *talk { return dial(i.t, i.addr) }

func dial(t *testing.T, addr string) *talk {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &talk{conn, t, bufio.NewReader(conn)}
}

// do sends a request, and returns the reply in the form of text.
func (c *talk) do(words ...string) string {
	c.t.Helper()
	c.send(words...)
	return c.reply()
}

func (c *talk) send(words ...string) {
	c.t.Helper()
	if _, err := c.Write(resp.AppendRequest(nil, words...)); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads a reply.
func (c *talk) reply() string {
	c.t.Helper()
	s, err := text(c.in)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// want sends a request, and fails unless this is the reply.
func (c *talk) want(reply string, words ...string) {
	c.t.Helper()
	if got := c.do(words...); got != reply {
		c.t.Fatalf("%q: %.200s, want %s", words, got, reply)
	}
}

// text reads a reply as text: strings are in quotes, arrays in brackets.
func text(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok || line == "" {
		return "", fmt.Errorf("%q is no line of a reply", line)
	}
	n, _ := strconv.Atoi(line[1:])
	switch {
	case line[0] == '+' || line[0] == '-' || line[0] == ':':
		return line[1:], nil
	case n < 0:
		return "nil", nil
	case line[0] == '$':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(in, b); err != nil {
			return "", err
		}
		return strconv.Quote(string(b[:n])), nil
	case line[0] == '*':
		all := make([]string, n)
		for i := range all {
			if all[i], err = text(in); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(all, " ") + "]", nil
	}
	return "", fmt.Errorf("%q is no reply", line)
}

// answer runs a request without a connection, and returns the reply.
func (c *client) answer(words ...string) string {
	a := make([][]byte, len(words))
	for i, w := range words {
		a[i] = []byte(w)
	}
	c.out = c.out[:0]
	c.run(a)
	s, err := text(bufio.NewReader(bytes.NewReader(c.out)))
	if err != nil {
		return "no reply: " + err.Error()
	}
	return s
}

// loopless returns a server whose loop does not run: commands wait for nothing.
func loopless(t *testing.T) *server {
	loop, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = loop.Close() })
	s, err := newServer(loop, usual)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sorted returns an array as text with its elements in order.
func sorted(reply string) string {
	if len(reply) < 2 || reply[0] != '[' {
		return reply
	}
	var all []string
	for rest := reply[1 : len(reply)-1]; rest != ""; {
		q, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return reply
		}
		s, _ := strconv.Unquote(q)
		all = append(all, s)
		rest = strings.TrimPrefix(rest[len(q):], " ")
	}
	slices.Sort(all)
	for i, s := range all {
		all[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(all, " ") + "]"
}
