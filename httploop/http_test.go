package httploop

// The server compared with net/http's, by net/http's client, by raw bytes, and by Debian's wrk.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// patience is a limit that no test reaches: what hangs is given up by a watchdog or by go test.
const patience = time.Hour

// handlers returns pages that wait in the ways in which handlers may.
func handlers() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello\n") })
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	mux.HandleFunc("/sleep", func(w http.ResponseWriter, _ *http.Request) {
		_ = threadlet.Sleep(time.Millisecond)
		io.WriteString(w, "slept\n")
	})
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, r *http.Request) {
		_ = threadlet.Do(r.Context(), func(context.Context) error { return nil })
	})
	return mux
}

// instance is a server in this process.
type instance struct {
	group *eventloop.Group
	addr  string
	ended chan error
}

// serve starts a server that has patience with clients of any slowness, unless its limits say otherwise.
func serve(t testing.TB, s *Server, more ...eventloop.Option) *instance {
	t.Helper()
	if s.Handler == nil {
		s.Handler = handlers()
	}
	if s.lingers == 0 {
		s.lingers = patience
	}
	group, err := eventloop.NewGroup(2, more...)
	if err != nil {
		t.Fatal(err)
	}
	first := group.Loop(0)
	listener, err := threadlet.Listen(first, "tcp", "127.0.0.1:0")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no sockets of a loop here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err = threadlet.Go(first, func() { _ = s.ServeGroup(group, listener) }); err != nil {
		t.Fatal(err)
	}
	i := &instance{group, listener.Addr().String(), make(chan error, 1)}
	go func() { i.ended <- group.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = group.Close()
		<-i.ended
	})
	return i
}

// certificate returns the one that net/http's tests use, and a pool that trusts it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	other := httptest.NewUnstartedServer(nil)
	other.StartTLS()
	defer other.Close()
	pool := x509.NewCertPool()
	pool.AddCert(other.Certificate())
	return &tls.Config{Certificates: other.TLS.Certificates}, pool
}

// both calls test with a client and a server, with TLS and without.
func both(t *testing.T, handler http.Handler, test func(t *testing.T, c *http.Client, url string)) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) {
			s, scheme, transport := &Server{Handler: handler}, "http", &http.Transport{ExpectContinueTimeout: patience}
			if secure {
				var pool *x509.CertPool
				s.TLSConfig, pool = certificate(t)
				scheme, transport.TLSClientConfig = "https", &tls.Config{RootCAs: pool, ServerName: "example.com"}
			}
			defer transport.CloseIdleConnections()
			test(t, &http.Client{Transport: transport, Timeout: patience}, scheme+"://"+serve(t, s).addr)
		})
	}
}

// fetch sends a request, and returns the response and its body.
func fetch(t *testing.T, c *http.Client, method, url string, body io.Reader, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(all)
}

// TestClient: net/http's client gets all that it asks for, over one connection.
func TestClient(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/", handlers())
	mux.HandleFunc("/peer", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr, " ", r.TLS != nil) })
	mux.HandleFunc("/many", func(w http.ResponseWriter, _ *http.Request) {
		for n := range 1000 {
			fmt.Fprintln(w, "line", n)
			if n%300 == 0 {
				w.(http.Flusher).Flush()
			}
		}
	})
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	both(t, mux, func(t *testing.T, c *http.Client, url string) {
		_, first := fetch(t, c, "GET", url+"/peer", nil)
		if secure := strings.HasPrefix(url, "https"); !strings.HasSuffix(first, fmt.Sprint(" ", secure)) {
			t.Errorf("%q", first)
		}
		if r, body := fetch(t, c, "GET", url, nil); body != "hello\n" || r.ContentLength != 6 || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%q, %v", body, r)
		}
		if r, _ := fetch(t, c, "HEAD", url, nil); r.ContentLength != 6 {
			t.Errorf("%v", r)
		}
		if r, _ := fetch(t, c, "GET", url+"/nothing", nil); r.StatusCode != http.StatusNoContent {
			t.Errorf("%v", r)
		}
		if r, _ := fetch(t, c, "GET", url+"/nosuch", nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("%v", r)
		}
		if r, body := fetch(t, c, "GET", url+"/many", nil); strings.Count(body, "\n") != 1000 || !slices.Equal(r.TransferEncoding, []string{"chunked"}) {
			t.Errorf("%d lines, %v", strings.Count(body, "\n"), r)
		}
		for _, size := range []int{0, 1, kept, kept + 1, 5 << 20} {
			want := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			for name, body := range map[string]io.Reader{"length": strings.NewReader(want), "chunks": io.MultiReader(strings.NewReader(want))} {
				for _, expect := range []string{"", "100-continue"} {
					if _, got := fetch(t, c, "POST", url+"/echo", body, "Expect", expect); got != want {
						t.Errorf("%s: %d bytes come back as %d", name, size, len(got))
					}
					if s, ok := body.(io.Seeker); ok {
						_, _ = s.Seek(0, io.SeekStart)
					} else {
						body = io.MultiReader(strings.NewReader(want))
					}
				}
			}
		}
		if _, body := fetch(t, c, "GET", url+"/sleep", nil); body != "slept\n" {
			t.Errorf("%q", body)
		}
		if r, _ := fetch(t, c, "GET", url+"/elsewhere", nil); r.StatusCode != http.StatusOK {
			t.Errorf("%v", r)
		}
		if _, last := fetch(t, c, "GET", url+"/peer", nil); last != first {
			t.Errorf("the connection of %s was closed", first)
		}
	})
}

