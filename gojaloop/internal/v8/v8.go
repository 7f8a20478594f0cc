// Package v8 has the words that V8 has for the language's own errors, in place of goja's: programs print and match them.
package v8

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// rule says what becomes of a message that its pattern matches. A result with %e has the expression there, %n the name at the place
// of the error, and is no result if there is none.
type rule struct {
	pattern string // of goja's message
	native  bool   // it comes from a native function; otherwise its place in a script must be known if the result has %e or %n
	behind  string // the text from the place of the error on matches this
	result  string // with groups of pattern as $1, and those of behind as $10, $20
}

const name = `[\p{L}_$][\p{L}\p{N}_$]*`

// rules: the first that matches counts. Of undefined and null goja tells only that it was one of them: it is taken for undefined.
var rules = []rule{
	{pattern: `Cannot read property '([^]*)' of undefined(?: or null)?`, result: "Cannot read properties of undefined (reading '$1')"},
	{pattern: `No initial value`, result: "Reduce of empty array with no initial value"},
	{pattern: `(Must call super constructor in derived class before accessing 'this')`, result: "$1 or returning from derived constructor"},
	{pattern: `Malformed URI`, result: "URI malformed"},
	{pattern: `(The normalization form should be one of NFC, NFD, NFKC, NFKD)`, result: "$1."},
	{pattern: `Promise self-resolution`, result: "Chaining cycle detected for promise #<Promise>"},
	{pattern: `Constructor Promise requires 'new'`, result: "Promise constructor cannot be invoked without 'new'"},
	{pattern: `toFixed\(\) precision (.*)`, result: "toFixed() digits argument $1"},
	{pattern: `(toPrecision|toExponential)\(\) precision (.*)`, result: "$1() argument $2"},
	{pattern: `Cannot access a variable before initialization`, result: "Cannot access '%n' before initialization"},
	{pattern: `Class constructor cannot be invoked without 'new'`, result: "Class constructor %n cannot be invoked without 'new'"},
	{pattern: `(.* called on incompatible receiver|Cannot delete property '[^]*' of) \[object (\w+)\]`, result: "$1 #<$2>"},
	{pattern: `Cannot convert (-?[\d.e+]+) to a BigInt`, result: "The number $1 cannot be converted to a BigInt because it is not an integer"},
	{pattern: `(Cannot assign to read only property '[^']*')`, result: "$1 of object '#<Object>'"},
	{pattern: `Could not convert [^]* to primitive`, result: "Cannot convert object to primitive value"},
	{pattern: `(?:SyntaxError: )*(?:.*: Line \d+:\d+ )?Unexpected token ILLEGAL(?: \(and .*)?`, result: "Invalid or unexpected token"},
	{pattern: `(?:SyntaxError: )*.*: Line \d+:\d+ (Unexpected token) ([^\s']+)(?: \(and .*)?`, result: "$1 '$2'"},
	{pattern: `SyntaxError: (?:SyntaxError: )*(?:.*: Line \d+:\d+ )?(.*?)(?: \(and .*)?`, result: "$1"},
	{pattern: `Value is not an object: ([^]*)`, behind: `new\s+Promise\b`, result: "Promise resolver $1 is not a function"},
	{pattern: `Value is not an object: ([^]*)`, behind: `new\s+(?:Weak)?Map\b`, result: "Iterator value $1 is not an entry object"},
	{pattern: `Value is not (?:a constructor|an object: [^]*)`, behind: `new\s+([\w$.]+)`, result: "$10 is not a constructor"},
	{pattern: `Value is not an object: [^]*`, native: true, behind: `set\b`, result: "Invalid value used as weak map key"},
	{pattern: `Value is not an object: [^]*`, native: true, behind: `add\b`, result: "Invalid value used in weak set"},
	{pattern: `Value is not an object: ([^]*)`, native: true, result: "$1 is not a function"},
	{pattern: `Value is not an object: ([^]*)`, behind: `[^;]{0,80}?\sinstanceof\s`, result: "Right-hand side of 'instanceof' is not an object"},
	{pattern: `Value is not an object: ([^]*)`, behind: `["']([^'"]*)["']\s+in\s`, result: "Cannot use 'in' operator to search for '$10' in $1"},
	{pattern: `Value is not an object: [^]*|Object has no member '[^]*'`, result: "%e is not a function"},
	{pattern: `Object has no member '([^]*)'`, result: "$1 is not a function"},
	{pattern: `object is not iterable`, native: true, result: "object is not iterable (cannot read property Symbol(Symbol.iterator))"},
	{pattern: `Cannot convert undefined or null to object`, native: true, result: "Cannot convert undefined or null to object"},
	{pattern: `Cannot convert undefined or null to object`, behind: `(` + name + `)\s*(?:[-+*/%&|^]|\*\*|<<|>>>?|\?\?|&&|\|\|)?=[^=]`, result: "Cannot set properties of undefined (setting '$10')"},
	{pattern: `Cannot convert undefined or null to object`, behind: `\["(.*?)"\]\s*=[^=]|\['(.*?)'\]\s*=[^=]`, result: "Cannot set properties of undefined (setting '$10$20')"},
	{pattern: `Cannot convert undefined or null to object`, behind: `\[.*?\]\s*=[^=]`, result: "Cannot set properties of undefined"},
	{pattern: `Cannot convert undefined or null to object|object is not iterable`, behind: `[\w$.]+\([^;]*\.\.\.`, result: "Spread syntax requires ...iterable[Symbol.iterator] to be a function"},
	{pattern: `Cannot convert undefined or null to object|object is not iterable`, result: "%i is not iterable"},
}

