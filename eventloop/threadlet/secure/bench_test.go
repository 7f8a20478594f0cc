//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package secure_test

// Benchmarks of TLS: to open a connection, and a byte there and back.

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

func BenchmarkTLS(b *testing.B) {
	l := start(b)
	server, client := certificate(b)
	to := listen(b, l, secureEcho(server))
	dialled := func(b *testing.B) *secure.Conn {
		c, err := threadlet.Dial(background, "tcp", to)
		if err != nil {
			b.Fatal(err)
		}
		s := secure.Client(c.(*threadlet.Conn), client)
		if err := s.Handshake(); err != nil {
			b.Fatal(err)
		}
		return s
	}
	within := func(b *testing.B, fn func()) {
		b.ReportAllocs()
		b.ResetTimer()
		if err := do(b, l, fn); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("handshake", func(b *testing.B) {
		within(b, func() {
			for range b.N {
				_ = dialled(b).Close()
			}
		})
	})
	b.Run("byte", func(b *testing.B) {
		within(b, func() {
			s := dialled(b)
			defer s.Close()
			var p [1]byte
			for range b.N {
				if _, err := s.Write(p[:]); err != nil {
					b.Error(err)
					return
				}
				if _, err := s.Read(p[:]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}
