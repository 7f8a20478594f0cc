package gojaloop

// URLs for scripts, by a parser of the URL standard; and the encoding of forms.

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/nlnwa/whatwg-url/url"
)

// parseURL parses a URL, relative to a second one if that is given. It returns the parts, or null if it is not a URL.
func (h *Host) parseURL(call goja.FunctionCall) goja.Value {
	var base *url.Url
	if b := call.Argument(1); !goja.IsUndefined(b) {
		var err error
		if base, err = url.Parse(b.String()); err != nil {
			return goja.Null()
		}
	}
	u, err := parseFrom(call.Argument(0).String(), base)
	if err != nil {
		return goja.Null()
	}
	return h.parts(u)
}

func parseFrom(ref string, base *url.Url) (*url.Url, error) {
	if base == nil {
		return url.Parse(ref)
	}
	return base.Parse(ref)
}

// setters set the parts of a URL, by the part's name.
var setters = map[string]func(*url.Url, string){
	"protocol": (*url.Url).SetProtocol, "username": (*url.Url).SetUsername, "password": (*url.Url).SetPassword, "host": (*url.Url).SetHost,
	"hostname": (*url.Url).SetHostname, "port": (*url.Url).SetPort, "pathname": (*url.Url).SetPathname, "search": (*url.Url).SetSearch, "hash": (*url.Url).SetHash,
}

// changeURL sets a part of a URL, and returns all parts.
func (h *Host) changeURL(call goja.FunctionCall) goja.Value {
	u, err := url.Parse(call.Argument(0).String())
	if err != nil { // it was a URL before
		panic(h.vm.NewGoError(err))
	}
	setters[call.Argument(1).String()](u, call.Argument(2).String())
	return h.parts(u)
}

// parts returns the parts of a URL, in the order that web/url.js expects.
func (h *Host) parts(u *url.Url) goja.Value {
	return h.vm.NewArray(u.Href(false), origin(u), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Pathname(), u.Search(), u.Hash())
}

// origin returns the serialized origin of a URL.
func origin(u *url.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		if inner, err := url.Parse(u.Pathname()); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return origin(inner)
		}
	}
	return "null"
}

// parseForm parses application/x-www-form-urlencoded text, and returns pairs of name and value.
func (h *Host) parseForm(call goja.FunctionCall) goja.Value {
	var pairs []any
	for field := range strings.SplitSeq(call.Argument(0).String(), "&") {
		if field != "" {
			name, value, _ := strings.Cut(field, "=")
			pairs = append(pairs, h.vm.NewArray(formText(name), formText(value)))
		}
	}
	return h.vm.NewArray(pairs...)
}

// formText decodes a name or a value of a form. Malformed UTF-8 is replaced.
func formText(s string) string {
	if !strings.ContainsAny(s, "+%") {
		return s
	}
	d := decoder{name: "utf-8", ignoreBOM: true}
	text, _ := d.decode(unescape(strings.ReplaceAll(s, "+", " ")), true)
	return text
}

// writeForm is the inverse of parseForm.
func (h *Host) writeForm(call goja.FunctionCall) goja.Value {
	var pairs [][2]string
	if err := h.vm.ExportTo(call.Argument(0), &pairs); err != nil {
		panic(err)
	}
	var b strings.Builder
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		writeFormText(&b, p[0])
		b.WriteByte('=')
		writeFormText(&b, p[1])
	}
	return h.vm.ToValue(b.String())
}

func writeFormText(b *strings.Builder, s string) {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
}
