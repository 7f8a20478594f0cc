package resp_test

// Requests in whatever pieces, what they may cost, and replies.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/turnloop/turnloop/internal/resp"
)

func TestRequests(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // words of requests, each in quotes, and the error at the end
	}{
		{"", `EOF`},
		{"*1\r\n$4\r\nPING\r\n", `["PING"] EOF`},
		{"*2\r\n$0\r\n\r\n$3\r\na\r\n\r\n*1\r\n$1\r\nx\r\n", `["" "a\r\n"] ["x"] EOF`},
		{"*0\r\n*-1\r\n\r\n  \r\nPING\n", `["PING"] EOF`},
		{"set  a \"b \\x41\\n\\\"\" 'c\\'d'\r\n", `["set" "a" "b A\n\"" "c'd"] EOF`},
		{"set \"\" ''\r\n", `["set" "" ""] EOF`},
		{"set a\"b c\"\r\n", `["set" "ab c"] EOF`},
		{"set a\"b\r\n", `Protocol error: unbalanced quotes in request`},
		{"\v\fset\va\r\n", `["set\va"] EOF`},
		{"set \"a\r\n", `Protocol error: unbalanced quotes in request`},
		{"set \"a\"b\r\n", `Protocol error: unbalanced quotes in request`},
		{"*x\r\n", `Protocol error: invalid multibulk length`},
		{"*1\r\n$*\r\n*1\r\n$4\r\nPING\r\n", `Protocol error: invalid bulk length`},
		{"*000001\r\n$4\r\nPING\r\n", `Protocol error: invalid multibulk length`},
		{"*1\r\n$1\rx\r\n", `Protocol error: invalid bulk length`},
		{"*1\r\n$999999\r\n", `unexpected EOF`},
		{"*1\r\n$1000000\r\n", `unexpected EOF`},
		{"*1048577\r\n", `Protocol error: invalid multibulk length`},
		{"*1\r\n:1\r\n", `Protocol error: expected '$', got ':'`},
		{"*1\r\n\r\n", "Protocol error: expected '$', got '\r'"},
		{"*1\r\n$-1\r\n", `Protocol error: invalid bulk length`},
		{"*1\r\n$536870913\r\n", `Protocol error: invalid bulk length`},
		{"*1\r\n$99999999999999999999\r\n", `Protocol error: invalid bulk length`},
		{"*1\r\n$1\r\nabc\r\n", `Protocol error: expected the end of a line after a bulk`},
		{"PI", `unexpected EOF`},
		{"*1\r\n$4\r\nPIN", `unexpected EOF`},
		{strings.Repeat("x", resp.MaxLine+1), `Protocol error: too big inline request`},
		{"*2\r\n$3\r\nGET\r\n$" + strings.Repeat("1", resp.MaxLine+1), `Protocol error: too big bulk count string`},
		{"*" + strings.Repeat("1", resp.MaxLine+1), `Protocol error: too big mbulk count string`},
		{"*1\n$4\r\nPING\r\n", `Protocol error: invalid multibulk length`},
		{"*1\r\n$4\nPING\r\n", `Protocol error: invalid bulk length`},
		{"*1\r\n$*\r\n", `Protocol error: invalid bulk length`},
	} {
		for name, source := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
		} {
			if got := transcript(resp.NewReader(source(strings.NewReader(c.in)))); got != c.want {
				t.Errorf("%.40q, %s: %s, want %s", c.in, name, got, c.want)
			}
		}
	}
}

// Lines of lengths mean the same whether they arrive at once or not, right or wrong.
func TestLengthsInPieces(t *testing.T) {
	pieces := []string{"*1\r\n", "*2\r\n", "$1\r\n", "$0\r\n", "$12\r\n", "x\r\n", "\r\n", "\r", "\n", "*", "$", "-", "0", "1", "9", "999999", "x"}
	for range 20_000 {
		var in string
		for range 1 + rand.IntN(6) {
			in += pieces[rand.IntN(len(pieces))]
		}
		whole, bytewise := transcript(resp.NewReader(strings.NewReader(in))), transcript(resp.NewReader(iotest.OneByteReader(strings.NewReader(in))))
		if whole != bytewise {
			t.Fatalf("%q: %s, and in bytes: %s", in, whole, bytewise)
		}
	}
}

