package compile_test

// What is mended, in scripts that a host runs.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// run runs a script on a host of its own.
func run(t *testing.T, script string) (goja.Value, error) {
	t.Helper()
	l, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h, err := gojaloop.New(l)
	if err != nil {
		t.Fatal(err)
	}
	return h.Run(context.Background(), "a.js", script)
}

func TestMended(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"variable beside arguments":  {"function f(a) { var x, y = 2; const g = () => [x, y, a, arguments.length]; return g() } f(1, 'surplus', 3).join()", ",2,1,3"},
		"in an arrow function":       {"(function () { var x; return (() => [x, arguments.length])() })(1).join()", ",1"},
		"direct eval":                {"(function (code) { var x; return eval(code) })('[x, arguments.length]', 3).join()", ",2"},
		"strict":                     {"(function () { 'use strict'; var x; return [(() => x)(), this, arguments[0]] })(1).join()", ",,1"},
		"by a pattern":               {"(function (a) { for (var { b, c: [d] } of []); return (() => [b, d, arguments.length])() })(1, 2, 3).join()", ",,3"},
		"parameter that is declared": {"(function (a) { var a; return (() => [a, arguments.length])() })(1, 2).join()", "1,2"},
		"function that is declared":  {"(function () { var f; function f() { return 7 } return (() => f(arguments))() })(1)", "7"},
		"generator":                  {"[...(function* () { var x; yield (() => x)(); yield arguments[0] })(1)].join()", ",1"},
		"method":                     {"({ m() { var x; return (() => [x, arguments[0]])() } }).m(1).join()", ",1"},

		"new.target of a plain call":  {"function Q() { return new.target } function P() { this.q = Q() } `${new P().q}`", "undefined"},
		"of a construction":           {"function P() { this.t = new.target } class D extends P {} [new P().t === P, new D().t === D, Reflect.construct(P, [], Array).t === Array].join()", "true,true,true"},
		"without new":                 {"function X() { if (!new.target) return new X(); this.ok = 1 } class C { constructor() { this.x = X() } } new C().x.ok", "1"},
		"in an arrow":                 {"function X() { return (() => new.target)() } function P() { this.x = [X(), (() => new.target)()] } const { x } = new P(); [x[0], x[1] === P].join()", ",true"},
		"in a method":                 {"const o = { m() { return new.target } }; function P() { this.m = o.m() } `${new P().m}`", "undefined"},
		"in a constructor of a class": {"class A { constructor() { this.t = new.target } } class B extends A {} [new A().t === A, new B().t === B].join()", "true,true"},
		"by call and apply":           {"function Q() { return new.target } function P() { this.q = [Q.call(this), Q.apply(this), Reflect.apply(Q, this, [])] } new P().q.join()", ",,"},

		"pairs, globally":   {`'a😀b😁'.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '#')`, "a#b#"},
		"lone surrogates":   {`[...'\ud83d\ude00\ud83dx\ude00'.matchAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?:[^\ud800-\udbff]|^)[\udc00-\udfff]/g)].map(m => m.index).join()`, "2,3"},
		"one pair":          {`'😀😁😂'.replace(/\ud83d\ude01/g, '-')`, "😀-😂"},
		"as it is":          {`'😀😁😂'.replace(/😁/g, '-') + '😀'.split(/(?:)/u).length`, "😀-😂1"},
		"repeated":          {`/^(?:\ud83d\ude00){2}$/.test('😀😀') && !/^\ud83d{2}/.test('😀')`, "true"},
		"a pair's set":      {`/[😀]/.exec('😁')[0].charCodeAt().toString(16)`, "d83d"},
		"a range from zero": {`/^[\0-\ud83d]+$/g.exec('a\ud83d')[0].length`, "2"},
		"a set with S":      {`/[\S\ud83d]/g.exec(' 😀').index`, "1"},
		"ignoring case":     {`/[\ud83ca-f]+/gi.exec('x\ud83cAf')[0].length`, "3"},
		"lookbehind":        {`'😀a😁a'.replace(/(?<=\ud83d\ude01)a/g, '!')`, "😀a😁!"},
		"property":          {`'héllo wörld 1'.match(/\p{L}+/gu).join()`, "héllo,wörld"},
		"no property":       {`'aß1'.replace(/\P{Lowercase_Letter}/gu, '-') + /[^\p{L}]/u.exec('a1')[0] + /[x\P{Alphabetic}]/u.exec('a.')[0] + /[^x\P{ID_Start}]/u.exec('.xa')[0]`, "aß-1.a"},
		"identifiers":       {`['añb', '$', '1a', 'a1'].map(s => /^[$_\p{ID_Start}][$\p{ID_Continue}]*$/u.test(s)).join()`, "true,true,false,true"},
		"scripts":           {`'aβгあ'.replace(/\p{Script=Greek}/u, 1).replace(/\p{sc=Cyrl}/u, 2).replace(/\p{Script=Hiragana}/u, 3)`, "a123"},
		"emoji":             {`[...'a😀1'].map(c => /\p{Emoji_Presentation}/u.test(c)).join()`, "false,true,false"},
		"without u":         {`/^\p{L}$/.test('p{L}')`, "true"},
		"unknown property":  {`try { new RegExp('\\p{Nonsense}', 'u'); 'taken' } catch (e) { e.name }`, "SyntaxError"},
		"at run time":       {`new RegExp('\\p{Lu}', 'u').test('p') + ' ' + RegExp('^[\ud800-\udbff]\\ude00', 'g').test('😀') + ' ' + new RegExp(/\p{Lu}/u, 'gu').test('É')`, "false true true"},

		"source":            {`[/\p{L}/u.source, /[\ud83d\ude00]/g.source, new RegExp('/\\p{L}\n', 'u').source].join(' ')`, `\p{L} [\ud83d\ude00] \/\p{L}\n`},
		"text":              {`[/\p{L}/u, new RegExp('\\p{L}', 'gu')].join(' ')`, `/\p{L}/u /\p{L}/gu`},
		"class":             {`[/a/.constructor === RegExp, /\p{L}/u instanceof RegExp, new RegExp('a') instanceof RegExp, RegExp.name, RegExp.length, RegExp.prototype === /a/.__proto__].join()`, "true,true,true,RegExp,2,true"},
		"same object":       {`const r = /a/; [RegExp(r) === r, new RegExp(r) === r, RegExp(r, 'g') === r].join()`, "true,false,false"},
		"subclass":          {`class R extends RegExp { get mine() { return 1 } } const r = new R('\\p{Lu}', 'u'); [r.mine, r instanceof RegExp, r.test('p'), r[Symbol.split]('aBc').join('-')].join()`, "1,true,false,a-c"},
		"fresh each time":   {`const f = () => /\p{L}/gu; f() !== f() && f().source === f().source`, "true"},
		"statics":           {`/(b)(c)?/.exec('abd'); const one = [RegExp.$1, RegExp.$2, RegExp.lastMatch, RegExp["$'"]].join(); 'x-y'.replace(/-/, ''); one + RegExp.leftContext`, "b,,b,dx"},
		"statics of a test": {`/(\d+)/.test('a12') && RegExp.$1`, "12"},
		"names are hidden":  {`new RegExp('a'); /\p{L}/u; Object.getOwnPropertyNames(globalThis).filter(n => n.includes(' ')).length`, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := run(t, c.script)
			if err != nil {
				t.Fatal(err)
			}
			if v.String() != c.want {
				t.Errorf("%q, and by the language it is %q", v, c.want)
			}
		})
	}
}

