// Package httploop is an HTTP/1.1 server on event loops, for handlers of package net/http: a threadlet for each request, and
// nothing but a few hundred bytes, and what crypto/tls keeps, for a connection that waits for its next one.
//
// A handler runs in a threadlet of the connection's loop, and waits as threadlets do (threadlet.Sleep, threadlet.Dial,
// threadlet.Do for what blocks otherwise). Handlers of one loop run one at a time, so what only they touch needs no lock; a
// handler that blocks its goroutine blocks the loop. eventloop.WithStallThreshold tells where that happens.
//
// # Differences from net/http
//
// Requests that net/http refuses are refused, with the same status but for an unknown transfer coding (400), and for HTTP/2
// (505), which is not spoken. An empty field Host is refused, too. A handler may read the request after it has begun to
// answer, as with EnableFullDuplex. A Transfer-Encoding that a handler sets is dropped, and a Content-Length that is no number
// is replaced. A request's context ends with its handler, and not when its client goes away. No other goroutine may use a
// ResponseWriter or a Body, as httputil.ReverseProxy and http.TimeoutHandler do; for these there is http.Server on a
// threadlet.SharedListener.
package httploop

// The server: what may be set, and how connections come to it.

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// Server has the handler and the limits of a server. The zero value of each field means what it means in http.Server. The
// fields must not be changed while the server serves.
type Server struct {
	Handler   http.Handler // nil is http.DefaultServeMux
	TLSConfig *tls.Config  // nil is HTTP without TLS

	ReadTimeout       time.Duration // for a request with its body
	ReadHeaderTimeout time.Duration // for its header; 0 is ReadTimeout
	WriteTimeout      time.Duration // from the end of the header to that of the response
	IdleTimeout       time.Duration // for the next request to begin; 0 is ReadTimeout
	MaxHeaderBytes    int           // 0 is http.DefaultMaxHeaderBytes

	// BaseContext returns the context that those of a listener's requests derive from; nil is context.Background.
	BaseContext func(net.Listener) context.Context
	// ConnContext returns the context of a connection's requests, derived from ctx. It may be nil.
	ConnContext func(ctx context.Context, c net.Conn) context.Context

	lingers time.Duration // for a client that still sends after the last response; 0 is a second
}

// Serve serves h on ln, a listener of package threadlet, in the calling threadlet. It returns when threadlet.Serve does.
func Serve(ln net.Listener, h http.Handler) error { return (&Server{Handler: h}).Serve(ln) }

// Serve serves on ln, a listener of package threadlet, in the calling threadlet. It returns when threadlet.Serve does.
func (s *Server) Serve(ln net.Listener, opts ...threadlet.ServeOption) error {
	return threadlet.Serve(ln, s.connected(ln), opts...)
}

// ServeGroup is Serve on all loops of a group; see threadlet.ServeGroup.
func (s *Server) ServeGroup(g *eventloop.Group, ln net.Listener, opts ...threadlet.ServeOption) error {
	return threadlet.ServeGroup(g, ln, s.connected(ln), opts...)
}

// connected returns the function that serves a connection.
func (s *Server) connected(ln net.Listener) func(*threadlet.Conn) {
	ctx := context.Background()
	if s.BaseContext != nil {
		ctx = s.BaseContext(ln)
	}
	return func(raw *threadlet.Conn) { s.serve(ctx, raw) }
}

func (s *Server) handler() http.Handler {
	if s.Handler == nil {
		return http.DefaultServeMux
	}
	return s.Handler
}

// shakes returns how long a handshake may take: as long as the shortest of the limits of a request.
func (s *Server) shakes() (d time.Duration) {
	for _, limit := range []time.Duration{s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout} {
		if limit > 0 && (d == 0 || limit < d) {
			d = limit
		}
	}
	return d
}

// headerBytes returns how many bytes may be read for a request's line and header.
func (s *Server) headerBytes() int64 {
	return int64(cmp.Or(max(s.MaxHeaderBytes, 0), http.DefaultMaxHeaderBytes)) + 4096 // as net/http has it
}
