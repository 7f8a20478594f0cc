package main

// A connection: the handshake, then one request after the other, each with its deadlines.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

// limits bound what a client may use.
type limits struct {
	handshake, idle, header, request time.Duration // idle: to the next request; request: for body and response
	headerBytes                      int64         // of a request's line and header; the usual limit is net/http's
	linger                           time.Duration // for a client that still sends after the last response
	unread                           int64         // bytes that the handler left, read to reach the next request
}

var usual = limits{handshake: 5 * time.Second, idle: 2 * time.Minute, header: 10 * time.Second, request: time.Minute,
	headerBytes: 1<<20 + 4096, linger: time.Second, unread: 256 << 10}

// server serves connections. All loops use the same one, and it does not change.
type server struct {
	handler http.Handler
	tls     *tls.Config // nil without TLS
	limits
}

// connection is one client's connection.
type connection struct {
	*server
	net.Conn       // the TLS connection, if there is TLS
	left     int64 // bytes that may be read
	in       *bufio.Reader
	out      *bufio.Writer
	state    *tls.ConnectionState
	lingers  bool   // the client still sends: closing at once would lose the response
	last     string // the method of the last request
	over     bool   // no more is read, as the time is up or the server ends; what was read may be half a line
}

var errTooLarge = errors.New("the header is too large")

// Read reads at most the bytes left.
func (c *connection) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.over = errors.Is(err, threadlet.ErrDraining) || errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

func (s *server) serve(conn *threadlet.Conn) {
	c := &connection{server: s, Conn: conn}
	var tlsConn *secure.Conn
	if s.tls != nil {
		_ = conn.SetDeadline(time.Now().Add(s.handshake))
		tlsConn = secure.Server(conn, s.tls)
		if err := tlsConn.Handshake(); err != nil {
			tellPlain(err)
			return
		}
		defer tlsConn.Close()
		state := tlsConn.ConnectionState()
		c.Conn, c.state = tlsConn, &state
	}
	c.in, c.out = bufio.NewReader(c), bufio.NewWriter(c.Conn)
	for c.next() {
	}
	if c.lingers {
		_ = conn.SetDeadline(time.Now().Add(s.linger))
		if tlsConn != nil {
			_ = tlsConn.CloseWrite() // without its last record the response would seem to be cut off
		}
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	}
}

// tellPlain answers a client that speaks HTTP where TLS is spoken.
func tellPlain(err error) {
	var wrong tls.RecordHeaderError
	if !errors.As(err, &wrong) || wrong.Conn == nil {
		return
	}
	switch string(wrong.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		_, _ = io.WriteString(wrong.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
}

// next answers a request, and tells whether another one may follow.
func (c *connection) next() bool {
	if threadlet.Draining() {
		c.lingers = c.last != "" // what may have arrived is not read: closing at once would take back the last response
		return false
	}
	c.left = c.headerBytes
	_ = c.SetDeadline(time.Now().Add(c.idle))
	if _, err := c.in.Peek(1); err != nil {
		return false
	}
	_ = c.SetDeadline(time.Now().Add(c.header))
	if c.last != "" { // what ends within four bytes is no request: a client may append a line break to the one before
		begin, err := c.in.Peek(4)
		if err != nil {
			return false
		}
		if c.last == http.MethodPost {
			_, _ = c.in.Discard(len(begin) - len(bytes.TrimLeft(begin, "\r\n")))
		}
	}
	r, err := http.ReadRequest(c.in)
	switch {
	case err != nil && c.left <= 0:
		return c.refuse(http.StatusRequestHeaderFieldsTooLarge)
	case err == io.EOF, err != nil && c.over:
		return false
	case err != nil:
		return c.refuse(http.StatusBadRequest)
	case r.ProtoMajor != 1:
		return c.refuse(http.StatusHTTPVersionNotSupported)
	case r.Host == "" && r.ProtoAtLeast(1, 1) && r.Method != http.MethodConnect, !valid(r):
		return c.refuse(http.StatusBadRequest)
	}
	c.left, c.last = 1<<63-1, r.Method
	_ = c.SetDeadline(time.Now().Add(c.request))
	return c.answer(r)
}

// refuse answers bytes that are not a valid request. The connection ends: what follows them cannot be understood
// either.
func (c *connection) refuse(status int) bool {
	r := &http.Request{Method: http.MethodGet, ProtoMajor: 1, ProtoMinor: 1, Close: true}
	w := newResponse(r, c.out)
	http.Error(w, http.StatusText(status), status)
	c.lingers = true
	return w.finish()
}

// answer calls the handler, and tells whether another request may follow.
func (c *connection) answer(r *http.Request) (again bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	read := r
	r = r.WithContext(ctx)
	r.RemoteAddr, r.TLS = c.RemoteAddr().String(), c.state
	w := newResponse(r, c.out)
	expected := r.Header.Get("Expect") // the first one counts
	waits := listed([]string{expected}, "100-continue")
	if expected != "" && !waits {
		w.header.Set("Connection", "close")
		w.WriteHeader(http.StatusExpectationFailed)
		return w.finish()
	}
	body := &body{ReadCloser: r.Body, waits: waits && r.ProtoAtLeast(1, 1) && r.ContentLength != 0, w: w, read: read, r: r, limit: c.unread}
	body.expected = body.waits
	r.Body = body
	if read.Body == http.NoBody && threadlet.Draining() { // with a body: its next Read is not to end with ErrDraining
		w.close, c.lingers = true, true
	}
	w.unread = func() bool {
		if !body.expected && !body.closed {
			body.discard()
		}
		c.lingers = c.lingers || !body.ended
		return !body.ended
	}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p) // the loop reports it, and the connection ends
		}
	}()
	defer func() {
		if r.MultipartForm != nil {
			_ = r.MultipartForm.RemoveAll() // the files that it has written
		}
	}()
	if r.RequestURI == "*" && r.Method == http.MethodOptions {
		w.header.Set("Content-Length", "0") // about the server, and no page
	} else {
		c.handler.ServeHTTP(w, r)
	}
	return w.finish()
}

// body is a request's body. If the client waits for "100 Continue", the first Read sends it.
type body struct {
	io.ReadCloser
	waits    bool
	expected bool // waits, from the beginning: whether the client sends a body that nobody has read is not known
	closed   bool
	ended    bool
	size     int64 // bytes read so far
	limit    int64 // bytes that are read when the rest is discarded
	w        *response
	read, r  *http.Request // as read, which gets the trailers, and the handler's
}

func (b *body) Read(p []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
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
	if err == io.EOF {
		b.ended, b.r.Trailer = true, b.read.Trailer
	}
	return n, err
}

// Close discards the rest, unless it is too long, so that the next request can be read.
func (b *body) Close() error {
	if !b.waits && !b.closed {
		b.discard()
	}
	b.closed = true
	return nil
}

// discard reads the rest of the body up to the limit, or nothing if the rest is known to be longer.
func (b *body) discard() {
	if !b.ended && b.read.ContentLength-b.size < b.limit {
		_, _ = io.CopyN(io.Discard, b, b.limit+1)
	}
}