// TestRefusedBody: without "100 Continue" the client sends no body; and the unread body of one request is not taken
// for the next.
func TestRefusedBody(t *testing.T) {
	both(t, http.NotFoundHandler(), func(t *testing.T, c *http.Client, url string) {
		read := false
		body := readerFunc(func(p []byte) (int, error) {
			read = true
			return len(p), nil
		})
		r, err := http.NewRequest("POST", url, body)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = 1 << 40
		r.Header.Set("Expect", "100-continue")
		response, err := c.Do(r)
		if err != nil || response.StatusCode != http.StatusNotFound || !response.Close || read {
			t.Errorf("%v, %v, read %v", response, err, read)
		}
		for _, size := range []int{100, 100 << 10, 1 << 20} {
			if response, _ := fetch(t, c, "POST", url, strings.NewReader(strings.Repeat("GET / HTTP/1.1\r\n\r\n", size/18))); response.StatusCode != http.StatusNotFound {
				t.Errorf("%v", response)
			}
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// same fails the test if the server here answers a stream in another way than net/http's there. That one closes a connection half a second
// after the last response, whether the client has read it or not, so on a busy machine both have three attempts.
func same(t *testing.T, there, here, stream string) {
	t.Helper()
	want, got := "", "-"
	for attempt := 0; got != want && attempt < 3; attempt++ {
		want, got = transcript(t, there, stream), transcript(t, here, stream)
	}
	if got != want {
		t.Errorf("%.200q, %d bytes:\n%.2000s\n--- net/http:\n%.2000s", stream, len(stream), got, want)
	}
}

// transcript returns a server's answer to a stream of requests, after which the client has finished sending.
func transcript(t *testing.T, addr, stream string) string {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.WriteString(conn, stream) // fails if the server refuses the rest of it
		if !strings.Contains(stream, "Content-Length: 500000") {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	var said []string
	in := bufio.NewReader(conn)
	var methods []string
	for line := range strings.SplitSeq(stream, "\n") {
		if method, _, _ := strings.Cut(line[:min(5, len(line))], " "); slices.Contains([]string{"HEAD", "GET", "POST"}, method) {
			methods = append(methods, method)
		}
	}
	for _, method := range append(methods, "GET") {
		r, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			said = append(said, "end")
			break
		}
		body, err := io.ReadAll(r.Body)
		r.Header.Del("X-Content-Type-Options")
		if r.Header.Get("Date") != "" {
			r.Header.Set("Date", "a date")
		}
		if r.StatusCode >= 400 && r.Close {
			body = nil // net/http's text is longer
			r.Header.Del("Content-Length")
			r.Header.Del("Date")
			r.ContentLength, r.TransferEncoding = 0, nil
		}
		said = append(said, fmt.Sprintf("%s length %d %q close %v %q %d bytes %.30q %v %v", r.Status[:3], r.ContentLength, r.TransferEncoding, r.Close,
			fmt.Sprint(slices.Sorted(maps.Keys(r.Header)), r.Header), len(body), body, err, r.Trailer))
	}
	return strings.Join(said, "\n")
}

// TestWrk drives this server and net/http's with Debian's wrk.
func TestWrk(t *testing.T) {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		t.Skip("left out: wrk is missing (Debian: apt-get install wrk)")
	}
	reference := httptest.NewServer(handlers())
	defer reference.Close()
	rate := regexp.MustCompile(`Requests/sec: +([0-9.]+)`)
	for name, addr := range map[string]string{"threadlets": serve(t, &Server{}).addr, "net/http": reference.Listener.Addr().String()} {
		out, err := exec.CommandContext(t.Context(), wrk, "-t1", "-c50", "-d1s", "http://"+addr+"/").CombinedOutput()
		found := rate.FindSubmatch(out)
		lost := bytes.Contains(out, []byte("Socket errors")) && !bytes.Contains(out, []byte("connect 0, read 0, write 0, timeout")) // is late
		if err != nil || found == nil || lost || bytes.Contains(out, []byte("Non-2xx")) {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		t.Logf("%s: %s requests a second", name, found[1])
	}
}
