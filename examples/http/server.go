package main

// A connection: the handshake, and then one request after the other, each with its deadlines.

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// limits are what a client may take.
type limits struct {
	handshake, idle, header, request time.Duration // idle: until the next request begins; request: to read its body, and to write the response
	headerBytes                      int64
	linger                           time.Duration // for a client that is still sending when it has the last response
	unread                           int64         // bytes of a body that its handler has left, read so that the connection can go on
}

var usual = limits{handshake: 5 * time.Second, idle: 2 * time.Minute, header: 10 * time.Second, request: time.Minute,
	headerBytes: 1 << 20, linger: time.Second, unread: 256 << 10}

// server serves connections. It is the same for all loops, and does not change.
type server struct {
	handler http.Handler
	tls     *tls.Config // nil without
	limits
}

// connection is one of them.
type connection struct {
	*server
	net.Conn       // with TLS, if there is
	left     int64 // bytes that may be read
	in       *bufio.Reader
	out      *bufio.Writer
	state    *tls.ConnectionState
	lingers  bool // the client is still sending: to close at once would take the response from it
}

var errTooLarge = errors.New("the header is too large")

// Read reads no more than may be read.
func (c *connection) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (s *server) serve(conn *threadlet.Conn) {
	c := &connection{server: s, Conn: conn}
	if s.tls != nil {
		_ = conn.SetDeadline(time.Now().Add(s.handshake))
		secure := tls.Server(conn, s.tls)
		if secure.Handshake() != nil {
			return
		}
		defer secure.Close()
		state := secure.ConnectionState()
		c.Conn, c.state = secure, &state
	}
	c.in, c.out = bufio.NewReader(c), bufio.NewWriter(c.Conn)
	for !threadlet.Draining() && c.next() {
	}
	if c.lingers {
		_ = conn.CloseWrite()
		_ = conn.SetDeadline(time.Now().Add(s.linger))
		_, _ = io.Copy(io.Discard, conn)
	}
}

// next answers a request, and tells whether there may be another one.
func (c *connection) next() bool {
	c.left = c.headerBytes
	_ = c.SetDeadline(time.Now().Add(c.idle))
	if _, err := c.in.Peek(1); err != nil {
		return false
	}
	_ = c.SetDeadline(time.Now().Add(c.header))
	r, err := http.ReadRequest(c.in)
	var failed net.Error
	switch {
	case errors.Is(err, errTooLarge):
		return c.refuse(http.StatusRequestHeaderFieldsTooLarge)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &failed):
		return false
	case err != nil:
		return c.refuse(http.StatusBadRequest)
	case r.ProtoMajor != 1:
		return c.refuse(http.StatusHTTPVersionNotSupported)
	case r.Host == "" && r.ProtoAtLeast(1, 1):
		return c.refuse(http.StatusBadRequest)
	}
	c.left = 1<<63 - 1
	_ = c.SetDeadline(time.Now().Add(c.request))
	return c.answer(r)
}

// refuse answers what is no request that can be understood, and what follows it is not, either.
func (c *connection) refuse(status int) bool {
	r := &http.Request{Method: http.MethodGet, ProtoMajor: 1, ProtoMinor: 1, Close: true}
	w := newResponse(r, c.out)
	http.Error(w, http.StatusText(status), status)
	c.lingers = true
	return w.finish()
}

// answer has the handler answer a request.
func (c *connection) answer(r *http.Request) (again bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r = r.WithContext(ctx)
	r.RemoteAddr, r.TLS = c.RemoteAddr().String(), c.state
	w := newResponse(r, c.out)
	expected := r.Header.Get("Expect")
	body := &body{ReadCloser: r.Body, waits: strings.EqualFold(expected, "100-continue") && r.ProtoAtLeast(1, 1) && r.ContentLength != 0, w: w}
	r.Body = body
	if expected != "" && !strings.EqualFold(expected, "100-continue") {
		w.close = true
		w.WriteHeader(http.StatusExpectationFailed)
		return w.finish()
	}
	w.close = w.close || threadlet.Draining()
	w.unread = func() bool {
		c.lingers = body.waits || !body.discard(r.ContentLength, c.unread)
		return c.lingers
	}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p) // the loop reports it, and the connection ends
		}
	}()
	c.handler.ServeHTTP(w, r)
	return w.finish()
}

// body asks for itself when it is read, if the client waits for that.
type body struct {
	io.ReadCloser
	waits bool
	ended bool
	size  int64 // bytes that were read
	w     *response
}

func (b *body) Read(p []byte) (int, error) {
	if b.waits {
		b.waits = false
		if !b.w.sent {
			if err := b.w.proceed(); err != nil {
				return 0, err
			}
		}
	}
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// discard reads what is left of a body of so many bytes, -1 if nobody has said how many, and tells whether that was all.
func (b *body) discard(length, limit int64) bool {
	if !b.ended && length-b.size <= limit {
		_, _ = io.CopyN(io.Discard, b, limit+1)
	}
	return b.ended
}
