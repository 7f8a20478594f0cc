package gojaloop

// The requests of fetch, over net/http.

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"github.com/andybalholm/brotli"
	"github.com/dop251/goja"
)

// exchange is a request and its response. It belongs to the functions that the script has: when they are garbage, the
// connection is released.
type exchange struct {
	host   *Host
	ctx    context.Context
	cancel context.CancelFunc
	body   io.ReadCloser // the response's; used by one worker at a time
}

// redirects is how many redirects a request follows at most.
const redirects = 20

var (
	errRedirect  = errors.New("unexpected redirect")
	errRedirects = errors.New("redirect count exceeded")
	errStream    = errors.New("a redirect would need the body, a stream, once more")
	errScheme    = errors.New("a redirect leads to another scheme than http and https")
)

// request begins a request. Its arguments are a method, a URL, the header's pairs of name and value, a body or null,
// what to do about redirects, and whether the body was a stream. It returns an object with response (a promise of the response), read (reads a chunk
// of the body) and abort (ends the request and the response).
func (h *Host) request(call goja.FunctionCall) goja.Value {
	x := &exchange{host: h}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	var body []byte
	has := false
	if b, ok := bytesOf(call.Argument(3)); ok {
		body, has = append([]byte(nil), b...), true // a copy: the script may change its own
	}
	method, target, mode := call.Argument(0).String(), call.Argument(1).String(), call.Argument(4).String()
	header := http.Header{}
	var pairs [][]string
	if err := h.vm.ExportTo(call.Argument(2), &pairs); err != nil {
		panic(err)
	}
	for _, p := range pairs {
		header.Add(p[0], latin1(p[1]))
	}
	client := *h.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	streamed := call.Argument(5).ToBoolean()
	fetch := func(ctx context.Context) (result func(*goja.Runtime) (goja.Value, error), err error) {
		defer context.AfterFunc(ctx, x.cancel)()
		for n := 0; ; n++ {
			var reader io.Reader
			if has {
				reader = bytes.NewReader(body)
			}
			r, err := http.NewRequestWithContext(x.ctx, method, target, reader)
			if err != nil {
				return nil, err
			}
			r.Header, r.Host = header, header.Get("Host")
			response, err := client.Do(r)
			if err != nil {
				return nil, err
			}
			to, err := redirected(response, mode)
			switch {
			case err == nil && to == nil:
				x.body = decoded(response)
				return func(vm *goja.Runtime) (goja.Value, error) { return x.describe(response, n > 0), nil }, nil
			case err == nil && n == redirects:
				err = errRedirects
			case err == nil && streamed && response.StatusCode != http.StatusSeeOther:
				err = errStream
			}
			_ = response.Body.Close()
			if err != nil {
				return nil, err
			}
			header = header.Clone()
			if s := response.StatusCode; s == 303 && method != "GET" && method != "HEAD" || s <= 302 && method == "POST" {
				method, has = "GET", false
				for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Location", "Content-Type", "Content-Length"} {
					header.Del(name)
				}
			}
			if from := r.URL; to.Scheme != from.Scheme || to.Host != from.Host {
				for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "Host"} {
					header.Del(name)
				}
			}
			target = to.String()
		}
	}
	o := h.vm.NewObject()
	abort := x.cancel
	_ = o.Set("abort", func() { abort() })
	_ = o.Set("read", func() goja.Value { return h.worker(x.read) })
	runtime.AddCleanup(o, func(cancel context.CancelFunc) { cancel() }, x.cancel)
	_ = o.Set("response", h.worker(fetch))
	return o
}

// redirected returns where a response redirects its request, nil if it is to be taken as it is.
func redirected(r *http.Response, mode string) (*url.URL, error) {
	switch r.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return nil, nil
	}
	location := r.Header.Get("Location")
	switch {
	case mode == "error":
		return nil, errRedirect
	case mode == "manual" || location == "":
		return nil, nil
	}
	to, err := r.Request.URL.Parse(location)
	if err != nil {
		return nil, err
	}
	if to.Scheme != "http" && to.Scheme != "https" {
		return nil, errScheme
	}
	if to.Fragment == "" {
		to.Fragment = r.Request.URL.Fragment
	}
	return to, nil
}

// decoded returns the body of a response without the codings that its header names; as it is if one of them is unknown.
func decoded(r *http.Response) io.ReadCloser {
	codings := strings.Split(strings.ToLower(strings.Join(r.Header.Values("Content-Encoding"), ",")), ",")
	d := &plainBody{Reader: r.Body, body: r.Body}
	for i := len(codings) - 1; i >= 0; i-- {
		coding := strings.TrimSpace(codings[i])
		if open := openers[coding]; open != nil {
			d.Reader = &lazy{from: d.Reader, open: open}
		} else if coding != "" {
			return r.Body
		}
	}
	return d
}

// openers make readers that undo a coding.
var openers = map[string]func(*bufio.Reader) (io.Reader, error){
	"gzip":   func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip": func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"br":     func(r *bufio.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	"deflate": func(r *bufio.Reader) (io.Reader, error) { // servers send it without zlib's header too
		if first, err := r.Peek(1); err == nil && first[0]&0x0f == 8 {
			return zlib.NewReader(r)
		}
		return flate.NewReader(r), nil
	},
}

// plainBody reads from the outermost of the readers that decode a body.
type plainBody struct {
	io.Reader
	body io.Closer
}

func (d *plainBody) Close() error { return d.body.Close() }

