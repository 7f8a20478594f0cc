//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package secure_test

// Against another implementation.

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
	"github.com/turnloop/turnloop/internal/beat"
)

// OpenSSL's client talks to a server of threadlets, and a client of threadlets to OpenSSL's server.
func TestOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("there is no openssl")
	}
	server, client := certificate(t)
	certFile, keyFile := files(t, server.Certificates[0])
	for name, version := range versions {
		flag := map[uint16]string{tls.VersionTLS12: "-tls1_2", tls.VersionTLS13: "-tls1_3"}[version]
		t.Run(name+"/s_client", func(t *testing.T) {
			got := make(chan string, 1)
			to := listen(t, start(t), func(c *threadlet.Conn) {
				s := secure.Server(c, server)
				defer s.Close()
				p := make([]byte, 64)
				n, err := s.Read(p)
				if err != nil {
					t.Error(err)
				}
				got <- string(p[:n])
				_, _ = io.WriteString(s, "from the threadlet\n")
			})
			ctx, cancel := beat.Context(background)
			defer cancel()
			cmd := exec.CommandContext(ctx, openssl, "s_client", "-connect", to, flag, "-CAfile", certFile, "-verify_return_error",
				"-quiet", "-no_ign_eof")
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			var out output
			cmd.Stdout, cmd.Stderr = &out, &out
			require.NoError(t, cmd.Start())
			if version == tls.VersionTLS13 {
				_, err = io.WriteString(in, "K\n") // new keys, both ways
				require.NoError(t, err)
				for ctx.Err() == nil && !strings.Contains(out.String(), "KEYUPDATE") {
					time.Sleep(time.Millisecond)
				}
			}
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
			ctx, cancel := beat.Context(background)
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
				c := secure.Client(raw.(*threadlet.Conn), client)
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

// files writes a certificate and its key.
func files(t *testing.T, c tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	pkcs8, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	require.NoError(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600))
	return certFile, keyFile
}

// output is what a program has said until now.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
