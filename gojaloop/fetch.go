package gojaloop

// The requests of fetch, over net/http.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"

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
)

// request begins a request. Its arguments are a method, a URL, the header's pairs of name and value, a body or null,
// and what to do about redirects. It returns an object with response (a promise of the response), read (reads a chunk
// of the body) and abort (ends the request and the response).
func (h *Host) request(call goja.FunctionCall) goja.Value {
	x := &exchange{host: h}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	var body []byte
	has := false
	if b, ok := bytesOf(call.Argument(3)); ok {
		body, has = append([]byte(nil), b...), true // a copy: the script may change its own
	}
	method, url, mode := call.Argument(0).String(), call.Argument(1).String(), call.Argument(4).String()
	header := http.Header{}
	var pairs [][]string
	if err := h.vm.ExportTo(call.Argument(2), &pairs); err != nil {
		panic(err)
	}
	for _, p := range pairs {
		header.Add(p[0], latin1(p[1]))
	}
	client := h.client
	fetch := func(ctx context.Context) (result func(*goja.Runtime) (goja.Value, error), err error) {
		defer context.AfterFunc(ctx, x.cancel)()
		var reader io.Reader
		if has {
			reader = bytes.NewReader(body)
		}
		r, err := http.NewRequestWithContext(x.ctx, method, url, reader)
		if err != nil {
			return nil, err
		}
		r.Header = header
		if v := header.Get("Host"); v != "" {
			r.Host = v
		}
		redirected := false
		c := *client
		c.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
			switch {
			case mode == "manual":
				return http.ErrUseLastResponse
			case mode == "error":
				return errRedirect
			case len(via) > redirects:
				return errRedirects
			}
			redirected = true
			return nil
		}
		response, err := c.Do(r)
		if err != nil {
			return nil, err
		}
		x.body = response.Body
		return func(vm *goja.Runtime) (goja.Value, error) { return x.describe(response, redirected), nil }, nil
	}
	o := h.vm.NewObject()
	abort := x.cancel
	_ = o.Set("abort", func() { abort() })
	_ = o.Set("read", func() goja.Value { return h.worker(x.read) })
	runtime.AddCleanup(o, func(cancel context.CancelFunc) { cancel() }, x.cancel)
	_ = o.Set("response", h.worker(fetch))
	return o
}

// describe makes the object that fetch needs of a response. On the loop.
func (x *exchange) describe(r *http.Response, redirected bool) goja.Value {
	vm := x.host.vm
	var pairs []any
	for name, values := range r.Header {
		for _, v := range values {
			pairs = append(pairs, vm.NewArray(strings.ToLower(name), v))
		}
	}
	o := vm.NewObject()
	for name, v := range map[string]any{
		"status": r.StatusCode, "statusText": strings.TrimPrefix(strings.TrimPrefix(r.Status, r.Status[:min(3, len(r.Status))]), " "),
		"headers": vm.NewArray(pairs...), "url": r.Request.URL.String(), "redirected": redirected,
	} {
		_ = o.Set(name, v)
	}
	return o
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

// unquote undoes the escapes of names in forms.
var unquote = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

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
		_, disposition, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
		_, file := disposition["filename"]
		o := h.vm.NewObject()
		for name, v := range map[string]any{
			"name": unquote.Replace(disposition["name"]), "file": file, "filename": unquote.Replace(disposition["filename"]), "type": p.Header.Get("Content-Type"), "data": h.buffer(data),
		} {
			_ = o.Set(name, v)
		}
		parts = append(parts, o)
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
