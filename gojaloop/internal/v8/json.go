package v8

// What JSON.parse says of a text that is no JSON.

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
)

// JSON returns V8's message for a text that is no JSON.
func JSON(text string) string {
	var value json.RawMessage
	var wrong *json.SyntaxError
	if !errors.As(json.Unmarshal([]byte(text), &value), &wrong) {
		return ""
	}
	said, at := wrong.Error(), int(wrong.Offset)-1
	if strings.HasPrefix(said, "invalid character ' '") && text[at] != ' ' { // its end
		at = len(text)
	} else if said == "unexpected end of JSON input" {
		if !errors.As(json.Unmarshal([]byte(text+"\x01"), &value), &wrong) {
			return "Unexpected end of JSON input"
		}
		said, at = wrong.Error(), len(text)
	}
	position := len(utf16.Encode([]rune(text[:at])))
	for _, w := range wrongJSON {
		if _, is := strings.CutSuffix(said, w[0]); !is {
			continue
		}
		what := w[1]
		if at == len(text) && strings.HasPrefix(what, "Bad ") {
			what = "Unterminated string"
		} else if strings.HasPrefix(what, "Expected double") && strings.HasSuffix(strings.TrimRight(text[:at], " \t\r\n"), "{") {
			what = "Expected property name or '}'"
		}
		return fmt.Sprintf(what+w[2], position)
	}
	if at == len(text) {
		return "Unexpected end of JSON input"
	}
	units := utf16.Encode([]rune(text))
	switch text {
	case "undefined", "NaN", "Infinity", "[object Object]":
		return `"` + text + `" is not valid JSON`
	}
	const context = 10
	start, end, left, right := 0, len(units), "", ""
	if len(units) > 2*context && position >= context {
		start, left = position-context, "..."
	}
	if len(units) > 2*context && position < len(units)-context {
		end, right = position+context, "..."
	}
	return fmt.Sprintf(`Unexpected token '%s', %s"%s"%s is not valid JSON`, string(utf16.Decode(units[position:position+1])), left, string(utf16.Decode(units[start:end])), right)
}

// wrongJSON is how messages of encoding/json end, with V8's message.
var wrongJSON = [][3]string{
	{"looking for beginning of object key string", "Expected double-quoted property name", " in JSON at position %d"},
	{"after object key", "Expected ':' after property name", " in JSON at position %d"},
	{"after object key:value pair", "Expected ',' or '}' after property value", " in JSON at position %d"},
	{"after array element", "Expected ',' or ']' after array element", " in JSON at position %d"},
	{"after top-level value", "Unexpected non-whitespace character after JSON", " at position %d"},
	{"in string literal", "Bad control character in string literal", " in JSON at position %d"},
	{"in string escape code", "Bad escaped character", " in JSON at position %d"},
	{`in \u hexadecimal character escape`, "Bad Unicode escape", " in JSON at position %d"},
	{"in numeric literal", "No number after minus sign", " in JSON at position %d"},
	{"after decimal point in numeric literal", "Unterminated fractional number", " in JSON at position %d"},
	{"in exponent of numeric literal", "Exponent part is missing a number", " in JSON at position %d"},
}