var compiled = sync.OnceValue(func() (all [][2]*regexp.Regexp) {
	for _, r := range rules {
		pattern := regexp.MustCompile(`^(?:` + strings.ReplaceAll(r.pattern, `[^]`, `[\s\S]`) + `)$`)
		all = append(all, [2]*regexp.Regexp{pattern, regexp.MustCompile(`^` + r.behind)})
	}
	return all
})

var (
	nameAt      = regexp.MustCompile(`^` + name)
	constructed = regexp.MustCompile(`^(?:new\s+)?(?:\w*Error\b|super\b)`)
	iterates    = regexp.MustCompile(`(?:\bof|\.\.\.|[^=]=|\byield\s*\*)\s*$`)
	destructs   = regexp.MustCompile(`\{\s*(` + name + `)?[^{}]*\}\s*=\s*$`)
	parameter   = regexp.MustCompile(`^(?:async\b)?\s*(?:function\b[^(]*)?\((?:[^(){}]*,)?\s*\{\s*(` + name + `)|^.*?=>\s*\{\s*(?:const|let|var)\s*\{\s*(` + name + `)[^{}]*\}\s*=`)
)

// Suspected tells whether a message may be goja's. It is asked of every error that a script catches.
func Suspected(message string) bool {
	for _, prefix := range []string{"Cannot ", "Value is ", "Object has no ", "object is not iterable", "SyntaxError: ", "Class constructor cannot", "Method ", "No initial value",
		"Must call super", "Could not convert", "Malformed URI", "The normalization", "Promise self", "Constructor Promise", "toFixed() p", "toPrecision() p", "toExponential() p"} {
		if strings.HasPrefix(message, prefix) {
			return true
		}
	}
	return false
}

