package libraries

// golang.org/x/net/nettest, which starts goroutines itself, on shared connections.

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

// start runs a loop until the test ends.
func start(t testing.TB, opts ...eventloop.Option) *eventloop.Loop {
	t.Helper()
	l, err := eventloop.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = l.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-l.Done()
	})
	return l
}

// certificate returns the configurations of both sides.
func certificate(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	other := httptest.NewUnstartedServer(nil)
	other.StartTLS()
	defer other.Close()
	return &tls.Config{Certificates: other.TLS.Certificates}, &tls.Config{InsecureSkipVerify: true}
}

func TestNettest(t *testing.T) {
	server, client := certificate(t)
	for _, network := range []string{"tcp", "unix", "tls"} {
		for _, loops := range []string{"one loop", "two loops"} {
			t.Run(network+"/"+loops, func(t *testing.T) {
				a := start(t)
				b := a
				if loops == "two loops" {
					b = start(t)
				}
				nettest.TestConn(t, func() (one, two net.Conn, stop func(), err error) {
					under := network
					if network == "tls" {
						under = "tcp"
					}
					ln, err := nettest.NewLocalListener(under)
					if err != nil {
						return nil, nil, nil, err
					}
					defer ln.Close()
					dialled, err := net.Dial(ln.Addr().Network(), ln.Addr().String())
					if err != nil {
						return nil, nil, nil, err
					}
					accepted, err := ln.Accept()
					if err != nil {
						return nil, nil, nil, err
					}
					near, err := threadlet.Wrap(a, dialled)
					if err != nil {
						return nil, nil, nil, err
					}
					far, err := threadlet.Wrap(b, accepted)
					if err != nil {
						return nil, nil, nil, err
					}
					one, two = threadlet.Shared(near), threadlet.Shared(far)
					if network == "tls" {
						over, beyond := secure.Client(near, client), secure.Server(far, server)
						shook := make(chan error, 2) // a deadline within a handshake ends the connection, as it does in crypto/tls
						for c, l := range map[*secure.Conn]*eventloop.Loop{over: a, beyond: b} {
							if _, err := threadlet.Go(l, func() { shook <- c.Handshake() }); err != nil {
								return nil, nil, nil, err
							}
						}
						if err := errors.Join(<-shook, <-shook); err != nil {
							return nil, nil, nil, err
						}
						one, two = threadlet.Shared(over), threadlet.Shared(beyond)
					}
					return one, two, func() { _, _ = one.Close(), two.Close() }, nil
				})
			})
		}
	}
}
