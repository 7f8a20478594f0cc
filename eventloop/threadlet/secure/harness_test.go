//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package secure_test

// Loops, servers and certificates for the tests.

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
	"github.com/turnloop/turnloop/internal/beat"
)

var background = context.Background()

// start runs a loop until the test is over.
func start(t testing.TB) *eventloop.Loop {
	t.Helper()
	l, err := eventloop.New()
	require.NoError(t, err)
	returned := make(chan error, 1)
	go func() { returned <- l.Run(background) }()
	t.Cleanup(func() {
		ctx, cancel := beat.Context(background)
		defer cancel()
		if err := l.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
			return
		}
		<-returned
	})
	return l
}

// do runs fn in a threadlet of the loop.
func do(t testing.TB, l *eventloop.Loop, fn func()) error {
	t.Helper()
	th, err := threadlet.Go(l, fn)
	require.NoError(t, err)
	ctx, cancel := beat.Context(background)
	defer cancel()
	return th.Join(ctx)
}

// listen starts a server on a loop, and returns its address.
func listen(t testing.TB, l *eventloop.Loop, handle func(*threadlet.Conn)) string {
	t.Helper()
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, err = threadlet.Go(l, func() { _ = threadlet.Serve(ln, handle) })
	require.NoError(t, err)
	return ln.Addr().String()
}

// answers fails the test if the loop does not get round to a task.
func answers(t *testing.T, l *eventloop.Loop) {
	t.Helper()
	answered := make(chan struct{})
	require.NoError(t, l.SubmitInternal(func() { close(answered) }))
	beat.Receive(t, answered, "a task of a loop that must not stand still")
}

// waiting waits until a threadlet of the loop waits for the given reason.
func waiting(t *testing.T, l *eventloop.Loop, reason string) {
	t.Helper()
	beat.Eventually(t, func() bool {
		return slices.ContainsFunc(threadlet.Threadlets(l), func(i threadlet.Info) bool { return i.Reason == reason })
	}, "a threadlet to wait for "+reason)
}

// certificate returns the configuration of a server for 127.0.0.1, and of a client that trusts it.
func certificate(t testing.TB) (server, client *tls.Config) {
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
	server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return server, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
}

// secureEcho sends back over TLS what it receives.
func secureEcho(config *tls.Config) func(*threadlet.Conn) {
	return func(c *threadlet.Conn) {
		s := secure.Server(c, config)
		defer s.Close()
		_, _ = io.Copy(s, s)
	}
}

var versions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
