// Servers: what many connections over TCP loopback get from one loop. The client is a process of its own.

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/echo"
	"github.com/turnloop/turnloop/internal/loopapi"
)

const (
	readSize = 4096 // bytes that a server reads at once
	backlog  = 1024 // connections that may wait to be accepted; the system lowers it to what it allows
)

// echoCell measures a contestant's server with so many connections.
func echoCell(serve func(*testing.B, Contestant) (addr string), conns int) func(*testing.B, Contestant) {
	return func(b *testing.B, c Contestant) {
		echoControl(func(b *testing.B) string { return serve(b, c) }, conns)(b)
	}
}

// echoControl measures a server with so many connections.
func echoControl(serve echoService, conns int) func(*testing.B) {
	return func(b *testing.B) {
		skipIfTooMany(b, conns)
		runEcho(b, serve, conns)
	}
}

// An echoService is a server that runs until the benchmark ends.
type echoService func(*testing.B) (addr string)

// runEcho has a client send b.N requests.
func runEcho(b *testing.B, serve echoService, conns int) {
	b.ReportAllocs()
	client, err := echo.Start(echo.Usual, serve(b), conns, patience(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.End)
	// The first requests are not measured: a server allocates something for each connection, a loop learns how to wait, and
	// samples are so short that both would show.
	if _, err := client.Run(max(2*conns, 5000), patience(b)); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	took, err := client.Run(b.N, patience(b))
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(took)/float64(b.N), "ns/op")
}

// skipIfTooMany is for systems on which a process may not hold so many connections.
func skipIfTooMany(b *testing.B, conns int) {
	if fit := fitting(b); fit < conns {
		b.Helper()
		b.Skipf("n/a: a process may hold only %d connections here, and not %d", fit, conns)
	}
}

// fitting returns how many connections a process may hold.
func fitting(b *testing.B) int {
	const others = 256 // descriptors other than connections: files, those of the loop, the client's pipes
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		b.Helper()
		b.Fatal(err)
	}
	return max(0, int(min(limit.Cur, math.MaxInt32))-others)
}

// An echoServer sends back what arrives. All but the channel belongs to the loop's callbacks.
type echoServer struct {
	r           *bench
	descriptors loopapi.FDRegistrar
	listener    int              // -1 when closed
	open        map[int]struct{} // connections
	buf         []byte           // shared by all connections: a loop runs one callback at a time
	ending      bool
	gone        chan struct{} // closed when the server is ending and all connections are closed
}

// serveOnLoop is a server on c's loop.
func serveOnLoop(b *testing.B, c Contestant) (addr string) {
	r := start(b, c)
	s := &echoServer{
		r: r, descriptors: r.descriptors(), open: map[int]struct{}{}, buf: make([]byte, readSize), gone: make(chan struct{}),
	}
	var err error
	if s.listener, addr, err = listen(); err != nil {
		b.Fatal(err)
	}
	err = s.descriptors.RegisterFD(s.listener, loopapi.EventRead, s.accept)
	if err != nil {
		_ = syscall.Close(s.listener) // the registration's error is the one to tell
	}
	skipIfUnsupported(b, "descriptors on this system", err)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.stop)
	return addr
}

// listen returns a non-blocking socket that listens on a free port of the loopback interface.
func listen() (fd int, addr string, err error) {
	if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err != nil {
		return -1, "", fmt.Errorf("socket: %w", err)
	}
	unix.CloseOnExec(fd)
	bound, err := func() (unix.Sockaddr, error) {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
		if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return nil, err
		}
		if err := unix.Listen(fd, backlog); err != nil {
			return nil, err
		}
		return unix.Getsockname(fd)
	}()
	if err != nil {
		_ = unix.Close(fd) // nothing has come of it
		return -1, "", fmt.Errorf("listening: %w", err)
	}
	return fd, printed(bound), nil
}

// printed is an IPv4 address as package net writes it.
func printed(addr unix.Sockaddr) string {
	in, ok := addr.(*unix.SockaddrInet4)
	if !ok {
		return fmt.Sprintf("an address of type %T", addr)
	}
	return netip.AddrPortFrom(netip.AddrFrom4(in.Addr), uint16(in.Port)).String()
}

