package main

// A response: as long as its end may come at once it is kept, and then it has a length; a longer one is sent in chunks.

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kept is how many bytes of a body wait for its end.
const kept = 2048

// response is an http.ResponseWriter and an http.Flusher.
type response struct {
	r      *http.Request
	out    *bufio.Writer
	header http.Header
	unread func() bool // tells whether a part of the request is left, after which there is no next one; nil for no

	status  int         // 0 until it is decided
	decided http.Header // as it was then
	body    []byte      // that waits
	size    int64       // bytes of the body
	length  int64       // that was announced; -1 if none was
	sent    bool        // the header
	chunked bool
	close   bool // the connection ends with this
	err     error
}

func newResponse(r *http.Request, out *bufio.Writer) *response {
	old := !r.ProtoAtLeast(1, 1)
	return &response{r: r, out: out, header: http.Header{}, length: -1, close: r.Close || old}
}

func (w *response) Header() http.Header { return w.header }

// WriteHeader decides about the status and the header. One of less than 200 is not sent.
func (w *response) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
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
	switch {
	case bodiless(w.status):
		return 0, http.ErrBodyNotAllowed
	case w.length >= 0 && w.size+int64(len(p)) > w.length:
		return 0, http.ErrContentLength
	}
	w.size += int64(len(p))
	if !w.sent && len(w.body)+len(p) <= kept {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	w.send(false, p)
	return len(p), w.err
}

// Flush sends what there is.
func (w *response) Flush() {
	w.WriteHeader(http.StatusOK)
	w.send(false, nil)
	w.keep(w.out.Flush())
}

// proceed tells the client to send the body.
func (w *response) proceed() error {
	w.write("HTTP/1.1 100 Continue\r\n\r\n")
	w.keep(w.out.Flush())
	return w.err
}

// finish sends what is left, and tells whether the connection can go on.
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

// send sends what has waited, and more of the body. The header goes before it, once.
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
	w.close = w.close || strings.EqualFold(h.Get("Connection"), "close")
	h.Del("Transfer-Encoding")
	switch {
	case bodiless(w.status):
		h.Del("Content-Length")
		w.length = -1
	case w.length >= 0:
	case final && (w.size > 0 || w.r.Method != http.MethodHead):
		h.Set("Content-Length", strconv.FormatInt(w.size, 10))
	case w.r.ProtoAtLeast(1, 1) && w.r.Method != http.MethodHead:
		w.chunked = true
		h.Set("Transfer-Encoding", "chunked")
	}
	if _, given := h["Content-Type"]; !given && w.size > 0 {
		h.Set("Content-Type", http.DetectContentType(slices.Concat(w.body, more[:min(len(more), 512)])))
	}
	if h.Get("Date") == "" {
		h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	if w.close {
		h.Set("Connection", "close")
	}
	text := http.StatusText(w.status)
	if text == "" {
		text = "status code " + strconv.Itoa(w.status)
	}
	w.write(fmt.Sprintf("HTTP/1.1 %03d %s\r\n", w.status, text))
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
