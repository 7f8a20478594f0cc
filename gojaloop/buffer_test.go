package gojaloop_test

// The test of Buffer.

import (
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// Each line is what Node prints too.
func TestBuffer(t *testing.T) {
	const script = `
const b = Buffer.from('h\u00e9llo')
b.slice(0, 1)[0] = 72
console.log(b, b.toString('base64url'), b.toString('latin1', 1, 3) === '\u00c3\u00a9', Buffer.from('\u20ac', 'utf16le'))
console.log(b.indexOf('llo'), b.lastIndexOf(108), b.includes('x'), b.indexOf(Buffer.from('o'), -1), Buffer.compare(b, Buffer.from('I')))
console.log(Buffer.from([1, 2, 3, 4]).swap16(), Buffer.alloc(5, 'ab').toString(), Buffer.from(JSON.parse(JSON.stringify(b))).equals(b))
console.log(Buffer.from('\u00e9\u00e9').copy(b, 4), b.fill('xy', 2).toString('hex'), b.write('\u00e9\u00e9', 0, 3), Buffer.byteLength('\u00e9'))
console.log(b.map(n => n + 1) instanceof Buffer, require('buffer').Buffer === Buffer, Buffer(2), new Buffer('a') instanceof Uint8Array)
for (const f of [() => Buffer.from(5), () => Buffer.alloc(-1), () => Buffer.from('a', 'nope'), () => Buffer.from([1]).swap16()])
	try { f() } catch (e) { console.log(e.name, e.code) }
`
	const want = `<Buffer 48 c3 a9 6c 6c 6f> SMOpbGxv true <Buffer ac 20>
3 4 false 5 -1
<Buffer 02 01 04 03> ababa true
2 48c378797879 2 2
true true <Buffer 00 00> true
TypeError ERR_INVALID_ARG_TYPE
RangeError ERR_OUT_OF_RANGE
TypeError ERR_UNKNOWN_ENCODING
RangeError ERR_INVALID_BUFFER_SIZE
`
	loop, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	host, err := gojaloop.New(loop, gojaloop.WithOutput(&out, &out))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.Run(t.Context(), "main.js", script); err != nil || out.String() != want {
		t.Errorf("%v, it prints\n%s", err, &out)
	}
}
