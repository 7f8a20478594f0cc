package resp

// Requests: arrays of bulk strings, and lines of words.

import (
	"bytes"
	"fmt"
	"io"
	"math"
)

// The limits of a request. A Reader allocates memory for the bytes that have arrived, not for an announced length.
const (
	MaxBulk    = 512 << 20 // bytes of an argument
	MaxRequest = 1 << 30   // bytes of a request
	MaxArgs    = 1 << 20   // arguments of a request
	MaxLine    = 64 << 10  // bytes of a line

	minBuffer  = 8 << 10
	keptBuffer = 64 << 10
	keptArgs   = 1 << 10
)

// ProtocolError says what is wrong with a request. Nothing behind that request can be read either.
type ProtocolError string

func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

// Reader reads requests. It calls its source's Read only when it has no complete request. So a server may send its
// pending replies in that Read, before it waits.
type Reader struct {
	// Recorded tells that the requests are what a server has recorded of those that it has accepted. This may be longer than
	// they were, so MaxRequest and MaxArgs do not hold; and it is arrays only, so anything else is no beginning of a request.
	Recorded bool

	src  io.Reader
	buf  []byte
	base int64 // the offset in the stream at which buf begins

	begin, at, end int    // indices in buf: the begin of the request, the next byte to read, the end of the arrived bytes
	spans          []span // the arguments of the request, counted from begin, as buf moves when it grows
	args           [][]byte
}

type span struct{ from, to int }

// NewReader returns a Reader that reads from src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Buffered returns the number of bytes that have arrived behind the last returned request.
func (r *Reader) Buffered() int { return r.end - r.at }

// Offset returns the offset in the stream at which the last returned request ends.
func (r *Reader) Offset() int64 { return r.base + int64(r.at) }

// Request returns the words of the next request, at least one. They are valid until the next call. At the end of the
// stream it returns io.EOF, in the middle of a request io.ErrUnexpectedEOF. Other errors are the source's, or a
// ProtocolError.
func (r *Reader) Request() ([][]byte, error) {
	for {
		r.release()
		n, ok := r.length('*')
		if !ok {
			line, err := r.line("too big inline request")
			if r.Recorded && r.begin < r.end && r.buf[r.begin] != '*' {
				return nil, ProtocolError("expected '*'")
			}
			if err != nil {
				return nil, err
			}
			if len(line) == 0 || line[0] != '*' {
				words, ok := split(bytes.TrimSuffix(line, []byte{'\r'}))
				if !ok {
					return nil, ProtocolError("unbalanced quotes in request")
				}
				if len(words) > 0 {
					return words, nil
				}
				continue
			}
			n, ok = number(line)
			if !ok || n > MaxArgs && !r.Recorded {
				return nil, ProtocolError("invalid multibulk length")
			}
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

// More reads more bytes, which Request will find; the words that it has returned are no longer valid.
func (r *Reader) More() error {
	r.release()
	return r.fill()
}

// bulk reads an argument.
func (r *Reader) bulk() error {
	n, ok := r.length('$')
	if !ok {
		line, err := r.line("too big bulk count string")
		if err != nil {
			return err
		}
		if len(line) == 0 || line[0] != '$' {
			return ProtocolError(fmt.Sprintf("expected '$', got '%s'", line[:1])) // of an empty line that is its \n, which stands behind it
		}
		n, ok = number(line)
		if !ok || n < 0 || n > MaxBulk {
			return ProtocolError("invalid bulk length")
		}
	}
	size := int(n)
	if r.at-r.begin+size > MaxRequest && !r.Recorded {
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

// length reads a whole line that has arrived: the length of an array or a bulk, with so few digits that it is within the
// limits. This is quicker than line and number, which are for everything else: if ok is false, nothing has been read.
func (r *Reader) length(kind byte) (n int64, ok bool) {
	const most = 6 // digits; MaxArgs and MaxBulk have more
	b := r.buf[r.at:r.end]
	if len(b) == 0 || b[0] != kind {
		return 0, false
	}
	b = b[1:min(len(b), 1+most+len("\r\n"))]
	for i, c := range b {
		if c -= '0'; c <= 9 {
			n = 10*n + int64(c)
			continue
		}
		ok = i > 0 && i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n' && (b[0] != '0' || i == 1)
		if ok {
			r.at += 1 + i + len("\r\n")
		}
		break
	}
	return n, ok
}

// number reads the line of a length, which ends in \r, behind its first byte.
func number(line []byte) (n int64, ok bool) {
	last := len(line) - 1
	if last == 0 || line[last] != '\r' {
		return 0, false
	}
	return ParseInt(line[1:last])
}

// line returns the next line without the \n at its end; tooLong is what is wrong with a longer one. The line is valid
// until the next fill.
func (r *Reader) line(tooLong ProtocolError) ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(r.buf[r.at+seen:r.end], '\n'); i >= 0 {
			line := r.buf[r.at : r.at+seen+i]
			r.at += seen + i + 1
			return line, nil
		}
		if seen = r.end - r.at; seen > MaxLine {
			if r.buf[r.at] == '*' && r.at == r.begin {
				tooLong = "too big mbulk count string"
			}
			return nil, tooLong
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// release forgets the last request, and frees the memory that it needed beyond the usual.
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

// fill reads more bytes, and makes room for them if there is none.
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

// ParseInt reads a number as Redis does: a decimal number without a plus sign, without leading zeros, and without any
// other text.
func ParseInt(b []byte) (n int64, ok bool) {
	const mostDigits = 19 // those of math.MaxInt64, and so many always fit in a uint64
	digits, most := b, uint64(math.MaxInt64)
	if len(b) > 0 && b[0] == '-' {
		digits, most = b[1:], most+1
	}
	if len(digits) == 0 || len(digits) > mostDigits || digits[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var size uint64
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		size = 10*size + uint64(c)
	}
	if len(digits) < len(b) {
		return int64(-size), size <= most
	}
	return int64(size), size <= most
}
