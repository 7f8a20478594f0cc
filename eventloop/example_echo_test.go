//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventloop_test

// A TCP server on raw descriptors: it sends back each line that it receives. All its connections live on one loop, so
// nothing here needs a lock.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

// lineServer accepts connections until it is closed.
type lineServer struct {
	loop     *eventloop.Loop
	listener int
	rest     eventloop.TimerID // until it accepts again
	conns    map[int]*lineConn
	buf      []byte // for whoever reads
}

// lineConn is one connection.
type lineConn struct {
	server *lineServer
	fd     int
	in     []byte // received, and not a whole line yet
	out    []byte // to be sent
	eof    bool   // the peer has sent all it has
	wanted eventloop.IOEvents
}

const (
	maxLine = 64 << 10 // bytes; who sends a longer line is disconnected
	maxOut  = 64 << 10 // bytes; who does not read is not read from while more wait

	acceptAgain = 50 * time.Millisecond // after there were no descriptors
)

// listen opens a server on a free port of the loopback interface.
func listen(loop *eventloop.Loop) (s *lineServer, address string, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, "", err
	}
	s = &lineServer{loop: loop, listener: fd, conns: map[int]*lineConn{}, buf: make([]byte, 4096)}
	unix.CloseOnExec(fd)
	if address, err = s.open(); err != nil {
		unix.Close(fd)
		return nil, "", err
	}
	return s, address, nil
}

// open has the loop watch the listener when all else has succeeded: who closes a descriptor that is registered unregisters
// it first.
func (s *lineServer) open() (address string, err error) {
	if err := unix.SetNonblock(s.listener, true); err != nil { // a callback must not block
		return "", err
	}
	if err := unix.Bind(s.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", err
	}
	if err := unix.Listen(s.listener, 128); err != nil {
		return "", err
	}
	name, err := unix.Getsockname(s.listener)
	if err != nil {
		return "", err
	}
	address = fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	return address, s.loop.RegisterFD(s.listener, eventloop.EventRead, s.accept)
}

// accept is the listener's callback.
func (s *lineServer) accept(eventloop.IOEvents) {
	for {
		fd, _, err := unix.Accept(s.listener)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) {
			continue
		}
		if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
			// What stays in the queue would be told again and again; so nobody asks until there may be descriptors.
			if s.loop.ModifyFD(s.listener, 0) == nil {
				s.rest, _ = s.loop.ScheduleTimer(acceptAgain, func() { s.loop.ModifyFD(s.listener, eventloop.EventRead) })
			}
			return
		}
		if err != nil {
			return // EAGAIN: that was all
		}
		unix.CloseOnExec(fd)
		c := &lineConn{server: s, fd: fd, wanted: eventloop.EventRead}
		if unix.SetNonblock(fd, true) != nil || s.loop.RegisterFD(fd, c.wanted, c.ready) != nil {
			unix.Close(fd)
			continue
		}
		s.conns[fd] = c
	}
}

// close ends the server and its connections.
func (s *lineServer) close() {
	s.loop.CancelTimer(s.rest) // the number may be somebody else's then
	s.loop.UnregisterFD(s.listener)
	unix.Close(s.listener)
	for _, c := range s.conns {
		c.close()
	}
}

// ready is a connection's callback.
func (c *lineConn) ready(events eventloop.IOEvents) {
	var err error
	if events&eventloop.EventRead != 0 {
		err = c.receive()
	}
	if err == nil {
		err = c.send()
	}
	hungUp := events&(eventloop.EventHangup|eventloop.EventError) != 0 // nothing that is sent would arrive
	if err != nil || hungUp || c.eof && len(c.out) == 0 {
		c.close()
		return
	}
	var wanted eventloop.IOEvents
	if !c.eof && len(c.out) < maxOut {
		wanted |= eventloop.EventRead
	}
	if len(c.out) > 0 {
		wanted |= eventloop.EventWrite
	}
	if wanted != c.wanted && c.server.loop.ModifyFD(c.fd, wanted) == nil {
		c.wanted = wanted
	}
}

// receive reads once, which is fair to the others: what is left is reported again.
func (c *lineConn) receive() error {
	n, err := unix.Read(c.fd, c.server.buf)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return err
	}
	c.eof = n == 0
	c.in = append(c.in, c.server.buf[:n]...)
	whole := bytes.LastIndexByte(c.in, '\n') + 1
	c.out = append(c.out, c.in[:whole]...)
	c.in = append(c.in[:0], c.in[whole:]...)
	if len(c.in) > maxLine {
		return errors.New("line too long")
	}
	return nil
}

// send writes what the system takes.
func (c *lineConn) send() error {
	for len(c.out) > 0 {
		n, err := unix.Write(c.fd, c.out)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return err
		}
		c.out = c.out[n:]
	}
	c.out = nil
	return nil
}

// close unregisters before it closes: the number may be somebody else's at once.
func (c *lineConn) close() {
	delete(c.server.conns, c.fd)
	c.server.loop.UnregisterFD(c.fd)
	unix.Close(c.fd)
}

// An echo server for lines, and a client that is done after two.
func ExampleLoop_RegisterFD_echo() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	server, address, err := listen(loop)
	if err != nil {
		panic(err)
	}
	go loop.Run(context.Background())

	client, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	fmt.Fprint(client, "hello\nwor")
	lines := bufio.NewScanner(client)
	lines.Scan()
	fmt.Println(lines.Text())
	fmt.Fprint(client, "ld\n")
	lines.Scan()
	fmt.Println(lines.Text())
	client.Close()

	loop.Submit(server.close)
	loop.Shutdown(context.Background())
	// Output:
	// hello
	// world
}
