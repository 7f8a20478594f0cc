//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package httploop

// What a request costs on its usual path, beside its client on the same loop: on a connection that was idle, with a threadlet of
// its own.

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	callcosts "github.com/turnloop/turnloop/internal/costs"
)

func TestCosts(t *testing.T) { callcosts.Check(t, costRows, nil) }

func BenchmarkCosts(b *testing.B) { callcosts.Benchmark(b, costRows) }

var costRows = []callcosts.Row{
	requests("Serve", 14, 1720, 4, func(e *callcosts.Env, ln net.Listener) { _ = Serve(ln, echoed) }, get("/", "")),
	requests("Server.Serve", 15, 1744, 4, func(e *callcosts.Env, ln net.Listener) {
		s := Server{Handler: echoed, ReadTimeout: time.Hour, WriteTimeout: time.Hour, IdleTimeout: time.Hour}
		_ = s.Serve(ln)
	}, get("/", "")),
	requests("Server.Serve, a body", 18, 1904, 4, func(e *callcosts.Env, ln net.Listener) {
		_ = (&Server{Handler: echoed}).Serve(ln)
	}, post("/", "Content-Length: 5\r\n", "hello")),
	requests("Server.ServeGroup", 15, 1744, 4, func(e *callcosts.Env, ln net.Listener) {
		g, err := eventloop.NewGroup(1)
		e.Must(err)
		e.Cleanup(func() { _ = g.Close() })
		go func() { _ = g.Run(context.Background()) }()
		_ = (&Server{Handler: echoed}).ServeGroup(g, ln)
	}, get("/", "")),
}

// echoed answers with the body, or a line.
var echoed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if n, _ := io.Copy(w, r.Body); n == 0 {
		io.WriteString(w, "hello")
	}
})

// requests is a row of requests on one connection, by a threadlet of the loop.
func requests(name string, allocs, size, steps uint64, serve func(*callcosts.Env, net.Listener), request string) callcosts.Row {
	return callcosts.In(func(e *callcosts.Env, fn func()) {
		t, err := threadlet.Go(e.Loop, fn)
		e.Must(err)
		e.Must(t.Join(context.Background()))
	}, name, allocs, size, steps, func(e *callcosts.Env) func() {
		ln, err := threadlet.Listen(e.Loop, "tcp", "127.0.0.1:0")
		e.Must(err)
		_, err = threadlet.Go(e.Loop, func() { serve(e, ln) })
		e.Must(err)
		c, err := threadlet.Dial(context.Background(), "tcp", ln.Addr().String())
		e.Must(err)
		asks, buf := []byte(request), make([]byte, 4096)
		return func() {
			_, err := c.Write(asks)
			e.Must(err)
			for n := 0; err == nil && !bytes.HasSuffix(buf[:n], []byte("hello")); {
				var more int
				more, err = c.Read(buf[n:])
				e.Must(err)
				n += more
			}
		}
	})
}
