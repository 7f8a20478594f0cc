package httploop

// A connection: the handshake, then one request after the other, each with its deadlines.

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

// conn is one client's connection. One threadlet at a time uses it.
type conn struct {
	net.Conn // raw, or TLS over it
	s        *Server
	raw      *threadlet.Conn
	state    *tls.ConnectionState // nil without TLS
	ctx      context.Context      // of all requests
	remote   string
	resume   func(*threadlet.Conn)

	in  *bufio.Reader // nil while the connection is idle
	out *bufio.Writer // likewise

	left     int64  // bytes that may be read
	head     []byte // what was read of a header whose field Host ReadRequest would not tell; see wholeURL
	heads    bool   // such a header is read
	between  bool   // nothing of the next request has arrived
	timed    bool   // a deadline is set
	over     bool   // no more is read, as the time is up or the server ends
	lingers  bool   // the client may still send: closing at once would lose the response
	hijacked bool
	last     string // the method of the last request
}

var errTooLarge = errors.New("httploop: the header is too large")

// Read reads at most the bytes left. The wait for a request's first byte ends when the loop is to end; a request that has begun
// is answered.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	if c.between {
		threadlet.Draining()
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); n > 0 {
		c.between = false
	}
	if c.heads {
		c.head = append(c.head, p[:n]...)
	}
	if errors.Is(err, threadlet.ErrDraining) {
		c.over, c.lingers = true, c.last != "" // a request may be under way: closing at once would take back the last response
	}
	c.over = c.over || errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

// Buffers are borrowed while a request is served.
var (
	readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}
	writers = sync.Pool{New: func() any { return bufio.NewWriter(nil) }}
)

func (c *conn) borrow() {
	c.in, c.out = readers.Get().(*bufio.Reader), writers.Get().(*bufio.Writer)
	c.in.Reset(c)
	c.out.Reset(c.Conn)
}

func (c *conn) giveBack() {
	c.in.Reset(nil)
	c.out.Reset(nil)
	readers.Put(c.in)
	writers.Put(c.out)
	c.in, c.out = nil, nil
}

func (s *Server) serve(ctx context.Context, raw *threadlet.Conn) {
	c := &conn{Conn: raw, s: s, raw: raw, remote: raw.RemoteAddr().String()}
	if s.TLSConfig != nil {
		c.deadline(net.Conn.SetDeadline, s.shakes())
		over := secure.Server(raw, s.TLSConfig)
		if err := over.Handshake(); err != nil {
			tellPlain(err)
			return
		}
		state := over.ConnectionState()
		c.Conn, c.state = over, &state
		c.deadline(net.Conn.SetDeadline, 0)
	}
	c.ctx = context.WithValue(ctx, http.LocalAddrContextKey, raw.LocalAddr())
	if s.ConnContext != nil {
		c.ctx = s.ConnContext(c.ctx, c.Conn)
	}
	c.resume = func(*threadlet.Conn) { c.run() }
	if !c.idles() {
		c.run()
	}
}

// run answers requests until the connection is idle, or ends.
func (c *conn) run() {
	ends := c.state != nil
	defer func() {
		if ends && !c.hijacked {
			_ = c.Conn.Close() // TLS tells the client
		}
	}()
	c.borrow()
	for c.next() {
		if c.in.Buffered() == 0 && c.idles() {
			c.giveBack()
			ends = false
			return
		}
	}
	if c.hijacked {
		return // whoever has it has the buffers, too
	}
	c.giveBack()
	if !c.lingers {
		return
	}
	_ = c.raw.SetDeadline(time.Now().Add(cmp.Or(c.s.lingers, time.Second)))
	if half, is := c.Conn.(interface{ CloseWrite() error }); is {
		_ = half.CloseWrite() // of TLS: without its last record the response would seem to be cut off
	}
	_ = c.raw.CloseWrite()
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{c.raw})
}

// idles lets the connection wait for its next request without a threadlet, and tells whether it does.
func (c *conn) idles() bool {
	c.deadline(net.Conn.SetReadDeadline, cmp.Or(c.s.IdleTimeout, c.s.ReadTimeout))
	if over, is := c.Conn.(*secure.Conn); is {
		return over.Idle(func(*secure.Conn) { c.run() }) == nil
	}
	return c.raw.Idle(c.resume) == nil
}

