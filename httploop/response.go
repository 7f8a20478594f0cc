package httploop

// A response. A short body is kept until its end, and is sent with its length; a longer one is sent in chunks.

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// kept is how many bytes of a body are kept.
const kept = 2048

// response implements http.ResponseWriter, http.Flusher, http.Hijacker and what http.ResponseController asks for.
type response struct {
	c      *conn
	r      *http.Request
	out    *bufio.Writer
	header http.Header
	body   *body // of the request; nil for none

	status   int         // 0 until WriteHeader
	decided  http.Header // the header at that time, if the handler has asked for it since
	begun    []byte      // kept, not sent yet
	size     int64       // bytes written by the handler
	length   int64       // announced by the handler; -1 if not
	trailers []string    // announced by the handler
	sent     bool        // the header was sent
	chunked  bool
	close    bool // the connection ends after this response
	stays    bool // an HTTP/1.0 client asks that it does not
	err      error
}

func newResponse(c *conn, r *http.Request) *response {
	w := &response{c: c, r: r, out: c.out, header: http.Header{}, length: -1}
	fields, given := r.Header["Connection"]
	if !r.ProtoAtLeast(1, 1) {
		w.stays = given && listed(fields[:1], "keep-alive") // of several fields the first counts
	}
	ends := r.Close || given && listed(fields, "close") // r.Close knows commas only
	w.close = (ends || !r.ProtoAtLeast(1, 1)) && !w.stays
	return w
}

// Header returns the header that will be sent. What the handler changes after WriteHeader is for trailers.
func (w *response) Header() http.Header {
	if w.status != 0 && !w.sent && w.decided == nil {
		w.decided = w.header.Clone()
	}
	return w.header
}

// WriteHeader fixes the status and the header. A status from 102 to 199 is sent at once, and another one follows; 100 is
// ignored, since the server itself says it. Behind 101 the handler hijacks the connection.
func (w *response) WriteHeader(status int) {
	if w.status != 0 || w.c.hijacked {
		return
	}
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid status %d", status))
	}
	if status < 200 && status != http.StatusSwitchingProtocols {
		if status > 100 {
			w.begin(status)
			w.keep(w.header.WriteSubset(w.out, map[string]bool{"Content-Length": true, "Transfer-Encoding": true})) // of what follows
			w.write("\r\n")
			w.keep(w.out.Flush())
		}
		return
	}
	w.status = status
	if given := w.header.Get("Content-Length"); given != "" {
		if n, err := strconv.ParseInt(given, 10, 64); err == nil && n >= 0 {
			w.length = n
		}
	}
}

// bodiless tells whether a status has no body.
func bodiless(status int) bool {
	return status == http.StatusSwitchingProtocols || status == http.StatusNoContent || status == http.StatusNotModified
}

func (w *response) Write(p []byte) (int, error) { return writeAny(w, p) }

// WriteString is Write.
func (w *response) WriteString(s string) (int, error) { return writeAny(w, s) }

func writeAny[T []byte | string](w *response, p T) (int, error) {
	if w.c.hijacked {
		return 0, http.ErrHijacked
	}
	w.WriteHeader(http.StatusOK)
	if bodiless(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	w.size += int64(len(p)) // also if it is too much: the connection ends then
	if w.length >= 0 && w.size > w.length {
		return 0, http.ErrContentLength
	}
	if !w.sent && len(w.begun)+len(p) <= kept {
		w.begun = append(w.begun, p...)
		return len(p), nil
	}
	w.send(false, []byte(p))
	return len(p), w.err
}

// copies are buffers of ReadFrom.
var copies = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// ReadFrom is for io.Copy, which would make a buffer.
func (w *response) ReadFrom(r io.Reader) (int64, error) {
	b := copies.Get().(*[32 << 10]byte)
	defer copies.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{w}, r, b[:])
}

// Flush sends the header and the body so far.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError is Flush with its error.
func (w *response) FlushError() error {
	if w.c.hijacked {
		return http.ErrHijacked
	}
	w.WriteHeader(http.StatusOK)
	w.send(false, nil)
	w.keep(w.out.Flush())
	return w.err
}

// EnableFullDuplex is for http.ResponseController. It is always so.
func (w *response) EnableFullDuplex() error { return nil }

// SetReadDeadline is for http.ResponseController.
func (w *response) SetReadDeadline(at time.Time) error {
	w.c.timed = true
	return w.c.SetReadDeadline(at)
}

// SetWriteDeadline is for http.ResponseController.
func (w *response) SetWriteDeadline(at time.Time) error {
	w.c.timed = true
	return w.c.SetWriteDeadline(at)
}

// Hijack lets the handler have the connection, behind what it has written. Any goroutine may use what Hijack returns, as a
// connection from threadlet.Shared; the handler's threadlet is not to wait for such a goroutine otherwise than as threadlets do.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c := w.c
	switch {
	case c.hijacked:
		return nil, nil, http.ErrHijacked
	case w.status != 0:
		_ = w.FlushError() // the handler finds w.err
	}
	c.hijacked = true
	c.deadline(net.Conn.SetDeadline, 0)
	c.Conn = threadlet.Shared(c.Conn)
	c.out.Reset(c.Conn)
	return c.Conn, bufio.NewReadWriter(c.in, c.out), w.err
}

// proceed tells the client to send the body.
func (w *response) proceed() error {
	w.write("HTTP/1.1 100 Continue\r\n\r\n")
	w.keep(w.out.Flush())
	return w.err
}