// accept takes every connection that waits.
func (s *echoServer) accept(loopapi.IOEvents) {
	for s.listener >= 0 {
		fd, _, err := unix.Accept(s.listener)
		switch {
		case err == nil:
			s.welcome(fd)
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
		default:
			s.r.fail(fmt.Errorf("accept: %w", err))
			s.hangUp() // so that the client does not wait for it
		}
	}
}

func (s *echoServer) welcome(fd int) {
	unix.CloseOnExec(fd)
	err := errors.Join(unix.SetNonblock(fd, true), unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	if err == nil {
		err = s.descriptors.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) { s.answer(fd) })
	}
	if err != nil {
		s.r.fail(errors.Join(err, unix.Close(fd)))
		return
	}
	s.open[fd] = struct{}{}
}

// answer sends back all that has arrived on a connection. A read that does not fill the buffer has taken all: readiness is
// level-triggered, so nothing is lost if more comes meanwhile.
//
// A message fits any socket's buffer, and the client sends none before it has the echo of the last. So a write that
// takes only a part is a defect of the benchmark, and fails the cell.
func (s *echoServer) answer(fd int) {
	for {
		n, err := unix.Read(fd, s.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil:
			s.drop(fd, fmt.Errorf("reading a request: %w", err))
			return
		case n == 0:
			s.drop(fd, nil)
			return
		}
		if err := writeAll(fd, s.buf[:n]); err != nil {
			s.drop(fd, err)
			return
		}
		if n < len(s.buf) {
			return
		}
	}
}

// writeAll writes p to a non-blocking socket that has room for it.
func writeAll(fd int, p []byte) error {
	for {
		n, err := unix.Write(fd, p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("writing a message: %w", err)
		case n < len(p):
			return fmt.Errorf("writing a message: %w", io.ErrShortWrite)
		default:
			return nil
		}
	}
}

// drop closes a connection, because of the error if there is one.
func (s *echoServer) drop(fd int, why error) {
	delete(s.open, fd)
	if err := errors.Join(why, s.descriptors.UnregisterFD(fd), unix.Close(fd)); err != nil {
		s.r.fail(err)
	}
	s.closeIfGone()
}

// hangUp closes the listener, and with it the connections that nobody has accepted.
func (s *echoServer) hangUp() {
	if s.listener < 0 {
		return
	}
	s.r.onLoop(errors.Join(s.descriptors.UnregisterFD(s.listener), unix.Close(s.listener)))
	s.listener = -1
}

func (s *echoServer) closeIfGone() {
	if s.ending && len(s.open) == 0 {
		close(s.gone)
	}
}

// stop ends the server once the loop has noticed that the client is gone.
func (s *echoServer) stop() {
	s.r.submit(func() {
		s.hangUp()
		s.ending = true
		s.closeIfGone()
	})
	limit := hung
	if s.r.b.Failed() {
		limit = time.Second
	}
	select {
	case <-s.gone:
	case <-time.After(limit):
		s.r.b.Error("the loop has not noticed that the client's connections are closed")
	}
}

// serveWithNet is the server that a Go programmer writes first: a goroutine for each connection.
func serveWithNet(b *testing.B) (addr string) { return serveNet(b, echoWithNet) }

// serveNet serves each connection on a goroutine of its own.
func serveNet(b *testing.B, handle func(net.Conn) error) (addr string) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				b.Errorf("accept: %v", err)
				return
			}
			served.Go(func() {
				if err := errors.Join(handle(conn), conn.Close()); err != nil {
					b.Error(err)
				}
			})
		}
	})
	b.Cleanup(func() {
		if err := listener.Close(); err != nil {
			b.Error(err)
		}
		served.Wait()
	})
	return listener.Addr().String()
}

// echoWithNet serves one connection until the client closes it.
func echoWithNet(conn net.Conn) error {
	for buf := make([]byte, readSize); ; {
		n, err := conn.Read(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			_, err = conn.Write(buf[:n])
		}
		if err != nil {
			return err
		}
	}
}
