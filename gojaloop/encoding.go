package gojaloop

// Text and bytes: decoders of the Encoding standard, and the forgiving base64 of the Infra standard.

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// encodingLabels are the labels of each supported encoding.
var encodingLabels = map[string][]string{
	"utf-8":        {"unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8"},
	"utf-16le":     {"csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "utf-16", "utf-16le"},
	"utf-16be":     {"unicodefffe", "utf-16be"},
	"windows-1252": {"ansi_x3.4-1968", "ascii", "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1", "iso-ir-100", "iso8859-1", "iso88591", "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "us-ascii", "windows-1252", "x-cp1252"},
}

// encodingOf returns the encoding that has a label, "" if there is none.
func encodingOf(label string) string {
	label = strings.ToLower(strings.Trim(label, "\t\n\f\r "))
	for name, labels := range encodingLabels {
		for _, l := range labels {
			if l == label {
				return name
			}
		}
	}
	return ""
}

// windows1252 are the characters of the bytes from 0x80 to 0x9f.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// decoder decodes a stream of bytes.
type decoder struct {
	name             string
	fatal, ignoreBOM bool
	rest             []byte // the bytes of an incomplete character
	begun            bool   // the byte order mark has been looked for
}

// newDecoder returns a function that decodes. Its arguments are bytes, and whether they are the last ones; it returns
// text, or null for an error.
func (h *Host) newDecoder(call goja.FunctionCall) goja.Value {
	d := &decoder{name: call.Argument(0).String(), fatal: call.Argument(1).ToBoolean(), ignoreBOM: call.Argument(2).ToBoolean()}
	return h.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		b, _ := bytesOf(call.Argument(0))
		text, ok := d.decode(b, call.Argument(1).ToBoolean())
		if !ok {
			return goja.Null()
		}
		return h.vm.ToValue(text)
	})
}

// decodeUTF8 is the standard's "UTF-8 decode": a byte order mark is removed, and malformed bytes are replaced.
func (h *Host) decodeUTF8(call goja.FunctionCall) goja.Value {
	b, _ := bytesOf(call.Argument(0))
	d := decoder{name: "utf-8"}
	text, _ := d.decode(b, true)
	return h.vm.ToValue(text)
}

func (d *decoder) decode(b []byte, last bool) (string, bool) {
	if len(d.rest) > 0 {
		b = append(d.rest, b...)
		d.rest = nil
	}
	var out strings.Builder
	out.Grow(len(b))
	var ok bool
	switch d.name {
	case "utf-8":
		ok = d.utf8(&out, b, last)
	case "windows-1252":
		ok = true
		for _, c := range b {
			if c >= 0x80 && c < 0xa0 {
				out.WriteRune(windows1252[c-0x80])
			} else {
				out.WriteRune(rune(c))
			}
		}
	default:
		ok = d.utf16(&out, b, last)
	}
	text := out.String()
	if !d.begun && text != "" {
		d.begun = true
		if !d.ignoreBOM && d.name != "windows-1252" {
			text = strings.TrimPrefix(text, "\ufeff")
		}
	}
	return text, ok
}

// utf8 decodes UTF-8. As the standard says, one U+FFFD replaces each maximal subpart of an ill-formed sequence.
func (d *decoder) utf8(out *strings.Builder, b []byte, last bool) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r != utf8.RuneError || n > 1 {
			out.WriteRune(r)
			b = b[n:]
			continue
		}
		n = subpart(b)
		if n == len(b) && !last && !utf8.FullRune(b) {
			d.rest = append([]byte(nil), b...)
			return true
		}
		if d.fatal {
			return false
		}
		out.WriteRune(utf8.RuneError)
		b = b[n:]
	}
	return true
}

// subpart returns the length of the maximal subpart at the start of b, at least 1: what could begin a character goes on.
func subpart(b []byte) int {
	n := 1
	for n < len(b) && !utf8.FullRune(b[:n+1]) {
		n++
	}
	return n
}

func (d *decoder) utf16(out *strings.Builder, b []byte, last bool) bool {
	unit := func(i int) rune {
		if d.name == "utf-16be" {
			return rune(b[i])<<8 | rune(b[i+1])
		}
		return rune(b[i+1])<<8 | rune(b[i])
	}
	i := 0
	for ; i+1 < len(b); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 >= len(b) && !last && r < 0xdc00 {
				break
			}
			r2 := rune(0)
			if i+3 < len(b) {
				r2 = unit(i + 2)
			}
			if r = utf16.DecodeRune(r, r2); r != utf8.RuneError {
				i += 2
			} else if d.fatal {
				return false
			}
		}
		out.WriteRune(r)
	}
	if i < len(b) && !last {
		d.rest = append([]byte(nil), b[i:]...)
	} else if i < len(b) {
		if d.fatal {
			return false
		}
		out.WriteRune(utf8.RuneError)
	}
	return true
}

// atob decodes base64 into a string with a character for each byte.
func (h *Host) atob(call goja.FunctionCall) goja.Value {
	if len(call.Arguments) == 0 {
		panic(h.vm.NewTypeError("atob: 1 argument required, but only 0 present"))
	}
	b, ok := forgivingBase64(call.Argument(0).String())
	if !ok {
		panic(h.domException("The string to be decoded is not correctly encoded.", "InvalidCharacterError"))
	}
	return h.vm.ToValue(characters(string(b)))
}

// btoa encodes a string with a character for each byte as base64.
func (h *Host) btoa(call goja.FunctionCall) goja.Value {
	if len(call.Arguments) == 0 {
		panic(h.vm.NewTypeError("btoa: 1 argument required, but only 0 present"))
	}
	s := call.Argument(0).String()
	if strings.ContainsFunc(s, func(r rune) bool { return r > 0xff }) {
		panic(h.domException("Invalid character", "InvalidCharacterError"))
	}
	return h.vm.ToValue(base64.StdEncoding.EncodeToString([]byte(latin1(s))))
}

func forgivingBase64(s string) ([]byte, bool) {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\t\n\f\r ", r) {
			return -1
		}
		return r
	}, s)
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	if len(s)%4 == 1 {
		return nil, false
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	return b, err == nil
}

// unbase64 decodes percent-encoded base64 into bytes.
func (h *Host) unbase64(call goja.FunctionCall) goja.Value {
	b, ok := forgivingBase64(string(unescape(call.Argument(0).String())))
	if !ok {
		panic(h.vm.NewTypeError("the base64 is malformed"))
	}
	return h.buffer(b)
}

// unescape decodes the percent-encoding of URLs.
func unescape(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0 {
			b = append(b, byte(hex(s[i+1])<<4|hex(s[i+2])))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return b
}

// hex returns the value of a hexadecimal digit, or -1.
func hex(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}

// domException makes a DOMException.
func (h *Host) domException(message, name string) goja.Value {
	e, err := h.vm.New(h.module("events").Get("DOMException"), h.vm.ToValue(message), h.vm.ToValue(name))
	if err != nil {
		panic(err)
	}
	return e
}
