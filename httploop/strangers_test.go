package httploop

// What strangers send, answered as by net/http's server, or in the other way that the package says.

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

const h = " HTTP/1.1\r\nHost: h\r\n"

func get(path, head string) string        { return "GET " + path + h + head + "\r\n" }
func post(path, head, body string) string { return "POST " + path + h + head + "\r\n" + body }
func chunk(s string) string               { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// strangers are streams of requests.
func strangers() []string {
	big := strings.Repeat("x", 300<<10)
	return []string{
		// Request lines.
		"", "\r\n", "\r\n\r\n" + get("/", ""), "\n" + get("/", ""), "G", "GET", "GET /", "GET / HTTP/1.1", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: h",
		"GET / HTTP/1.1\r\nHost: h\r\n",
		"GET\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", " GET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET / HTTP/1.2\r\nHost: h\r\n\r\n", "GET / HTTP/0.9\r\n\r\n", "GET / HTTP/3.0\r\n\r\n", "GET / HTTP/1.10\r\nHost: h\r\n\r\n",
		"GET / http/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/11\r\n\r\n", "GET / HTTP/1\r\n\r\n",
		"G\x00T / HTTP/1.1\r\nHost: h\r\n\r\n", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n", "get /what HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET http://other/what HTTP/1.1\r\nHost: h\r\n\r\n", "GET *" + h + "\r\n", "OPTIONS *" + h + "\r\n", "OPTIONS /what" + h + "\r\n",
		"GET http://other/what HTTP/1.1\r\n\r\n", "GET http://other/what HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET / HTTP/1.1\r\nHost: good@evil\r\n\r\n",
		"GET http://other/what HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET http://other/what HTTP/1.0\r\n\r\n", "CONNECT h:80 HTTP/1.1\r\n\r\n",
		"CONNECT h:80 HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET http://other/what HTTP/1.1\r\nX: " + strings.Repeat("y", 9000) + "\r\nHost: a/b\r\n\r\n",
		"CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n", "CONNECT /what HTTP/1.1\r\nHost: h\r\n\r\n", "GET what HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", "GET /what%00 HTTP/1.1\r\nHost: h\r\n\r\n", "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n", "GET //what HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a/../what HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /" + strings.Repeat("a", 10000) + h + "\r\n", "GET /" + strings.Repeat("a", 2<<20) + h + "\r\n", strings.Repeat("a", 2<<20),
		"GET / HTTP/1.1\nHost: h\n\n",
		// Headers.
		get("/", "X: y\r\n"), get("/what", " folded\r\n"), get("/what", "X: a\r\n b\r\n"), get("/", "X : y\r\n"), get("/", ": y\r\n"), get("/", "X\r\n"),
		get("/", "X:\r\n"), get("/", "X: \x00\r\n"), get("/", "X: \x7f\r\n"), get("/what", "X: \xff\r\n"), get("/what", "x-\xff: y\r\n"),
		get("/", "X: a\rb\r\n"), get("/what", "X Y: a\r\n"), get("/what", "X: \ta\t\r\n"),
		"GET /what HTTP/1.1\r\nhost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET / HTTP/1.1\r\nHost: \x01\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h,i\r\n\r\n", "GET http://u:p@h/what HTTP/1.1\r\nHost: x\r\n\r\n", "GET http:///what HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\n Host: h\r\n\r\n", "GET /what HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "GET /what HTTP/1.0\r\nHost: a b\r\n\r\n",
		"GET /what HTTP/1.1\r\nHost: h:80:90\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "GET / HTTP/1.1\r\nHost: \xff\r\n\r\n",
		get("/none", strings.Repeat("X: y\r\n", 5000)), get("/none", strings.Repeat("X: y\r\n", 200000)),
		get("/none", "X: "+strings.Repeat("y", 500<<10)+"\r\n"), get("/none", "X: "+strings.Repeat("y", 1<<20-100)+"\r\n"),
		get("/none", "X: "+strings.Repeat("y", 1<<20)+"\r\n"), get("/none", "X: "+strings.Repeat("y", 1<<20+3000)+"\r\n"),
		get("/none", "X: "+strings.Repeat("y", 1<<20+4000)+"\r\n"), get("/none", "X: "+strings.Repeat("y", 1<<20+5000)+"\r\n"),
		get("/none", strings.Repeat("X", 2<<20)),
		// Length.
		post("/all", "Content-Length: -1\r\n", "x"), post("/all", "Content-Length: +1\r\n", "x"), post("/all", "Content-Length: 1 \r\n", "x"),
		post("/all", "Content-Length: 0x1\r\n", "x"), post("/all", "Content-Length: 01\r\n", "x"), post("/all", "Content-Length:\r\n", "x"),
		post("/all", "Content-Length: 1,1\r\n", "x"), post("/all", "Content-Length: 1\r\nContent-Length: 1\r\n", "x"),
		post("/all", "Content-Length: 1\r\nContent-Length: 2\r\n", "xy"), post("/all", "Content-Length: 9223372036854775808\r\n", ""),
		post("/all", "Content-Length: 99999999999999999999999\r\n", ""), post("/all", "Content-Length: 1e1\r\n", ""),
		post("/all", "Content-Length: \r\nContent-Length: 1\r\n", "x"), post("/all", "Content-Length : 1\r\n", "x"), post("/all", "", ""),
		post("/all", "", get("/", "")), post("/all", "Content-Length: 10\r\n", "abc"), post("/noread", "Content-Length: 9223372036854775807\r\n", ""),
		post("/noread", "Content-Length: 10\r\n", "abc"),
		post("/all", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", chunk("abc")+"0\r\n\r\n"),
		post("/all", "Content-Length: x\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		post("/all", "Content-Length: 1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
		get("/all", "Content-Length: 3\r\n") + "abc", "HEAD /all" + h + "Content-Length: 3\r\n\r\nabc", "DELETE /all" + h + "Content-Length: 3\r\n\r\nabc",
		// Chunks.
		post("/all", "Transfer-Encoding: chunked\r\n", chunk("abc")+"0\r\n\r\n"), post("/all", "Transfer-Encoding: Chunked\r\n", chunk("abc")+"0\r\n\r\n"),
		post("/all", "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\nTrailer: T\r\n", chunk("abc")+"0\r\nT: 1\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", chunk("abc")+"0\r\nT: 1\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n", "0\r\nContent-Length: 1\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\nTrailer: T\r\n", "0\r\nT 1\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\nTrailer: T\r\n", "0\r\nT: "+strings.Repeat("x", 5000)+"\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\nTrailer: T\r\n", "0\r\n"+strings.Repeat("T: x\r\n", 100000)+"\r\n"),
		post("/noread", "Transfer-Encoding: chunked\r\nTrailer: T\r\n", chunk("abc")+"0\r\nT: 1\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "3;ext=1\r\nabc\r\n0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "3 \r\nabc\r\n0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "3;"+strings.Repeat("e", 5000)+"\r\nabc\r\n0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", strings.Repeat("1;"+strings.Repeat("e", 1000)+"\r\na\r\n", 100)+"0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "-1\r\nabc\r\n0\r\n\r\n"), post("/all", "Transfer-Encoding: chunked\r\n", "+3\r\nabc\r\n0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "0x3\r\nabc\r\n0\r\n\r\n"), post("/all", "Transfer-Encoding: chunked\r\n", "g\r\nabc\r\n0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "\r\nabc\r\n0\r\n\r\n"), post("/all", "Transfer-Encoding: chunked\r\n", "11111111111111111\r\nabc"),
		post("/all", "Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\nabc"), post("/all", "Transfer-Encoding: chunked\r\n", "3\r\nabcd\r\n0\r\n\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "3\r\nab"), post("/all", "Transfer-Encoding: chunked\r\n", "3\r\nabc"),
		post("/all", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"), post("/all", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", "3\nabc\n0\n\n"),
		post("/all", "Transfer-Encoding: chunked\r\n", strings.Repeat(chunk("a"), 20000)+"0\r\n\r\n"),
		post("/noread", "Transfer-Encoding: chunked\r\n", strings.Repeat(chunk("a"), 1000)+"0\r\n\r\n"),
		post("/noread", "Transfer-Encoding: chunked\r\n", "zz\r\n"), post("/noread", "Transfer-Encoding: chunked\r\n", chunk("abc")),
		post("/noread", "Transfer-Encoding: chunked\r\n", chunk(big)+"0\r\n\r\n"),
		post("/noread", "Transfer-Encoding: chunked\r\n", chunk(strings.Repeat("x", 250<<10))+"0\r\n\r\n"),
		"POST /all HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST /all HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "POST /all HTTP/1.0\r\n\r\nabc",
		"POST /all HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", "POST /all HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc",
		// Bodies that handlers leave.
		post("/none", "Content-Length: 3\r\n", "abc"), post("/noread", "Content-Length: 3\r\n", "abc"), post("/some", "Content-Length: 3\r\n", "abc"),
		post("/some", "Content-Length: 5\r\n", "abcde"), post("/some", "Content-Length: 2\r\n", "ab"), post("/some", "Content-Length: 5\r\n", "ab"),
		post("/close", "Content-Length: 5\r\n", "abcde"), post("/close", "Transfer-Encoding: chunked\r\n", chunk("abc")+"0\r\n\r\n"),
		post("/late", "Content-Length: 5\r\n", "abcde"), post("/noread", "Content-Length: 262144\r\n", strings.Repeat("x", 256<<10)),
		post("/noread", "Content-Length: 262145\r\n", strings.Repeat("x", 256<<10+1)), post("/noread", "Content-Length: 307200\r\n", big),
		post("/some", "Content-Length: 307200\r\n", big), post("/close", "Content-Length: 307200\r\n", big),
		post("/some", "Content-Length: 262147\r\n", strings.Repeat("x", 256<<10+3)),
		post("/some", "Content-Length: 262148\r\n", strings.Repeat("x", 256<<10+4)), post("/late", "Content-Length: 307200\r\n", big),
		post("/late", "Transfer-Encoding: chunked\r\n", chunk(big)+"0\r\n\r\n"), post("/panic", "Content-Length: 5\r\n", "abcde"),
		// Expect.
		post("/all", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"), post("/noread", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"),
		post("/noread", "Expect: 100-continue\r\nContent-Length: 3\r\n", ""), post("/all", "Expect: 100-Continue\r\nContent-Length: 3\r\n", "abc"),
		post("/all", "Expect: 100-continue\r\nContent-Length: 0\r\n", ""), post("/all", "Expect: 100-continue\r\n", ""),
		post("/all", "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", chunk("abc")+"0\r\n\r\n"),
		post("/noread", "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", ""),
		post("/close", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"), post("/all", "Expect: 200-ok\r\nContent-Length: 3\r\n", "abc"),
		post("/all", "Expect: 100-continue, x\r\nContent-Length: 3\r\n", "abc"), post("/all", "Expect:\r\nContent-Length: 3\r\n", "abc"),
		post("/all", "Expect: x 100-continue\r\nContent-Length: 3\r\n", "abc"),
		"GET / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\nExpect: 100-continue\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nExpect: miracles\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\nConnection: close\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST /all HTTP/1.0\r\nExpect: 100-continue\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc",
		"POST /all HTTP/1.0\r\nExpect: x\r\nContent-Length: 3\r\n\r\nabc", post("/panic", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"),
		post("/some", "Expect: 100-continue\r\nContent-Length: 5\r\n", "abcde"),
		// Keep-alive.
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
		"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"GET /none HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /204body HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"GET /304cl HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /late HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"GET /less HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /more HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /keep HTTP/1.0\r\n\r\n",
		"GET /keep HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /nosuch HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		get("/", "Connection: keep-alive\r\n"), get("/", "Connection: Close\r\n"), get("/", "Connection: x, close\r\n"), get("/", "Connection: closed\r\n"), get("/", "Connection: x close\r\n"), get("/", "Connection: close\tx\r\n"), get("/", "Connection: x\r\n close\r\n"),
		"GET / HTTP/1.0\r\nConnection: x keep-alive\r\n\r\n",
		get("/", "Connection: keep-alive\r\nConnection: close\r\n"), get("/", "Connection: upgrade\r\nUpgrade: h2c\r\n"),
		get("/", "Proxy-Connection: close\r\n"), get("/keep", "Connection: close\r\n"), "GET /panic HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		// HEAD.
		"HEAD /" + h + "\r\n", "HEAD /none" + h + "\r\n", "HEAD /late" + h + "\r\n", "HEAD /more" + h + "\r\n", "HEAD /less" + h + "\r\n",
		"HEAD /nosuch" + h + "\r\n", "HEAD /204cl" + h + "\r\n", "HEAD /304cl" + h + "\r\n", "HEAD /panic" + h + "\r\n", "HEAD / HTTP/1.0\r\n\r\n",
		// Handlers.
		get("/more", ""), get("/moreflushed", ""), get("/less", ""), get("/panic", ""), get("/panicwritten", ""), get("/panicflushed", ""),
		get("/204body", ""), get("/304cl", ""), get("/204cl", ""), get("/badcl?cl=3", ""),
		get("/te?te=", ""), get("/inject", ""), get("/status?n=200", ""), get("/status?n=299", ""), get("/status?n=600", ""), get("/status?n=999", ""),
		get("/upgrade", ""), get("/1xx", ""), get("/keep", ""), get("/trailers", ""), get("/ctype", ""), get("/nil", ""), "GET /nil HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		get("/more-trailers", ""), get("/none", ""), "GET /trailers HTTP/1.0\r\n\r\n",
		"GET /1xx HTTP/1.0\r\n\r\n", get("/status?n=205", ""),
		strings.Repeat(get("/", ""), 2000), strings.Repeat(post("/all", "Content-Length: 3\r\n", "abc"), 1000), strings.Repeat(get("/panic", ""), 3),
	}
}

// others are streams that net/http's server answers in another way: status and fate of the connection there and here.
var others = []struct{ stream, theirs, ours string }{
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 ends", "505 ends"}, // there is no HTTP/2
	// http.ReadRequest does not tell an empty field Host from none.
	{"GET /what HTTP/1.1\r\nHost:\r\n\r\n", "200 stays", "400 ends"},
	// It does not tell an unknown transfer coding from other mistakes.
	{post("/all", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), "501 ends", "400 ends"},
	{post("/all", "Transfer-Encoding: identity\r\n", "0\r\n\r\n"), "501 ends", "400 ends"},
	{post("/all", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "501 ends", "400 ends"},
	{post("/all", "Transfer-Encoding:\r\n", ""), "501 ends", "400 ends"},
	// A body may be read after the response has begun.
	{post("/late", "Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"), "200 ends", "200 stays"},
	// Of the body of such a request net/http reads four kilobytes.
	{"OPTIONS *" + h + "Content-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000), "200 ends", "200 stays"},
	// What handlers say of Transfer-Encoding, and lengths that are no numbers, are ignored. Lengths are sent as numbers are.
	{get("/badcl?cl=%2b5", ""), "", "200 stays"},
	{get("/badcl?cl=05", ""), "200 stays", "200 stays"},
	{get("/te?te=chunked", ""), "200 stays", "200 stays"},
	{get("/te?te=identity", ""), "200 ends", "200 stays"},
	{get("/te?te=gzip", ""), "", "200 stays"},
	{get("/tecl", ""), "200 stays", "200 stays"},
	{"HEAD /tecl" + h + "\r\n", "200 stays", "200 stays"},
	{get("/badcl?cl=-1", ""), "200 stays", "200 stays"},
	{get("/badcl?cl=x", ""), "200 stays", "200 stays"},
	{get("/badcl?cl=5%205", ""), "200 stays", "200 stays"},
	{get("/badcl?cl=", ""), "200 stays", "200 stays"},
}

// TestStrangers: whatever is sent, the responses are net/http's, and the connection ends when that one does. Each
// stream is sent alone, and before a valid request.
func TestStrangers(t *testing.T) {
	mux := strange(t)
	reference := httptest.NewUnstartedServer(mux)
	reference.Config.ErrorLog = log.New(io.Discard, "", 0)
	reference.Start()
	defer reference.Close()
	there, here := reference.Listener.Addr().String(), serve(t, &Server{Handler: mux}).addr
	for _, stream := range strangers() {
		for _, s := range []string{stream, stream + get("/", "")} {
			same(t, there, here, s)
		}
	}
	first := regexp.MustCompile(`^(\d+) .* close (true|false) `)
	fate := func(addr, stream string) string {
		found := first.FindStringSubmatch(transcript(t, addr, stream))
		if found == nil {
			return ""
		}
		return found[1] + map[string]string{"true": " ends", "false": " stays"}[found[2]]
	}
	for _, c := range others {
		if theirs, ours := fate(there, c.stream), fate(here, c.stream); theirs != c.theirs || ours != c.ours {
			t.Errorf("%.200q: %q here, %q there, want %q, %q", c.stream, ours, theirs, c.ours, c.theirs)
		}
	}
}

// TestPanic: a handler that panics ends its connection, as net/http's does, and nothing else.
func TestPanic(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/", handlers())
	mux.HandleFunc("/panic", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "some")
		panic("of the handler")
	})
	mux.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(99) })
	var reported atomic.Int64
	i := serve(t, &Server{Handler: mux}, eventloop.WithPanicHandler(func(*eventloop.PanicError) { reported.Add(1) }))
	for range 10 {
		for _, path := range []string{"/panic", "/status"} {
			if got := transcript(t, i.addr, get("/", "")+get(path, "")+get("/", "")); strings.Count(got, "hello") != 1 || !strings.HasSuffix(got, "\nend") {
				t.Error(got)
			}
		}
	}
	beat.Eventually(t, func() bool { return reported.Load() == 20 }, "twenty reports") // behind the end of the connection
}

// TestPlainToTLS: a client that forgets TLS is told so.
func TestPlainToTLS(t *testing.T) {
	config, _ := certificate(t)
	i := serve(t, &Server{TLSConfig: config})
	for request, want := range map[string]string{get("/", ""): "400 ", "nonsense": "end"} {
		if got := transcript(t, i.addr, request); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", request, got)
		}
	}
}

// A tap keeps what is read from a connection.
type tap struct {
	net.Conn
	read []byte
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read = append(c.read, p[:n]...)
	return n, err
}

// TestEndOfTLS: however a connection ends after a response, its last record says so: a client without it must take the
// response for cut off.
func TestEndOfTLS(t *testing.T) {
	config, pool := certificate(t)
	i := serve(t, &Server{TLSConfig: config})
	for _, stream := range []string{
		get("/", "Connection: close\r\n"), "nonsense\r\n\r\n", post("/nosuch", "Content-Length: 500000\r\n", "12"),
	} {
		conn, _ := dial(t, i.addr)
		wire := &tap{Conn: conn}
		client := tls.Client(wire, &tls.Config{RootCAs: pool, ServerName: "example.com", MaxVersion: tls.VersionTLS12}) // where records tell their kinds
		if _, err := io.WriteString(client, stream); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, client); err != nil {
			t.Errorf("%.30q: %v", stream, err)
		}
		const header, alert = 5, 21
		last := byte(0)
		for rest := wire.read; len(rest) >= header; rest = rest[min(len(rest), header+int(binary.BigEndian.Uint16(rest[3:]))):] {
			last = rest[0]
		}
		if last != alert {
			t.Errorf("%.30q: the last record is of kind %d", stream, last)
		}
	}
}

// TestSlow: a client that says nothing more is disconnected, and so is one that sends or reads a byte now and then: the limits are for
// whole stages.
func TestSlow(t *testing.T) {
	const short, tick = 300 * time.Millisecond, 20 * time.Millisecond
	secure, _ := certificate(t)
	header := func(s *Server) { s.ReadHeaderTimeout = short }
	request := func(s *Server) { s.ReadTimeout = short }
	idle := func(s *Server) { s.IdleTimeout = short }
	for name, c := range map[string]struct {
		limit       func(*Server)
		tls         *tls.Config
		begin, drip string
	}{
		"nothing":          {limit: idle},
		"no handshake":     {limit: header, tls: secure, begin: "\x16\x03\x01"},
		"half a header":    {limit: header, begin: "GET / HTTP/1.1\r\nHo"},
		"no body":          {limit: request, begin: post("/echo", "Content-Length: 10\r\n", "x")},
		"a slow handshake": {limit: header, tls: secure, begin: "\x16\x03\x01\x02\x00", drip: "\x01"},
		"a slow header":    {limit: header, begin: "GET / HTTP/1.1\r\nX: ", drip: "x"},
		"fields":           {limit: header, begin: "GET / HTTP/1.1\r\n", drip: "X: y\r\n"},
		"a slow body":      {limit: request, begin: post("/echo", "Content-Length: 100000\r\n", ""), drip: "x"},
		"chunks":           {limit: request, begin: post("/echo", "Transfer-Encoding: chunked\r\n", ""), drip: "1\r\nx\r\n"},
		"trailers":         {limit: request, begin: post("/echo", "Transfer-Encoding: chunked\r\n", "0\r\n"), drip: "X: y\r\n"},
		"unread":           {limit: request, begin: post("/nosuch", "Content-Length: 100000\r\n", ""), drip: "x"},
		"refused":          {limit: func(s *Server) { s.lingers = short }, begin: "nonsense\r\n\r\n", drip: "x"},
		"no more requests": {limit: idle, begin: get("/", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Server{TLSConfig: c.tls}
			if c.drip != "" {
				s.lingers = time.Second // which it goes on through
			}
			c.limit(s)
			i := serve(t, s)
			began := time.Now()
			conn, _ := dial(t, i.addr)
			_, err := io.WriteString(conn, c.begin)
			for err == nil {
				_ = conn.SetReadDeadline(time.Now().Add(tick))
				if _, err = io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
					_, err = io.WriteString(conn, c.drip)
				} else if err == nil && c.drip == "" {
					break
				} else if err == nil {
					if _, err = io.WriteString(conn, "x"); err == nil { // it may have finished sending only
						time.Sleep(tick)
					}
				}
			}
			if d := time.Since(began); d < short {
				t.Errorf("disconnected after %v", d)
			}
			if name != "no body" { // the rest of it is waited for
				beat.Do(t, "the end of the server", func() {
					if err := flow.StopGracefully(t.Context(), i.group, patience); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// TestUnreadResponse: a client that does not read the response is given up.
func TestUnreadResponse(t *testing.T) {
	ended := make(chan struct{})
	conn, _ := dial(t, serve(t, &Server{WriteTimeout: 50 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				close(ended)
				return
			}
		}
	})}).addr)
	if _, err := io.WriteString(conn, get("/", "")); err != nil {
		t.Fatal(err)
	}
	beat.Receive(t, ended, "the end of the response")
}

// TestVanish: clients that vanish at any byte, by an end or a reset, leave nothing behind, and others are served.
func TestVanish(t *testing.T) {
	i := serve(t, &Server{Handler: strange(t)})
	stream := post("/all", "Content-Length: 30\r\n", strings.Repeat("x", 30)) +
		post("/late", "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", chunk("abc")+"0\r\nT: 1\r\n\r\n") + get("/nosuch", "")
	for n := range len(stream) {
		conn, err := net.Dial("tcp", i.addr)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, stream[:n])
		if n%2 == 0 {
			err = errors.Join(err, conn.(*net.TCPConn).SetLinger(0))
		}
		if err = errors.Join(err, conn.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if got := transcript(t, i.addr, get("/", "")); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	beat.Eventually(t, func() bool {
		return len(threadlet.Threadlets(i.group.Loop(0)))+len(threadlet.Threadlets(i.group.Loop(1))) == 2 // the acceptors'
	}, "the threadlets of all connections to end")
}
