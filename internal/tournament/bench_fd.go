// Descriptors: what it costs to watch one, and to be watched by a loop.

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/echo"
	"github.com/turnloop/turnloop/internal/loopapi"
)

func socketPair(b *testing.B) {
	b.ReportAllocs()
	client, server := socketpair(b)
	go func() {
		file := os.NewFile(uintptr(server), "server")
		defer file.Close()
		for buf := make([]byte, echo.MessageSize); ; {
			n, err := file.Read(buf)
			if err == nil {
				_, err = file.Write(buf[:n])
			}
			if err != nil {
				return // the client notices
			}
		}
	}()
	exchange(b, client)
}

func fdRoundTrip(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	descriptors := r.descriptors()
	client, server := socketpair(b)
	r.watch(descriptors, server, r.echo(server))
	exchange(b, client)
}

// exchange sends b.N messages, each when the echo of the one before it is there.
func exchange(b *testing.B, client *os.File) {
	if err := client.SetDeadline(time.Now().Add(patience(b))); err != nil {
		b.Fatal(err)
	}
	out, in := make([]byte, echo.MessageSize), make([]byte, echo.MessageSize)
	b.ResetTimer()
	for i := range b.N {
		out[0] = byte(i)
		if _, err := client.Write(out); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(client, in); err != nil {
			b.Fatal(err)
		}
		if in[0] != out[0] {
			b.Fatal("the echo is that of another message")
		}
	}
	b.StopTimer()
}

// echo returns a callback that sends back what fd has received.
func (r *bench) echo(fd int) func(loopapi.IOEvents) {
	buf := make([]byte, echo.MessageSize)
	return func(loopapi.IOEvents) {
		n, err := syscall.Read(fd, buf)
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err == nil {
			_, err = syscall.Write(fd, buf[:n])
		}
		if err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR) {
			r.fail(err)
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR) // so that the client does not wait for an echo
		}
	}
}

// watch registers fd for reading until the benchmark ends, and closes it then.
func (r *bench) watch(descriptors loopapi.FDRegistrar, fd int, callback func(loopapi.IOEvents)) {
	err := descriptors.RegisterFD(fd, loopapi.EventRead, callback)
	skipIfUnsupported(r.b, "descriptors on this system", err)
	if err != nil {
		r.b.Fatal(err)
	}
	r.b.Cleanup(func() {
		if err := errors.Join(descriptors.UnregisterFD(fd), syscall.Close(fd)); err != nil {
			r.b.Error(err)
		}
	})
}

// watchSilence registers a socket on which nothing arrives.
func (r *bench) watchSilence() {
	descriptors := r.descriptors()
	_, fd := socketpair(r.b)
	r.watch(descriptors, fd, func(events loopapi.IOEvents) {
		r.b.Errorf("events %v on a silent socket", events)
	})
}

// socketpair returns the two ends of a connection, both non-blocking. The client's closes with the benchmark, the server's is
// its user's to close.
func socketpair(b *testing.B) (client *os.File, server int) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, fd := range fds {
		if err := syscall.SetNonblock(fd, true); err != nil {
			b.Fatal(err)
		}
	}
	client = os.NewFile(uintptr(fds[0]), "client")
	b.Cleanup(func() { _ = client.Close() })
	return client, fds[1]
}