// deadline sets a deadline after d, or none.
func (c *conn) deadline(set func(net.Conn, time.Time) error, d time.Duration) {
	switch {
	case d > 0:
		_ = set(c.Conn, time.Now().Add(d))
		c.timed = true
	case c.timed:
		_ = set(c.Conn, time.Time{})
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
func (c *conn) next() bool {
	c.left = c.s.headerBytes()
	if c.between = c.in.Buffered() == 0; c.between {
		c.deadline(net.Conn.SetReadDeadline, cmp.Or(c.s.IdleTimeout, c.s.ReadTimeout))
	} else if threadlet.Current().Draining() {
		c.lingers = true
		return false
	}
	if _, err := c.in.Peek(1); err != nil {
		return false
	}
	began := time.Time{}
	if c.s.ReadTimeout > 0 {
		began = time.Now()
	}
	c.deadline(net.Conn.SetReadDeadline, cmp.Or(c.s.ReadHeaderTimeout, c.s.ReadTimeout))
	if c.last != "" { // what ends within four bytes is no request: a client may append a line break to the one before
		begin, err := c.in.Peek(4)
		if err != nil {
			return false
		}
		if c.last == http.MethodPost {
			_, _ = c.in.Discard(len(begin) - len(bytes.TrimLeft(begin, "\r\n")))
		}
	}
	if c.heads = wholeURL(c.in); c.heads {
		have, _ := c.in.Peek(c.in.Buffered())
		c.head = append([]byte(nil), have...)
	}
	r, err := http.ReadRequest(c.in)
	head := c.head
	c.heads, c.head = false, nil
	switch {
	case err != nil && c.left <= 0:
		return c.refuse(http.StatusRequestHeaderFieldsTooLarge)
	case err == io.EOF, err != nil && c.over:
		return false
	case err != nil:
		return c.refuse(http.StatusBadRequest)
	case r.ProtoMajor != 1:
		return c.refuse(http.StatusHTTPVersionNotSupported)
	case !valid(r), head == nil && !validHost(r, []string{r.Host}), head != nil && !validHost(r, hosts(head)):
		return c.refuse(http.StatusBadRequest)
	}
	c.left, c.last = 1<<63-1, r.Method
	if c.s.ReadTimeout > 0 {
		c.deadline(net.Conn.SetReadDeadline, max(1, time.Until(began.Add(c.s.ReadTimeout))))
	} else {
		c.deadline(net.Conn.SetReadDeadline, 0)
	}
	c.deadline(net.Conn.SetWriteDeadline, c.s.WriteTimeout)
	return c.answer(r)
}

// refuse answers bytes that are not a valid request. The connection ends: what follows them cannot be understood
// either.
func (c *conn) refuse(status int) bool {
	w := newResponse(c, &http.Request{Method: http.MethodGet, ProtoMajor: 1, ProtoMinor: 1, Close: true})
	http.Error(w, http.StatusText(status), status)
	c.lingers = true
	return w.finish()
}

// answer calls the handler, and tells whether another request may follow.
func (c *conn) answer(read *http.Request) (again bool) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	r := read.WithContext(ctx)
	r.RemoteAddr, r.TLS = c.remote, c.state
	w := newResponse(c, r)
	expected := r.Header.Get("Expect") // the first one counts
	waits := expected != "" && listed([]string{expected}, "100-continue")
	if expected != "" && !waits {
		c.lingers = true
		w.header.Set("Connection", "close")
		w.WriteHeader(http.StatusExpectationFailed)
		return w.finish()
	}
	if r.Body != http.NoBody {
		w.body = &body{ReadCloser: r.Body, waits: waits && r.ProtoAtLeast(1, 1) && r.ContentLength != 0, w: w, read: read, r: r}
		w.body.expected = w.body.waits
		r.Body = w.body
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
		c.s.handler().ServeHTTP(w, r)
	}
	return !c.hijacked && w.finish()
}

// unread is how many bytes of a body that its handler has left are read to reach the next request, as in net/http.
const unread = 256 << 10

// body is a request's body. If the client waits for "100 Continue", the first Read sends it.
type body struct {
	io.ReadCloser
	waits    bool
	expected bool // waits, from the beginning: whether the client sends a body that nobody has read is not known
	closed   bool
	ended    bool
	size     int64 // bytes read so far
	w        *response
	read, r  *http.Request // as read, which gets the trailers, and the handler's
}

func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.w.c.hijacked:
		return 0, http.ErrHijacked
	case b.waits:
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
	if !b.ended && b.read.ContentLength-b.size < unread {
		_, _ = io.CopyN(io.Discard, b, unread+1)
	}
}

// finish reads what the handler has left, and tells whether all of the body was read.
func (b *body) finish() bool {
	if !b.expected && !b.closed {
		b.discard()
	}
	return b.ended
}