// Message returns V8's words for a message of goja's. It comes from a native function, whose name after begins with, or from the place in
// a script that is between two texts; both are empty if it is not known.
func Message(message string, native bool, before, after string) string {
	if constructed.MatchString(after) { // the script has made it
		return message
	}
	of := nameAt.FindString(after)
	expression := Expression(before + of)
	start, iterated := strings.TrimSuffix(before+of, expression), ""
	if iterates.MatchString(start) {
		iterated = expression
	}
	if message == "Value is not object coercible" && !native {
		if m := destructs.FindStringSubmatch(start); m != nil && m[1] == "" {
			return "Cannot destructure '" + expression + "' as it is undefined."
		} else if m != nil {
			return "Cannot destructure property '" + m[1] + "' of '" + expression + "' as it is undefined."
		} else if m := parameter.FindStringSubmatch(after); m != nil {
			return "Cannot destructure property '" + m[1] + m[2] + "' of 'undefined' as it is undefined."
		}
		return message
	}
	for i, r := range rules {
		m, behind := compiled()[i][0].FindStringSubmatch(message), compiled()[i][1].FindStringSubmatch(after)
		if m == nil || behind == nil || r.native && !native {
			continue
		}
		pairs := []string{"%e", expression, "%n", of, "%i", iterated}
		if i := slices.IndexFunc([]int{0, 2, 4}, func(k int) bool { return strings.Contains(r.result, pairs[k]) && pairs[k+1] == "" }); i >= 0 {
			continue
		}
		for i := 1; i < len(behind); i++ {
			pairs = append(pairs, fmt.Sprintf("$%d", 10*i), behind[i])
		}
		for i := 1; i < len(m); i++ {
			pairs = append(pairs, fmt.Sprintf("$%d", i), m[i])
		}
		return strings.NewReplacer(pairs...).Replace(r.result)
	}
	return message
}

// Expression returns the expression at the end of a source as V8 prints what is no function: names, members and calls without
// their arguments. It is "" if there is none.
func Expression(source string) (out string) {
	for s := source; ; {
		s = strings.TrimRight(s, " \t\r\n")
		if m := nameEnd.FindString(s); m != "" && (!keywords[m] || out != "" && out[0] == '.') {
			out = m + out
			s = strings.TrimRight(strings.TrimSuffix(s, m), " \t\r\n")
			if dot := dotEnd.FindStringSubmatch(s); dot != nil {
				out, s = dot[1]+out, strings.TrimSuffix(s, dot[1])
				continue
			}
			return out
		}
		open := opening(s)
		if open < 0 {
			return ""
		}
		group, left := s[open:], strings.TrimRight(s[:open], " \t\r\n")
		m := nameEnd.FindString(left)
		follows := m != "" && !keywords[m] || strings.HasSuffix(left, ")") || strings.HasSuffix(left, "]") // it is a call, or a member
		key := quotedKey.FindStringSubmatch(group)
		switch {
		case group[0] == '(' && follows:
			out = "(...)" + out
		case group[0] == '(':
			return "(intermediate value)" + out
		case !follows:
			return strings.ReplaceAll(group, "'", `"`) + out
		case key != nil:
			out = "." + key[1] + out
		default:
			out = group + out
		}
		s = left
	}
}

var (
	nameEnd   = regexp.MustCompile(name + `$`)
	dotEnd    = regexp.MustCompile(`(?:^|[^.])(\??\.)$`)
	quotedKey = regexp.MustCompile(`^\[["'](` + name + `)["']\]$`)
	keywords  = map[string]bool{}
)

func init() {
	for _, w := range strings.Fields("await case delete do else in instanceof new of return throw typeof void yield if while for switch") {
		keywords[w] = true
	}
}

// opening returns where the bracket or the quote is that belongs to the last byte of a source; -1 if that is none.
func opening(s string) int {
	if s == "" {
		return -1
	}
	last := s[len(s)-1]
	if strings.IndexByte("'\"`", last) >= 0 {
		return strings.LastIndexByte(s[:len(s)-1], last)
	}
	if last != ')' && last != ']' {
		return -1
	}
	for i, depth := len(s)-1, 0; i >= 0; i-- {
		switch s[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// Around returns a source's text before and behind a place; a little of it.
func Around(source string, line, column int) (before, after string) {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(source[at:], '\n')
		if i < 0 {
			return "", ""
		}
		at += i + 1
	}
	for ; column > 1 && at < len(source); column-- {
		_, size := utf8.DecodeRuneInString(source[at:])
		at += size
	}
	const enough = 1000
	return source[max(0, at-enough):at], source[at:min(len(source), at+enough)]
}
