//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// certificate returns what a server for 127.0.0.1 has and a client trusts, and the two files with it.
func certificate(t *testing.T) (server, client *tls.Config, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "threadlet"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600))
	server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return server, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}, certFile, keyFile
}

// secureEcho sends back what it gets over TLS.
func secureEcho(config *tls.Config) func(*threadlet.Conn) {
	return func(c *threadlet.Conn) {
		s := tls.Server(c, config)
		defer s.Close()
		_, _ = io.Copy(s, s)
	}
}

var versions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// crypto/tls on both sides, each on threadlets or on goroutines; much data both ways at once, by a reader and a writer.
func TestTLS(t *testing.T) {
	server, client, _, _ := certificate(t)
	data := make([]byte, 3<<20)
	_, _ = rand.Read(data)
	for name, version := range versions {
		client := client.Clone()
		client.MaxVersion = version
		t.Run(name+"/goroutines", func(t *testing.T) {
			unchanged(t)
			to := listen(t, start(t), "tcp", secureEcho(server))
			c, err := tls.Dial("tcp", to.String(), client)
			require.NoError(t, err)
			defer c.Close()
			go c.Write(data)
			got := make([]byte, len(data))
			_, err = io.ReadFull(c, got)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, got))
		})
		t.Run(name+"/threadlets", func(t *testing.T) {
			unchanged(t)
			to := listen(t, start(t), "tcp", secureEcho(server))
			l := start(t)
			require.NoError(t, do(t, l, func() {
				raw, err := threadlet.Dial(background, "tcp", to.String())
				if err != nil {
					t.Error(err)
					return
				}
				c := tls.Client(raw, client)
				if err := c.Handshake(); err != nil {
					t.Error(err)
				}
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

// A deadline, a signal and another threadlet's Close end what waits within crypto/tls.
func TestTLSInterrupted(t *testing.T) {
	server, client, _, _ := certificate(t)
	to := listen(t, start(t), "tcp", secureEcho(server))
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	require.NoError(t, err)
	defer silent.Close()
	l := start(t)
	connect := func(address string) (*tls.Conn, *threadlet.Conn) {
		raw, err := threadlet.Dial(background, "tcp", address)
		if err != nil {
			t.Error(err)
			return nil, nil
		}
		return tls.Client(raw, client), raw.(*threadlet.Conn)
	}
	for name, test := range map[string]func(){
		"handshake": func() {
			c, raw := connect(silent.Addr().String())
			_ = raw.SetDeadline(time.Now().Add(10 * time.Millisecond))
			if err := c.Handshake(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a deadline: %v", err)
			}
			c, raw = connect(silent.Addr().String())
			_, _ = l.ScheduleTimer(10*time.Millisecond, raw.Signal)
			if err := c.Handshake(); !errors.Is(err, threadlet.ErrSignaled) {
				t.Errorf("a signal: %v", err)
			}
			c, raw = connect(silent.Addr().String())
			_, _ = l.ScheduleTimer(10*time.Millisecond, func() { _ = raw.Close() })
			if err := c.HandshakeContext(background); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a close: %v", err)
			}
		},
		"read, and closed by another": func() {
			c, _ := connect(to.String())
			if err := c.Handshake(); err != nil {
				t.Error(err)
			}
			reader, _ := threadlet.Go(l, func() {
				if _, err := c.Read(make([]byte, 1)); err == nil {
					t.Error("a read of nothing")
				}
			})
			_ = threadlet.Yield()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := reader.Join(background); err != nil {
				t.Error(err)
			}
		},
		"write, and closed by another": func() {
			c, _ := connect(to.String())
			if err := c.Handshake(); err != nil {
				t.Error(err)
			}
			writer, _ := threadlet.Go(l, func() { // nobody reads what comes back, so the server stops reading
				if _, err := c.Write(make([]byte, 64<<20)); err == nil {
					t.Error("a write that nobody reads")
				}
			})
			_ = threadlet.Sleep(50 * time.Millisecond)
			_ = c.Close()
			if err := writer.Join(background); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, do(t, l, test)) })
	}
}

// OpenSSL's client against a server of threadlets, and a client against its server.
func TestOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("there is no openssl")
	}
	server, client, certFile, keyFile := certificate(t)
	for name, version := range versions {
		flag := map[uint16]string{tls.VersionTLS12: "-tls1_2", tls.VersionTLS13: "-tls1_3"}[version]
		t.Run(name+"/s_client", func(t *testing.T) {
			got := make(chan string, 1)
			to := listen(t, start(t), "tcp", func(c *threadlet.Conn) {
				s := tls.Server(c, server)
				defer s.Close()
				p := make([]byte, 64)
				n, err := s.Read(p)
				if err != nil {
					t.Error(err)
				}
				got <- string(p[:n])
				_, _ = io.WriteString(s, "from the threadlet\n")
			})
			ctx, cancel := context.WithTimeout(background, 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, openssl, "s_client", "-connect", to.String(), flag, "-CAfile", certFile, "-verify_return_error",
				"-quiet", "-no_ign_eof")
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			var out bytes.Buffer
			cmd.Stdout = &out
			cmd.Stderr = &out
			require.NoError(t, cmd.Start())
			_, err = io.WriteString(in, "from openssl\n")
			require.NoError(t, err)
			_ = cmd.Wait()
			_ = in.Close()
			require.Contains(t, out.String(), "from the threadlet")
			require.Equal(t, "from openssl\n", <-got)
		})
		t.Run(name+"/s_server", func(t *testing.T) {
			free, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			address := free.Addr().String()
			require.NoError(t, free.Close())
			ctx, cancel := context.WithTimeout(background, 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, openssl, "s_server", "-accept", address, flag, "-cert", certFile, "-key", keyFile, "-quiet", "-rev", "-naccept", "1")
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			require.NoError(t, cmd.Start())
			defer cmd.Wait()
			defer cancel()
			l := start(t)
			require.NoError(t, do(t, l, func() {
				var raw net.Conn
				for ctx.Err() == nil {
					if raw, err = threadlet.Dial(ctx, "tcp", address); err == nil {
						break
					}
					_ = threadlet.Sleep(10 * time.Millisecond)
				}
				if err != nil {
					t.Error(err)
					return
				}
				c := tls.Client(raw, client)
				defer c.Close()
				_, err := io.WriteString(c, "threadlet\n")
				if err != nil {
					t.Error(err)
				}
				p := make([]byte, 64)
				n, err := io.ReadFull(c, p[:10])
				if err != nil || string(p[:n]) != "teldaerht\n" {
					t.Errorf("%q, %v", p[:n], err)
				}
			}))
		})
	}
}