// finish sends the rest, and tells whether another request may follow.
func (w *response) finish() bool {
	w.WriteHeader(http.StatusOK)
	if w.body != nil && !w.body.finish() {
		w.close, w.c.lingers = true, true
	}
	w.send(true, nil)
	if w.chunked {
		w.write("0\r\n")
		w.sendTrailers()
		w.write("\r\n")
	}
	w.keep(w.out.Flush())
	whole := w.length < 0 || w.size == w.length || w.r.Method == http.MethodHead || bodiless(w.status)
	return !w.close && whole && w.err == nil
}

// sendTrailers sends the fields that were announced, and those whose names say that they are trailers.
func (w *response) sendTrailers() {
	last := http.Header{}
	for name, values := range w.header {
		if trailer, is := strings.CutPrefix(name, http.TrailerPrefix); is {
			last[trailer] = values
		}
	}
	for _, name := range w.trailers {
		for _, v := range w.header[name] {
			last.Add(name, v)
		}
	}
	w.keep(last.Write(w.out))
}

// send sends the header, once, then the kept bytes and more.
func (w *response) send(final bool, more []byte) {
	if !w.sent {
		w.sendHeader(final, more)
		w.sent = true
	}
	if w.r.Method != http.MethodHead {
		w.piece(w.begun)
		w.piece(more)
	}
	w.begun = nil
}

func (w *response) piece(p []byte) {
	if len(p) == 0 {
		return
	}
	if w.chunked {
		w.write(strconv.FormatInt(int64(len(p)), 16) + "\r\n")
	}
	_, err := w.out.Write(p)
	w.keep(err)
	if w.chunked {
		w.write("\r\n")
	}
}

func (w *response) sendHeader(final bool, more []byte) {
	h := w.decided
	if h == nil {
		h = w.header
	}
	var without map[string]bool // fields of the handler that are not sent, or not here
	drop := func(name string) {
		if without == nil {
			without = map[string]bool{}
		}
		without[name] = true
	}
	announces := false
	for name, values := range h {
		switch {
		case name == "Transfer-Encoding", name == "Content-Length":
			drop(name)
		case name == "Trailer":
			announces = true
			w.announce(values)
		case strings.HasPrefix(name, http.TrailerPrefix):
			announces = true
			drop(name)
		}
	}
	length := int64(-1)
	known := true // where the response ends
	switch {
	case bodiless(w.status):
		w.length = -1
	case w.length >= 0:
		length = w.length
	case final && !announces && (w.size > 0 || w.r.Method != http.MethodHead):
		length = w.size
	case w.r.Method == http.MethodHead:
	case w.r.ProtoAtLeast(1, 1):
		w.chunked = true
	default:
		known = false
	}
	connection := h["Connection"]
	closes := len(connection) > 0 && listed(connection, "close")
	if w.close = w.close || !known || closes; !w.close && w.status != http.StatusSwitchingProtocols && threadlet.Current().Draining() {
		w.close, w.c.lingers = true, true // another request may be under way
	}
	says := ""
	switch {
	case w.close && w.r.ProtoAtLeast(1, 1):
		says = "Connection: close\r\n"
		drop("Connection")
	case w.close && !closes:
		drop("Connection")
	case w.stays && !given(h, "Connection"):
		says = "Connection: keep-alive\r\n"
	}
	w.begin(w.status)
	w.keep(h.WriteSubset(w.out, without))
	w.write(says)
	if w.chunked {
		w.write("Transfer-Encoding: chunked\r\n")
	}
	if length >= 0 {
		w.write("Content-Length: ")
		w.number(length)
	}
	if begin := w.beginning(more); len(begin) > 0 && !given(h, "Content-Type") && h.Get("Content-Encoding") == "" {
		w.write("Content-Type: ")
		w.write(http.DetectContentType(begin))
		w.write("\r\n")
	}
	if !given(h, "Date") {
		w.write("Date: ")
		_, err := w.out.Write(time.Now().UTC().AppendFormat(w.out.AvailableBuffer(), http.TimeFormat))
		w.keep(err)
		w.write("\r\n")
	}
	w.write("\r\n")
}

// beginning returns the bytes by which the type of the body is found out.
func (w *response) beginning(more []byte) []byte {
	if len(more) == 0 {
		return w.begun
	}
	return slices.Concat(w.begun, more[:min(len(more), 512)])
}

// announce notes the trailers that the handler has announced, but for fields that say how a message is to be read.
func (w *response) announce(values []string) {
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			switch name {
			case "", "Transfer-Encoding", "Content-Length", "Trailer":
			default:
				w.trailers = append(w.trailers, name)
			}
		}
	}
}

// given tells whether the handler has set a field. It may have set it to nil, so that there is none.
func given(h http.Header, name string) bool {
	_, is := h[name]
	return is
}

// begin writes a status.
func (w *response) begin(status int) {
	w.write([]string{"HTTP/1.0 ", "HTTP/1.1 "}[min(w.r.ProtoMinor, 1)])
	text := http.StatusText(status)
	if text == "" {
		text = "status code " + strconv.Itoa(status)
	}
	_, err := w.out.Write(strconv.AppendInt(w.out.AvailableBuffer(), int64(status), 10))
	w.keep(err)
	w.write(" ")
	w.write(text)
	w.write("\r\n")
}

func (w *response) number(n int64) {
	_, err := w.out.Write(append(strconv.AppendInt(w.out.AvailableBuffer(), n, 10), "\r\n"...))
	w.keep(err)
}

func (w *response) write(s string) {
	_, err := io.WriteString(w.out, s)
	w.keep(err)
}

// keep keeps the first error, after which the connection ends.
func (w *response) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}