// Where a regular expression is wrong, the exception names the script's place, mended or not.
func TestMendedKeepsPlaces(t *testing.T) {
	for _, script := range []string{"\n /\\p{Nonsense}/u", "/\\p{L}/u;\n f(function () { var x; (() => [x, arguments]); x.y }())", "function f() { new.target }\n f(); null.x"} {
		if _, err := run(t, script); err == nil || !strings.Contains(err.Error(), "2:") {
			t.Errorf("%q: %v", script, err)
		}
	}
}

// node is a regular expression of the model: it tells where the matches end that begin at a place, the preferred one first.
type node struct {
	text  string
	empty bool // it may match nothing
	ends  func(s []uint16, at int, then func(end int) bool) bool
}

// pick returns a random regular expression without captures, over few units.
func pick(r *rand.Rand, depth int) node {
	units := []uint16{'a', 0xd83c, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xde01, 0xac05, 0xfffd}
	unit := func() uint16 { return units[r.IntN(len(units))] }
	one := func(text string, in func(u uint16) bool) node {
		return node{text, false, func(s []uint16, at int, then func(int) bool) bool { return at < len(s) && in(s[at]) && then(at+1) }}
	}
	kind := r.IntN(8)
	if depth == 0 {
		kind %= 3
	}
	switch kind {
	case 0:
		u := unit()
		return one(fmt.Sprintf(`\u%04x`, u), func(v uint16) bool { return u == v })
	case 1, 2:
		low, high, other, negated := unit(), unit(), unit(), r.IntN(3) == 0
		if low > high {
			low, high = high, low
		}
		text := fmt.Sprintf(`[\u%04x-\u%04x\u%04x]`, low, high, other)
		if negated {
			text = "[^" + text[1:]
		}
		return one(text, func(v uint16) bool { return (low <= v && v <= high || v == other) != negated })
	case 3, 4:
		a, b := pick(r, depth-1), pick(r, depth-1)
		return node{a.text + b.text, a.empty && b.empty, func(s []uint16, at int, then func(int) bool) bool {
			return a.ends(s, at, func(end int) bool { return b.ends(s, end, then) })
		}}
	case 5:
		a, b := pick(r, depth-1), pick(r, depth-1)
		return node{"(?:" + a.text + "|" + b.text + ")", a.empty || b.empty, func(s []uint16, at int, then func(int) bool) bool {
			return a.ends(s, at, then) || b.ends(s, at, then)
		}}
	case 6:
		a := pick(r, depth-1)
		if a.empty { // goja's engine has other rules for those
			return a
		}
		var ends func(s []uint16, at int, then func(int) bool) bool
		ends = func(s []uint16, at int, then func(int) bool) bool {
			return a.ends(s, at, func(end int) bool { return end > at && ends(s, end, then) }) || then(at)
		}
		return node{"(?:" + a.text + ")*", true, ends}
	}
	a := pick(r, depth-1)
	return node{"(?!" + a.text + ")", true, func(s []uint16, at int, then func(int) bool) bool {
		return !a.ends(s, at, func(int) bool { return true }) && then(at)
	}}
}