// lazy is a reader that is made of another one when it is first read. An empty body stays empty, whatever its coding.
type lazy struct {
	from io.Reader
	open func(*bufio.Reader) (io.Reader, error)
	to   io.Reader
}

func (l *lazy) Read(b []byte) (int, error) {
	if l.to == nil {
		r := bufio.NewReader(l.from)
		if _, err := r.Peek(1); err != nil {
			return 0, err
		}
		to, err := l.open(r)
		if err != nil {
			return 0, err
		}
		l.to = to
	}
	return l.to.Read(b)
}

// describe makes the object that fetch needs of a response. On the loop.
func (x *exchange) describe(r *http.Response, redirected bool) goja.Value {
	vm := x.host.vm
	where := *r.Request.URL
	where.Fragment, where.RawFragment = "", ""
	var pairs []any
	for name, values := range r.Header {
		for _, v := range values {
			pairs = append(pairs, vm.NewArray(strings.ToLower(name), characters(v)))
		}
	}
	return x.host.object(map[string]any{
		"status": r.StatusCode, "statusText": characters(strings.TrimPrefix(r.Status[min(3, len(r.Status)):], " ")),
		"headers": vm.NewArray(pairs...), "url": where.String(), "redirected": redirected,
	})
}

// read reads a chunk of the body, null at the end. On a goroutine of its own.
func (x *exchange) read(ctx context.Context) (func(*goja.Runtime) (goja.Value, error), error) {
	defer context.AfterFunc(ctx, x.cancel)()
	b := make([]byte, 64<<10)
	n, err := x.body.Read(b)
	for n == 0 && err == nil {
		n, err = x.body.Read(b)
	}
	if n > 0 {
		return func(vm *goja.Runtime) (goja.Value, error) { return vm.ToValue(vm.NewArrayBuffer(b[:n:n])), nil }, nil
	}
	_ = x.body.Close()
	x.cancel()
	if err == io.EOF {
		return func(*goja.Runtime) (goja.Value, error) { return goja.Null(), nil }, nil
	}
	return nil, err
}

// worker runs fn on a goroutine of its own, and returns a script's promise of its result. On the loop.
func (h *Host) worker(fn func(context.Context) (func(*goja.Runtime) (goja.Value, error), error)) goja.Value {
	return h.apply(h.Promisify(func(ctx context.Context, _ []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		return fn(ctx)
	}), goja.Undefined(), nil)
}

// latin1 returns a header's value as it is sent: a byte for each character.
func latin1(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

// characters returns a header's value as scripts get it: a character for each byte.
func characters(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// unquote undoes the escapes of names in forms.
var unquote = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

// dispositionPart finds a parameter of a Content-Disposition. A quoted value ends at the next quote: in forms quotes are written
// as %22, and backslashes are what they are.
var dispositionPart = regexp.MustCompile(`(?i)^;[ \t]*(name|filename)=("[^"]*"|[^";\s]+)[ \t]*`)

// disposition returns the name and file name of a form's part, and whether it is a file; false for what is no part of a form.
func disposition(header string) (name, filename string, file, ok bool) {
	rest, ok := strings.CutPrefix(header, "form-data")
	named := false
	for m := dispositionPart.FindStringSubmatch(rest); ok && m != nil; m = dispositionPart.FindStringSubmatch(rest) {
		rest = rest[len(m[0]):]
		value := unquote.Replace(strings.Trim(m[2], `"`))
		if strings.EqualFold(m[1], "name") {
			name, named = value, true
		} else {
			filename, file = value, true
		}
	}
	return name, filename, file, ok && named && rest == ""
}

// multipart parses a multipart form: a content type and the bytes. It returns null if they are no such form.
func (h *Host) multipart(call goja.FunctionCall) goja.Value {
	_, params, err := mime.ParseMediaType(call.Argument(0).String())
	b, ok := bytesOf(call.Argument(1))
	if err != nil || !ok {
		return goja.Null()
	}
	r := multipart.NewReader(bytes.NewReader(b), params["boundary"])
	var parts []any
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return h.vm.NewArray(parts...)
		}
		if err != nil {
			return goja.Null()
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return goja.Null()
		}
		name, filename, file, ok := disposition(p.Header.Get("Content-Disposition"))
		if !ok {
			return goja.Null()
		}
		parts = append(parts, h.object(map[string]any{"name": name, "file": file, "filename": filename,
			"type": cmp.Or(p.Header.Get("Content-Type"), "text/plain"), "data": h.buffer(data)}))
	}
}

// errorCode returns Node's code for the error of a request without a response, "" if Node has none.
func (h *Host) errorCode(call goja.FunctionCall) goja.Value {
	code := ""
	if o, ok := call.Argument(0).(*goja.Object); ok {
		var number syscall.Errno
		var lookup *net.DNSError
		var err error
		if v := o.Get("value"); v != nil {
			err, _ = v.Export().(error)
		}
		switch {
		case errors.As(err, &lookup):
			code = "ENOTFOUND"
		case errors.As(err, &number):
			code = map[syscall.Errno]string{syscall.ECONNREFUSED: "ECONNREFUSED", syscall.ECONNRESET: "ECONNRESET", syscall.ETIMEDOUT: "ETIMEDOUT",
				syscall.EHOSTUNREACH: "EHOSTUNREACH", syscall.ENETUNREACH: "ENETUNREACH", syscall.EPIPE: "EPIPE"}[number]
		}
	}
	return h.vm.ToValue(code)
}
