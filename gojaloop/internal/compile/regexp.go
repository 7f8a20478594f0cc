package compile

// Patterns of regular expressions: what is written in place of those that goja's engines match wrongly.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern returns a pattern that matches in goja what the given one matches by the language, and whether it is another one.
// Flags are those of the regular expression. A lone surrogate must be escaped.
//
// goja's backtracking engine takes two sets of as many ranges for the same if they differ in surrogates alone, and looks for
// surrogates at the beginning of a match in vain. So each set, and each surrogate that stands alone, gets a range of
// characters of its own (a tag), which a lookahead before it takes back. goja's other engine reads \p as the letter p; a
// lookahead keeps a pattern from it.
func Pattern(source, flags string) (pattern string, changed bool) {
	p := &rewriter{in: source, unicode: strings.Contains(flags, "u")}
	p.scan()
	if !p.changed || p.wrong {
		return source, false
	}
	if p.property {
		return "(?=)" + p.out.String(), true
	}
	return p.out.String(), true
}

type rewriter struct {
	in       string
	at       int
	out      strings.Builder
	unicode  bool
	changed  bool
	property bool // \p occurs
	wrong    bool // it is no pattern: goja tells so
	large    bool // a set that needs no tag has gone without one
	tags     int  // how many tags are used
}

// span is a range of characters.
type span struct{ low, high rune }

func (s span) String() string { return escaped(s.low) + "-" + escaped(s.high) }