func transcript(r *resp.Reader) string {
	var out []string
	for {
		words, err := r.Request()
		if err != nil {
			return strings.Join(append(out, err.Error()), " ")
		}
		out = append(out, fmt.Sprintf("%q", words))
	}
}

// What was written is read, whatever it is, and wherever it is torn; and Offset tells where each request ends.
func TestRoundTrip(t *testing.T) {
	var stream []byte
	var want [][]string
	var ends []int64
	for i := range 300 {
		var words []string
		for j := range 1 + i%7 {
			words = append(words, strings.Repeat(string(rune('a'+j))+"\r\n", i*j%1500))
		}
		stream = resp.AppendRequest(stream, words...)
		want, ends = append(want, words), append(ends, int64(len(stream)))
	}
	for _, source := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream))} {
		r := resp.NewReader(source)
		for i := range want {
			words, err := r.Request()
			if err != nil || fmt.Sprintf("%q", words) != fmt.Sprintf("%q", want[i]) || r.Offset() != ends[i] {
				t.Fatalf("request %d: %.100q, %v, at %d", i, words, err, r.Offset())
			}
		}
		if _, err := r.Request(); err != io.EOF {
			t.Error(err)
		}
	}
}

// Memory grows with what arrives, and not with what is announced.
func TestAnnouncedIsNotTaken(t *testing.T) {
	for _, head := range []string{"*1\r\n$536870912\r\n", "*1048576\r\n$1\r\nx\r\n"} {
		stop := errors.New("stop")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := resp.NewReader(io.MultiReader(strings.NewReader(head), iotest.ErrReader(stop)))
		if _, err := r.Request(); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 256<<10 {
			t.Errorf("%q takes %d bytes", head, got)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	stream := bytes.Repeat(resp.AppendRequest(nil, "SET", "key", "value"), 100)
	source := bytes.NewReader(stream)
	r := resp.NewReader(source)
	out := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		source.Reset(stream)
		for range 100 {
			words, err := r.Request()
			if err != nil || len(words) != 3 {
				t.Fatal(words, err)
			}
			out = resp.AppendBulk(out[:0], words[2])
		}
	}); n > 0 {
		t.Errorf("%v allocations for 100 requests", n)
	}
}

func TestParseInt(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "-1": -1, "10": 10, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64} {
		if n, ok := resp.ParseInt([]byte(s)); !ok || n != want {
			t.Errorf("%q: %d, %v", s, n, ok)
		}
	}
	for _, s := range []string{"", "-", "+1", "--1", "-+1", "01", "-0", "1 ", " 1", "1_0", "0x1", "9223372036854775808", "-9223372036854775809", "9999999999999999999", "-9999999999999999999", "18446744073709551616"} {
		if n, ok := resp.ParseInt([]byte(s)); ok {
			t.Errorf("%q is %d", s, n)
		}
	}
	for range 100_000 { // strconv writes each number in the one way in which it is read
		s := strconv.AppendInt(nil, int64(rand.Uint64())>>rand.IntN(64), 10)
		for range rand.IntN(3) {
			s = slices.Insert(s, rand.IntN(len(s)+1), "-+_09"[rand.IntN(5)])
		}
		want, err := strconv.ParseInt(string(s), 10, 64)
		known := err == nil && strconv.FormatInt(want, 10) == string(s)
		if n, ok := resp.ParseInt(s); ok != known || ok && n != want {
			t.Fatalf("%q: %d, %v, want %d, %v", s, n, ok, want, known)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	stream := bytes.Repeat(resp.AppendRequest(nil, "SET", "key", "value"), 16)
	source := bytes.NewReader(stream)
	r := resp.NewReader(source)
	for i := 0; b.Loop(); i++ {
		if i%16 == 0 {
			source.Reset(stream)
		}
		if _, err := r.Request(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestReplies(t *testing.T) {
	b := resp.AppendSimple(nil, "OK")
	b = resp.AppendError(b, "ERR a\r\nb\n\r\n")
	b = resp.AppendInt(b, -7)
	b = resp.AppendNull(b)
	b = resp.AppendNullArray(b)
	b = resp.AppendArray(b, 1)
	b = resp.AppendBulk(b, "x\r\n")
	if want := "+OK\r\n-ERR a  b\r\n:-7\r\n$-1\r\n*-1\r\n*1\r\n$3\r\nx\r\n\r\n"; string(b) != want {
		t.Errorf("%q, want %q", b, want)
	}
}
