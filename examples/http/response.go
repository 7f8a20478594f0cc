package main

// A response. A short body is kept until its end, and is sent with its length; a longer one is sent in chunks.

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// kept is how many bytes of a body are kept.
const kept = 2048

// response implements http.ResponseWriter and http.Flusher.
type response struct {
	r      *http.Request
	out    *bufio.Writer
	header http.Header
	unread func() bool // tells whether a part of the request is left, so that no other can follow; nil: no

	status  int         // 0 until WriteHeader
	decided http.Header // the header at that time
	body    []byte      // kept, not sent yet
	size    int64       // bytes written by the handler
	length  int64       // announced by the handler; -1 if not
	sent    bool        // the header was sent
	chunked bool
	close   bool // the connection ends after this response
	stays   bool // an HTTP/1.0 client asks that it does not
	err     error
}

func newResponse(r *http.Request, out *bufio.Writer) *response {
	stays := !r.ProtoAtLeast(1, 1) && listed([]string{r.Header.Get("Connection")}, "keep-alive") // of several fields the first counts
	ends := r.Close || listed(r.Header["Connection"], "close")                                   // r.Close knows commas only
	return &response{r: r, out: out, header: http.Header{}, length: -1, close: (ends || !r.ProtoAtLeast(1, 1)) && !stays, stays: stays}
}

func (w *response) Header() http.Header { return w.header }

// WriteHeader fixes the status and the header. A status from 102 to 199 is sent at once, and another one follows; 100
// and 101 are ignored: the server itself says 100, and does not change the protocol.
func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid status %d", status))
	}
	if status < 200 {
		if status > 101 {
			h := w.header.Clone()
			h.Del("Content-Length") // of the response that follows
			h.Del("Transfer-Encoding")
			w.begin(status, h)
			w.keep(w.out.Flush())
		}
		return
	}
	w.status, w.decided = status, w.header.Clone()
	if given := w.decided.Get("Content-Length"); given != "" {
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil || n < 0 {
			w.decided.Del("Content-Length")
		} else {
			w.length = n
		}
	}
}

// bodiless tells whether a status has no body.
func bodiless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if bodiless(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	w.size += int64(len(p)) // also if it is too much: the connection ends then
	if w.length >= 0 && w.size > w.length {
		return 0, http.ErrContentLength
	}
	if !w.sent && len(w.body)+len(p) <= kept {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	w.send(false, p)
	return len(p), w.err
}

// Flush sends the header and the body so far.
func (w *response) Flush() {
	w.WriteHeader(http.StatusOK)
	w.send(false, nil)
	w.keep(w.out.Flush())
}

// EnableFullDuplex is for http.ResponseController. It is always so.
func (w *response) EnableFullDuplex() error { return nil }

// proceed tells the client to send the body.
func (w *response) proceed() error {
	w.write("HTTP/1.1 100 Continue\r\n\r\n")
	w.keep(w.out.Flush())
	return w.err
}

// finish sends the rest, and tells whether another request may follow.
func (w *response) finish() bool {
	w.WriteHeader(http.StatusOK)
	if w.unread != nil && w.unread() {
		w.close = true
	}
	w.send(true, nil)
	if w.chunked {
		w.write("0\r\n\r\n")
	}
	w.keep(w.out.Flush())
	whole := w.length < 0 || w.size == w.length || w.r.Method == http.MethodHead || bodiless(w.status)
	return !w.close && whole && w.err == nil
}

// send sends the header, once, then the kept bytes and more.
func (w *response) send(final bool, more []byte) {
	if !w.sent {
		w.sent = true
		w.sendHeader(final, more)
	}
	if w.r.Method != http.MethodHead {
		w.piece(w.body)
		w.piece(more)
	}
	w.body = nil
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
	h.Del("Transfer-Encoding")
	known := true // where the response ends
	switch {
	case bodiless(w.status):
		h.Del("Content-Length")
		w.length = -1
	case w.length >= 0:
	case final && (w.size > 0 || w.r.Method != http.MethodHead):
		h.Set("Content-Length", strconv.FormatInt(w.size, 10))
	case w.r.Method == http.MethodHead:
	case w.r.ProtoAtLeast(1, 1):
		w.chunked = true
		h.Set("Transfer-Encoding", "chunked")
	default:
		known = false
	}
	if begin := slices.Concat(w.body, more[:min(len(more), 512)]); len(begin) > 0 && !given(h, "Content-Type") && h.Get("Content-Encoding") == "" {
		h.Set("Content-Type", http.DetectContentType(begin))
	}
	if !given(h, "Date") {
		h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	switch w.close = w.close || !known || listed(h["Connection"], "close"); {
	case w.close && w.r.ProtoAtLeast(1, 1):
		h.Set("Connection", "close")
	case w.close && !listed(h["Connection"], "close"):
		h.Del("Connection")
	case w.stays && !given(h, "Connection"):
		h.Set("Connection", "keep-alive")
	}
	w.begin(w.status, h)
}

// given tells whether the handler has set a field. It may have set it to nil, so that there is none.
func given(h http.Header, name string) bool {
	_, is := h[name]
	return is
}

// begin writes a status and a header.
func (w *response) begin(status int, h http.Header) {
	text := http.StatusText(status)
	if text == "" {
		text = "status code " + strconv.Itoa(status)
	}
	w.write(fmt.Sprintf("HTTP/1.%d %d %s\r\n", min(w.r.ProtoMinor, 1), status, text))
	w.keep(h.Write(w.out))
	w.write("\r\n")
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