func escaped(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\u{%x}`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func surrogate(r rune) bool { return 0xd800 <= r && r <= 0xdfff }

// tagged are the characters of which tags are made: they have no upper case.
var tagged = []span{{0xac00, 0xd7a3}, {0x4e00, 0x9fff}, {0xe000, 0xf8ff}}

// tagSize is the size of a tag. The engine lists the characters of smaller sets to look for them.
const tagSize = 20

// tag returns a range that is in no tag so far, and in none of the spans; false if there is none left.
func (p *rewriter) tag(spans []span) (span, bool) {
	n := p.tags
	for _, t := range tagged {
		for ; t.low+tagSize-1 <= t.high; t.low += tagSize {
			if n--; n >= 0 {
				continue
			}
			p.tags++
			if s := (span{t.low, t.low + tagSize - 1}); !slices.ContainsFunc(spans, func(o span) bool { return o.low <= s.high && s.low <= o.high }) {
				return s, true
			}
		}
	}
	return span{}, false
}

func (p *rewriter) scan() {
	for p.at < len(p.in) {
		switch start := p.at; p.in[p.at] {
		case '[':
			p.class()
		case '\\':
			if name, negated, ok := p.propertyEscape(); ok {
				p.changed, p.property = true, true
				p.out.WriteString(outside(name, negated))
				continue
			}
			units, _ := p.atom()
			p.characters(units, start)
		default:
			units, _ := p.atom()
			p.characters(units, start)
		}
	}
}

// characters writes the characters that the pattern has from start on, outside of a set.
func (p *rewriter) characters(units []rune, start int) {
	if !slices.ContainsFunc(units, surrogate) {
		p.out.WriteString(p.in[start:p.at])
		return
	}
	for _, u := range units {
		t, ok := p.tag([]span{{u, u}})
		if !ok {
			p.out.WriteString(escaped(u))
			continue
		}
		p.changed = true
		fmt.Fprintf(&p.out, `(?:(?![%v])[%v%v])`, t, escaped(u), t)
	}
}

// atom reads one character or escape. It returns the characters that it stands for in a set, a pair for one beyond U+FFFF
// without the flag u, and none for an escape that is a set.
func (p *rewriter) atom() (units []rune, set bool) {
	r, size := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += size
	if r != '\\' || p.at == len(p.in) {
		return p.units(r), false
	}
	r, size = utf8.DecodeRuneInString(p.in[p.at:])
	p.at += size
	switch r {
	case 'u':
		if u, n, ok := p.codePoint(p.in[p.at:]); ok {
			p.at += n
			return []rune{u}, false
		}
		return []rune{'u'}, false
	case 'x':
		if u, ok := hex(p.in[p.at:], 2); ok {
			p.at += 2
			return []rune{u}, false
		}
		return []rune{'x'}, false
	case 'd', 'D', 's', 'S', 'w', 'W':
		return nil, true
	case 'c':
		if p.at < len(p.in) {
			p.at++
			return []rune{rune(p.in[p.at-1]) % 32}, false
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		for r -= '0'; p.at < len(p.in) && '0' <= p.in[p.at] && p.in[p.at] <= '7' && r < 32; p.at++ {
			r = r*8 + rune(p.in[p.at]-'0')
		}
		return []rune{r}, false
	}
	if i := strings.IndexRune("btnvfr", r); i >= 0 {
		return []rune{rune(8 + i)}, false
	}
	return p.units(r), false
}

func (p *rewriter) units(r rune) []rune {
	if r > 0xffff && !p.unicode {
		r -= 0x10000
		return []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff}
	}
	return []rune{r}
}

// codePoint reads what follows \u, and returns its length too.
func (p *rewriter) codePoint(s string) (r rune, n int, ok bool) {
	if end := strings.IndexByte(s, '}'); p.unicode && strings.HasPrefix(s, "{") && end > 0 {
		v, err := strconv.ParseUint(s[1:end], 16, 32)
		return rune(v), end + 1, err == nil && v <= unicode.MaxRune
	}
	if r, ok = hex(s, 4); !ok {
		return 0, 0, false
	}
	if p.unicode && 0xd800 <= r && r <= 0xdbff && strings.HasPrefix(s[4:], `\u`) {
		if low, ok := hex(s[6:], 4); ok && 0xdc00 <= low && low <= 0xdfff {
			return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, 10, true
		}
	}
	return r, 4, true
}

func hex(s string, n int) (rune, bool) {
	if len(s) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:n], 16, 32)
	return rune(v), err == nil
}

// class reads a set, and writes it as it is unless it needs mending.
func (p *rewriter) class() {
	start := p.at
	p.at++
	negated := strings.HasPrefix(p.in[p.at:], "^")
	if negated {
		p.at++
	}
	var (
		text     strings.Builder // the elements, properties as goja knows them, without surrogates that are at an end of a range
		spans    []span
		edges    []span   // those with a surrogate at an end
		others   []string // sets that cannot stand within another
		all      bool     // an escape has all surrogates
		property bool
	)
	for p.at < len(p.in) && p.in[p.at] != ']' {
		from := p.at
		if name, not, ok := p.propertyEscape(); ok {
			property = true
			all = all || not
			if inner, ok := inside(name, not); ok {
				text.WriteString(inner)
			} else {
				others = append(others, outside(name, not))
			}
			continue
		}
		units, set := p.atom()
		if set {
			all = all || strings.ContainsAny(p.in[p.at-1:p.at], "DSW")
		}
		if len(units) == 0 {
			text.WriteString(p.in[from:p.at])
			continue
		}
		low := units[len(units)-1]
		high, halves := low, units[:len(units)-1] // halves are the other halves of pairs
		if rest := p.in[p.at:]; strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]") {
			back := p.at
			p.at++
			if to, set := p.atom(); set || len(to) == 0 {
				p.at = back
			} else {
				high, halves = to[0], append(halves, to[1:]...)
			}
		}
		p.wrong = p.wrong || high < low
		own := []span{{low, high}}
		for _, h := range halves {
			own = append(own, span{h, h})
		}
		spans = append(spans, own...)
		if slices.ContainsFunc(own, func(s span) bool { return surrogate(s.low) || surrogate(s.high) }) {
			edges = append(edges, own...)
		} else {
			text.WriteString(p.in[from:p.at])
		}
	}
	p.at = min(p.at+1, len(p.in))
	if !property && len(edges) == 0 {
		p.out.WriteString(p.in[start:p.at])
		return
	}
	p.property = p.property || property
	p.write(start, negated, text.String(), spans, edges, others, all)
}

// write writes a set that begins at start.
func (p *rewriter) write(start int, negated bool, text string, spans, edges []span, others []string, all bool) {
	body, tag, tags := text, "", false
	if len(edges) > 0 {
		size := rune(0)
		for _, e := range edges {
			size += e.high - e.low + 1
			if !all || !surrogate(e.low) || !surrogate(e.high) {
				body += e.String()
			}
		}
		if !all && (p.large || negated || size < tagSize) {
			var t span
			if t, tags = p.tag(spans); tags {
				tag = t.String()
			}
		}
		if !all && !tags {
			p.large = true
			if len(others) == 0 && !p.property {
				p.out.WriteString(p.in[start:p.at])
				return
			}
		}
	}
	p.changed = true
	switch {
	case len(others) > 0 && negated:
		fmt.Fprintf(&p.out, `(?:(?!%s)(?!%s)[^])`, set(body, tag), strings.Join(others, "|"))
	case len(others) > 0:
		fmt.Fprintf(&p.out, `(?:%s|%s)`, set(body, tag), strings.Join(others, "|"))
	case negated && tags:
		fmt.Fprintf(&p.out, `(?:[^%s%s]|[%s])`, body, tag, tag)
	case negated:
		fmt.Fprintf(&p.out, `[^%s]`, body)
	default:
		p.out.WriteString(set(body, tag))
	}
}

// set writes a set with a tag, or without if that is empty.
func set(body, tag string) string {
	if tag == "" {
		return "[" + body + "]"
	}
	return fmt.Sprintf(`(?:(?![%s])[%s%s])`, tag, body, tag)
}

// propertyEscape reads \p{name} or \P{name}, or nothing.
func (p *rewriter) propertyEscape() (name string, negated, ok bool) {
	rest := p.in[p.at:]
	if !p.unicode || !strings.HasPrefix(rest, `\p{`) && !strings.HasPrefix(rest, `\P{`) {
		return "", false, false
	}
	name, _, ok = strings.Cut(rest[3:], "}")
	if ok {
		p.at += 3 + len(name) + 1
	}
	return name, rest[1] == 'P', ok
}

// derived are the properties that are unions of others.
var derived = map[string]string{
	"ID_Start":     `\p{L}\p{Nl}\p{Other_ID_Start}`,
	"ID_Continue":  `\p{L}\p{Nl}\p{Other_ID_Start}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\p{Other_ID_Continue}`,
	"XID_Start":    `\p{L}\p{Nl}\p{Other_ID_Start}`,
	"XID_Continue": `\p{L}\p{Nl}\p{Other_ID_Start}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\p{Other_ID_Continue}`,
	"Alphabetic":   `\p{L}\p{Nl}\p{Other_Alphabetic}`,
	"Uppercase":    `\p{Lu}\p{Other_Uppercase}`,
	"Lowercase":    `\p{Ll}\p{Other_Lowercase}`,
	"Cased":        `\p{Lu}\p{Ll}\p{Lt}\p{Other_Uppercase}\p{Other_Lowercase}`,
	"Any":          `\u{0}-\u{10ffff}`,
	"ASCII":        `\u{0}-\u{7f}`,
}

// shortNames are the short names of properties and scripts that are in use. Of other scripts only the long ones are known.
var shortNames = map[string]string{
	"IDS": "ID_Start", "IDC": "ID_Continue", "Alpha": "Alphabetic", "Upper": "Uppercase", "Lower": "Lowercase", "space": "White_Space",
	"Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Geor": "Georgian", "Grek": "Greek",
	"Hang": "Hangul", "Hani": "Han", "Hebr": "Hebrew", "Hira": "Hiragana", "Kana": "Katakana", "Latn": "Latin", "Thai": "Thai",
	"Zyyy": "Common", "Zinh": "Inherited",
}

// canonical returns a property's name as the engine knows it.
func canonical(name string) string {
	if _, value, ok := strings.Cut(name, "="); ok {
		name = value
	}
	if long := shortNames[name]; long != "" {
		return long
	}
	return name
}

// inside returns a property as an element of a set; false if it cannot be one.
func inside(name string, negated bool) (string, bool) {
	name = canonical(name)
	union := derived[name]
	switch {
	case name == "Assigned":
		return map[bool]string{false: `\P{Cn}`, true: `\p{Cn}`}[negated], true
	case union != "":
		return union, !negated
	case negated:
		return `\P{` + name + `}`, true
	}
	return `\p{` + name + `}`, true
}

// outside returns a property as a set of its own.
func outside(name string, negated bool) string {
	if text, ok := inside(name, negated); ok {
		return "[" + text + "]"
	}
	return "[^" + derived[canonical(name)] + "]"
}