// Patterns with surrogates match what a plain matcher matches.
func TestPatternsWithSurrogates(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		re := pick(r, 3)
		s := make([]uint16, 1+r.IntN(6))
		var text strings.Builder
		for i := range s {
			s[i] = []uint16{'a', 0xd83c, 0xd83d, 0xde00, 0xde01, 0xdc00, 0xfffd}[r.IntN(7)]
			fmt.Fprintf(&text, `\u%04x`, s[i])
		}
		var want []string
		for at := 0; at <= len(s); at++ {
			end := -1
			if re.ends(s, at, func(e int) bool { end = e; return true }) {
				want = append(want, fmt.Sprint(at, "+", end-at))
				if end > at {
					at = end - 1
				}
			}
		}
		v, err := run(t, fmt.Sprintf("[/%[1]s/g, new RegExp('%[1]s', 'g')].map(re => [...'%[2]s'.matchAll(re)].map(m => m.index + '+' + m[0].length)).join(' or ')", re.text, text.String()))
		if got := strings.Join(want, ","); err != nil || v.String() != got+" or "+got {
			t.Fatalf("seed %d: /%s/g in '%s': %v, %v; by the model %s", seed, re.text, text.String(), v, err, got)
		}
	}
}

// A call is where V8 has it: at its last token if that is a name, else at the parenthesis. | is the place.
func TestPlacesOfCalls(t *testing.T) {
	for _, marked := range []string{
		"|f()", "|f /* of */ (1)", "(f)|(1)", "o.|f()", "o\t. |f (1)", "o['f']|(1)", "(o.f)|()", "o?.|f()", "o.f?.|()", "o.o.|f(o.f)",
		"o.delete|()", "o.|let()", "|new f()", "|new o.f", "(() => f)()|()",
	} {
		before, after, _ := strings.Cut(marked, "|")
		_, err := run(t, "var o = { f, delete: f, let: f, get o() { return o } }; function f() { throw new Error() }\n"+before+after)
		var e *gojaloop.Error
		if want := fmt.Sprintf("a.js:2:%d", len(before)+1); !errors.As(err, &e) || !strings.HasSuffix(e.Stack, want) {
			t.Errorf("%s: %#v, want %s", marked, err, want)
		}
	}
}
