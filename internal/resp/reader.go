package resp

// Requests: arrays of bulk strings, and lines of words.

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// What a request may have. Memory is not taken for what is announced, but for what has arrived.
const (
	MaxBulk    = 512 << 20 // bytes of an argument
	MaxRequest = 1 << 30   // bytes of a request
	MaxArgs    = 1 << 20   // arguments of a request
	MaxLine    = 64 << 10  // bytes of a line

	minBuffer  = 8 << 10
	keptBuffer = 64 << 10
	keptArgs   = 1 << 10
)

// ProtocolError says what is wrong with a request. What follows it cannot be understood either.
type ProtocolError string

func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

// Reader reads requests. It asks its source only when it has no complete request, so who has to be answered before that
// may wait can be answered in the source's Read.
type Reader struct {
	src  io.Reader
	buf  []byte
	base int64 // where in the stream buf begins

	begin, at, end int    // of buf: the request begins, is read up to here, and has arrived up to there
	spans          []span // its arguments, counted from begin: buf moves as it grows
	args           [][]byte
}

type span struct{ from, to int }

// NewReader returns a Reader of what src brings.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Buffered returns how many bytes have arrived that are of no request that was returned.
func (r *Reader) Buffered() int { return r.end - r.at }

// Offset returns where in the stream the last request ends that was returned.
func (r *Reader) Offset() int64 { return r.base + int64(r.at) }

// Request returns the words of the next request, at least one. They are the caller's until it calls again. At the end it
// returns io.EOF, and in the middle of a request io.ErrUnexpectedEOF; otherwise the source's error, or a ProtocolError.
func (r *Reader) Request() ([][]byte, error) {
	for {
		r.release()
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 || line[0] != '*' {
			words, ok := split(line)
			if !ok {
				return nil, ProtocolError("unbalanced quotes in request")
			}
			if len(words) > 0 {
				return words, nil
			}
			continue
		}
		n, ok := ParseInt(line[1:])
		if !ok || n > MaxArgs {
			return nil, ProtocolError("invalid multibulk length")
		}
		if n <= 0 {
			continue
		}
		for range n {
			if err := r.bulk(); err != nil {
				return nil, err
			}
		}
		for _, s := range r.spans {
			r.args = append(r.args, r.buf[r.begin+s.from:r.begin+s.to:r.begin+s.to])
		}
		return r.args, nil
	}
}

// bulk reads an argument.
func (r *Reader) bulk() error {
	line, err := r.line()
	if err != nil {
		return err
	}
	if len(line) == 0 || line[0] != '$' {
		return ProtocolError(fmt.Sprintf("expected '$', got %q", line[:min(1, len(line))]))
	}
	n, ok := ParseInt(line[1:])
	if !ok || n < 0 || n > MaxBulk {
		return ProtocolError("invalid bulk length")
	}
	size := int(n)
	if r.at-r.begin+size > MaxRequest {
		return ProtocolError("too big request")
	}
	for r.end-r.at < size+2 {
		if err := r.fill(); err != nil {
			return err
		}
	}
	if r.buf[r.at+size] != '\r' || r.buf[r.at+size+1] != '\n' {
		return ProtocolError("expected the end of a line after a bulk")
	}
	from := r.at - r.begin
	r.spans = append(r.spans, span{from, from + size})
	r.at += size + 2
	return nil
}

// line returns a line without its end. It is good until the next fill.
func (r *Reader) line() ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(r.buf[r.at+seen:r.end], '\n'); i >= 0 {
			line := r.buf[r.at : r.at+seen+i]
			r.at += seen + i + 1
			return bytes.TrimSuffix(line, []byte{'\r'}), nil
		}
		if seen = r.end - r.at; seen > MaxLine {
			return nil, ProtocolError("too big inline request")
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// release gives up the last request, and what it has needed beyond the usual.
func (r *Reader) release() {
	r.begin = r.at
	r.spans, r.args = r.spans[:0], r.args[:0]
	if cap(r.spans) > keptArgs {
		r.spans, r.args = nil, nil
	}
	if r.begin == r.end {
		r.base += int64(r.begin)
		r.begin, r.at, r.end = 0, 0, 0
		if len(r.buf) > keptBuffer {
			r.buf = nil
		}
	}
}

// fill reads more, and makes room for it if there is none.
func (r *Reader) fill() error {
	if r.end == len(r.buf) {
		into := r.buf
		if r.begin == 0 {
			into = make([]byte, max(minBuffer, 2*len(r.buf)))
		}
		copy(into, r.buf[r.begin:r.end])
		r.buf = into
		r.base += int64(r.begin)
		r.begin, r.at, r.end = 0, r.at-r.begin, r.end-r.begin
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	case err == io.EOF && r.end > r.begin:
		return io.ErrUnexpectedEOF
	}
	return err
}

// ParseInt reads a number as Redis does: nothing before it, nothing behind it, and no zeros that say nothing.
func ParseInt(b []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(b, []byte{'-'})
	if len(digits) == 0 || digits[0] == '+' || digits[0] == '-' || digits[0] == '0' && len(b) > 1 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}
