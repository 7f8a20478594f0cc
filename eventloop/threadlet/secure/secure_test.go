//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package secure_test

// Tests of TLS over connections of threadlets.

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

// Much data both ways at once, by a reader and a writer, against crypto/tls on goroutines and against itself.
func TestEcho(t *testing.T) {
	server, client := certificate(t)
	data := make([]byte, 3<<20)
	_, _ = rand.Read(data)
	for name, version := range versions {
		client := client.Clone()
		client.MaxVersion = version
		t.Run(name+"/goroutines", func(t *testing.T) {
			to := listen(t, start(t), secureEcho(server))
			c, err := tls.Dial("tcp", to, client)
			require.NoError(t, err)
			defer c.Close()
			go c.Write(data)
			got := make([]byte, len(data))
			_, err = io.ReadFull(c, got)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, got))
		})
		t.Run(name+"/threadlets", func(t *testing.T) {
			to := listen(t, start(t), secureEcho(server))
			l := start(t)
			require.NoError(t, do(t, l, func() {
				raw, err := threadlet.Dial(background, "tcp", to)
				if err != nil {
					t.Error(err)
					return
				}
				c := secure.Client(raw.(*threadlet.Conn), client)
				writer, _ := threadlet.Go(l, func() {
					if _, err := c.Write(data); err != nil {
						t.Error(err)
					}
				})
				got := make([]byte, len(data))
				if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(data, got) {
					t.Errorf("what came back is not what was sent: %v", err)
				}
				if err := writer.Join(background); err != nil {
					t.Error(err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}))
		})
	}
}

// A deadline, a signal and another's Close end a handshake.
func TestInterruptedHandshake(t *testing.T) {
	_, client := certificate(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	require.NoError(t, err)
	defer silent.Close()
	l := start(t)
	connect := func() (*secure.Conn, *threadlet.Conn) {
		raw, err := threadlet.Dial(background, "tcp", silent.Addr().String())
		if err != nil {
			t.Error(err)
			return nil, nil
		}
		return secure.Client(raw.(*threadlet.Conn), client), raw.(*threadlet.Conn)
	}
	require.NoError(t, do(t, l, func() {
		c, raw := connect()
		_ = raw.SetDeadline(time.Now().Add(10 * time.Millisecond))
		if err := c.Handshake(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a deadline: %v", err)
		}
		c, raw = connect()
		_, _ = l.ScheduleTimer(10*time.Millisecond, raw.Signal)
		if err := c.Handshake(); !errors.Is(err, threadlet.ErrSignaled) {
			t.Errorf("a signal: %v", err)
		}
		c, raw = connect()
		_, _ = l.ScheduleTimer(10*time.Millisecond, func() { _ = raw.Close() })
		if err := c.HandshakeContext(background); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a close: %v", err)
		}
	}))
}
