package modules

// Codecs for node:zlib.

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"iter"

	"github.com/dop251/goja"
)

// codec changes a stream of bytes, piece by piece. step takes a piece, and returns what is ready; flush is zlib's number, and
// finish says that the piece is the last. After close it is not used.
type codec interface {
	step(piece []byte, flush int) ([]byte, error)
	close()
}

const finish = 4 // zlib's number Z_FINISH

// codec makes a codec, as a function of a flush and a piece for zlib.js; the flush -1 closes it, and -2 begins anew.
func (p *Program) codec(call goja.FunctionCall) goja.Value {
	kind, level := call.Argument(0).String(), int(call.Argument(1).ToInteger())
	dict, short := bytes.Clone(bytesOf(call.Argument(2))), call.Argument(3).ToBoolean()
	limit := int64(-1)
	if l := call.Argument(4); !goja.IsUndefined(l) {
		limit = l.ToInteger()
	}
	makeCodec := func() codec {
		switch kind {
		case "gzip", "deflate", "deflateRaw":
			return newDeflater(kind, level, dict)
		}
		return newInflater(kind, dict, short, limit)
	}
	c := makeCodec()
	return p.host.Func(func(call goja.FunctionCall) goja.Value {
		flush := int(call.Argument(0).ToInteger())
		if flush < 0 {
			c.close()
			if flush == -2 {
				c = makeCodec()
			}
			return nil
		}
		out, err := c.step(bytesOf(call.Argument(1)), flush)
		if err == nil {
			return p.outcome(out, nil)
		}
		code, message := zlibError(err)
		return p.outcome(nil, &failure{Code: code, Message: message})
	})
}

// zlibError returns zlib's code and words for an error of Go's packages, as far as those tell them apart.
func zlibError(err error) (code, message string) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "Z_BUF_ERROR", "unexpected end of file"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		return "Z_DATA_ERROR", "incorrect header check"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		return "Z_DATA_ERROR", "incorrect data check"
	case errors.Is(err, zlib.ErrDictionary):
		return "Z_DATA_ERROR", "Bad dictionary"
	case errors.Is(err, errTooLarge):
		return "ERR_BUFFER_TOO_LARGE", err.Error()
	}
	return "Z_DATA_ERROR", "invalid deflate data"
}

type deflater struct {
	out bytes.Buffer
	w   interface {
		io.WriteCloser
		Flush() error
	}
}

func newDeflater(kind string, level int, dict []byte) *deflater {
	d := &deflater{}
	switch kind { // the level was checked, so there is no error
	case "gzip":
		w, _ := gzip.NewWriterLevel(&d.out, level)
		w.OS = 3 // Unix, as zlib says
		d.w = w
	case "deflate":
		d.w, _ = zlib.NewWriterLevelDict(&d.out, level, dict)
	default:
		d.w, _ = flate.NewWriterDict(&d.out, level, dict)
	}
	return d
}

func (d *deflater) step(piece []byte, flush int) ([]byte, error) {
	_, err := d.w.Write(piece)
	if flush == finish {
		err = errors.Join(err, d.w.Close())
	} else if flush > 0 {
		err = errors.Join(err, d.w.Flush())
	}
	out := bytes.Clone(d.out.Bytes())
	d.out.Reset()
	return out, err
}

func (d *deflater) close() {}

var (
	errClosed = errors.New("the codec is closed")
	//lint:ignore ST1005 scripts read the text of Node
	errTooLarge = errors.New("Cannot create a Buffer larger than the option maxOutputLength")
)

// inflater decompresses. Go's decompressors ask for their input, so they run as a coroutine, which gives way where the
// input is used up.
type inflater struct {
	in    []byte
	last  bool // no input follows in
	out   bytes.Buffer
	limit int64 // how many bytes may still come out; negative: any number
	err   error
	over  bool
	more  func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()
}

func newInflater(kind string, dict []byte, short bool, limit int64) *inflater {
	d := &inflater{limit: limit}
	d.next, d.stop = iter.Pull(func(yield func(struct{}) bool) {
		d.more = yield
		d.err = d.decode(kind, dict)
		if short && (errors.Is(d.err, io.ErrUnexpectedEOF) || errors.Is(d.err, io.EOF)) {
			d.err = nil
		}
	})
	return d
}

func (d *inflater) step(piece []byte, flush int) ([]byte, error) {
	d.in, d.last = append(d.in, piece...), flush == finish
	if !d.over {
		_, more := d.next()
		d.over = !more
	}
	out := bytes.Clone(d.out.Bytes())
	d.out.Reset()
	return out, d.err
}

func (d *inflater) close() { d.stop() }

// Read and ReadByte are for the decompressors, which read no more than they need since there is a ReadByte.
func (d *inflater) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := d.fill(); err != nil {
		return 0, err
	}
	n := copy(b, d.in)
	d.in = d.in[n:]
	return n, nil
}

func (d *inflater) ReadByte() (byte, error) {
	if err := d.fill(); err != nil {
		return 0, err
	}
	b := d.in[0]
	d.in = d.in[1:]
	return b, nil
}

// fill waits until there is input.
func (d *inflater) fill() error {
	for len(d.in) == 0 {
		if d.last {
			return io.EOF
		}
		if !d.more(struct{}{}) {
			return errClosed
		}
	}
	return nil
}

// Write takes what the decompressor puts out.
func (d *inflater) Write(b []byte) (int, error) {
	if d.limit >= 0 {
		if d.limit -= int64(len(b)); d.limit < 0 {
			return 0, errTooLarge
		}
	}
	return d.out.Write(b)
}

func (d *inflater) decode(kind string, dict []byte) error {
	if kind == "unzip" {
		if err := d.fill(); err != nil {
			return err
		}
		if kind = "inflate"; d.in[0] == 0x1f {
			kind = "gunzip"
		}
	}
	switch kind {
	case "inflateRaw":
		_, err := io.Copy(d, flate.NewReaderDict(d, dict))
		return err
	case "inflate":
		r, err := zlib.NewReaderDict(d, dict)
		if err == nil {
			_, err = io.Copy(d, r)
		}
		return err
	}
	// Several members may follow one another, and zeros behind the last.
	for {
		for len(d.in) < 2 && !d.last && d.more(struct{}{}) {
		}
		if len(d.in) > 0 && d.in[0] != 0x1f || len(d.in) > 1 && d.in[1] != 0x8b {
			return gzip.ErrHeader
		}
		r, err := gzip.NewReader(d)
		if err != nil {
			return err
		}
		r.Multistream(false)
		if _, err = io.Copy(d, r); err != nil {
			return err
		}
		if err = d.fill(); err == io.EOF || err == nil && d.in[0] == 0 {
			return nil
		} else if err != nil {
			return err
		}
	}
}
