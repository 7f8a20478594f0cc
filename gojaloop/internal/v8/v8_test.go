package v8

// Tests of the words, by V8's own.

import "testing"

// TestMessage has goja's messages at places of scripts; | is the place.
func TestMessage(t *testing.T) {
	for _, test := range []struct{ goja, source, want string }{
		{"Cannot read property 'x' of undefined", "u.|x", "Cannot read properties of undefined (reading 'x')"},
		{"Cannot read property 'x' of undefined or null", "u|.x()", "Cannot read properties of undefined (reading 'x')"},
		{"Object has no member 'f'", "o.|f()", "o.f is not a function"},
		{"Object has no member 'f'", "(await o)\n\t.|f()", "(intermediate value).f is not a function"},
		{"Object has no member 'f'", "return a.b(1, (2)).|f()", "a.b(...).f is not a function"},
		{"Object has no member 'f'", "o?.p.|f()", "o?.p.f is not a function"},
		{"Object has no member 'f'", "'s'.|f()", `"s".f is not a function`},
		{"Object has no member 'f'", "", "f is not a function"},
		{"Value is not an object: 1", "arr[0]|()", "arr[0] is not a function"},
		{"Value is not an object: 1", "o['x']|()", "o.x is not a function"},
		{"Value is not an object: 1", "g()|()", "g(...) is not a function"},
		{"Value is not an object: 1", "[]|.x`a`", "[] is not a function"},
		{"Value is not an object: 1", "|new o.a()", "o.a is not a constructor"},
		{"Value is not an object: undefined", "|new Promise()", "Promise resolver undefined is not a function"},
		{"Value is not an object: 1", "|new Map([1])", "Iterator value 1 is not an entry object"},
		{"Value is not an object: 1", "if (|x instanceof y)", "Right-hand side of 'instanceof' is not an object"},
		{"Value is not an object: b", "if (|'a' in y)", "Cannot use 'in' operator to search for 'a' in b"},
		{"Value is not object coercible", "const { a, b } = o.|u", "Cannot destructure property 'a' of 'o.u' as it is undefined."},
		{"Value is not object coercible", "const {} = |u", "Cannot destructure 'u' as it is undefined."},
		{"Value is not object coercible", "|function f(x, { b }) {}", "Cannot destructure property 'b' of 'undefined' as it is undefined."},
		{"Cannot convert undefined or null to object", "u.|x = 1", "Cannot set properties of undefined (setting 'x')"},
		{"Cannot convert undefined or null to object", "u|['x'] = 1", "Cannot set properties of undefined (setting 'x')"},
		{"Cannot convert undefined or null to object", "u|[x] = 1", "Cannot set properties of undefined"},
		{"Cannot convert undefined or null to object", "[...|u]", "u is not iterable"},
		{"Cannot convert undefined or null to object", "|f(...u)", "Spread syntax requires ...iterable[Symbol.iterator] to be a function"},
		{"Cannot convert undefined or null to object", "|new Error(text)", "Cannot convert undefined or null to object"},
		{"object is not iterable", "for (const x of o.|a)", "o.a is not iterable"},
		{"Cannot access a variable before initialization", "|y; let y", "Cannot access 'y' before initialization"},
		{"Class constructor cannot be invoked without 'new'", "|X()", "Class constructor X cannot be invoked without 'new'"},
		{"Method Map.prototype.get called on incompatible receiver [object Object]", "", "Method Map.prototype.get called on incompatible receiver #<Object>"},
		{"SyntaxError: <eval>: Line 4:1 Unexpected token } (and 1 more errors)", "", "Unexpected token '}'"},
		{"SyntaxError: <eval>: Line 1:5 Unexpected token ILLEGAL", "", "Invalid or unexpected token"},
		{"Cannot find it", "|x", "Cannot find it"},
	} {
		before, after := test.source, ""
		for i, c := range test.source {
			if c == '|' {
				before, after = test.source[:i], test.source[i+1:]
				break
			}
		}
		if got := Message(test.goja, false, before, after); got != test.want {
			t.Errorf("%s at %s: %s, want %s", test.goja, test.source, got, test.want)
		}
	}
	for _, test := range [][3]string{
		{"Value is not an object: 1", "map (native)", "1 is not a function"},
		{"Value is not an object: 1", "set (native)", "Invalid value used as weak map key"},
		{"Cannot convert undefined or null to object", "keys (native)", "Cannot convert undefined or null to object"},
	} {
		if got := Message(test[0], true, "", test[1]); got != test[2] {
			t.Errorf("%s in %s: %s, want %s", test[0], test[1], got, test[2])
		}
	}
}

func TestAround(t *testing.T) {
	if before, after := Around("1\n€ab\n2", 2, 3); before != "1\n€a" || after != "b\n2" {
		t.Errorf("%q, %q", before, after)
	}
	if before, after := Around("1", 2, 3); before+after != "" {
		t.Errorf("%q, %q of a line that is not there", before, after)
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`abc`: `Unexpected token 'a', "abc" is not valid JSON`, `{"a":1,}`: `Expected double-quoted property name in JSON at position 7`, ``: `Unexpected end of JSON input`,
		`{"a":`: `Unexpected end of JSON input`, `{`: `Expected property name or '}' in JSON at position 1`, `{'a':1}`: `Expected property name or '}' in JSON at position 1`,
		`{"a"`: `Expected ':' after property name in JSON at position 4`, `{"a":1`: `Expected ',' or '}' after property value in JSON at position 6`,
		`[1 2]`: `Expected ',' or ']' after array element in JSON at position 3`, `"€`: `Unterminated string in JSON at position 2`, `1 2`: `Unexpected non-whitespace character after JSON at position 2`,
		`undefined`: `"undefined" is not valid JSON`, `-`: `No number after minus sign in JSON at position 1`, `["a\q"]`: `Bad escaped character in JSON at position 4`,
		`[1, 2, 3, 4, 5, x, 6, 7, 8]`: `Unexpected token 'x', ..." 3, 4, 5, x, 6, 7, 8"... is not valid JSON`, `[1,]`: `Unexpected token ']', "[1,]" is not valid JSON`, `[1]`: ``,
	} {
		if got := JSON(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
