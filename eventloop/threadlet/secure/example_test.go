package secure_test

// Examples of package secure.

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

// A server that sends back what it gets, over TLS.
func ExampleServer() {
	certificate, err := tls.LoadX509KeyPair("cert.pem", "key.pem")
	if err != nil {
		fmt.Println(err)
		return
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	loop, _ := eventloop.New()
	listener, _ := threadlet.Listen(loop, "tcp", "localhost:8443")
	_, _ = threadlet.Go(loop, func() {
		_ = threadlet.Serve(listener, func(raw *threadlet.Conn) {
			conn := secure.Server(raw, config)
			defer conn.Close()
			_, _ = io.Copy(conn, conn)
		})
	})
	_ = loop.Run(context.Background())
}
