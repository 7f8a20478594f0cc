package gojaloop

// URLs for scripts, by a parser of the URL standard; and the encoding of forms.

import (
	query "net/url"
	"strings"

	"github.com/dop251/goja"
	"github.com/nlnwa/whatwg-url/url"
)

// parseURL parses a URL, relative to a second one if that is given. It returns the parts, or null if it is not a URL.
func (h *Host) parseURL(call goja.FunctionCall) goja.Value {
	parse := url.Parse
	if b := call.Argument(1); !goja.IsUndefined(b) {
		base, err := url.Parse(b.String())
		if err != nil {
			return goja.Null()
		}
		parse = base.Parse
	}
	u, err := parse(call.Argument(0).String())
	if err != nil {
		return goja.Null()
	}
	return h.parts(u)
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
	fields := make([]string, len(pairs))
	for i, p := range pairs {
		fields[i] = formTexts.Replace(query.QueryEscape(p[0]) + "=" + query.QueryEscape(p[1]))
	}
	return h.vm.ToValue(strings.Join(fields, "&"))
}

// formTexts makes a form's text of that of a query: they differ in two characters.
var formTexts = strings.NewReplacer("%2A", "*", "~", "%7E")
