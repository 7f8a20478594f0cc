package httploop

// The end of the server while clients go on sending.

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// dial returns a connection to a server, which ends with the test, and what reads from it.
func dial(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, bufio.NewReader(conn)
}

// TestDrainAmidRequests: clients have sent more requests, or a part of one, when the server is told to end. What has begun is
// answered, and told to be the last; the rest is not answered, and takes back no response that is under way.
func TestDrainAmidRequests(t *testing.T) {
	const size, first, more = 16 << 20, "GET /short HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	goOn := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/short", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_ = threadlet.Do(context.Background(), func(context.Context) error { <-goOn; return nil })
		w.Write(make([]byte, size))
	})
	i := serve(t, &Server{Handler: mux})
	_, idle := dial(t, i.addr)
	half, begun := dial(t, i.addr)
	io.WriteString(half, first+more[:20])
	if r, err := http.ReadResponse(begun, nil); err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r, err)
	}
	conn, in := dial(t, i.addr)
	io.WriteString(conn, first+more)
	last := false
	response := func() (size int64, err error) {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return 0, err
		}
		last = r.Close
		return io.Copy(io.Discard, r.Body)
	}
	if _, err := response(); err != nil { // so the next request was read as well
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- flow.StopGracefully(context.Background(), i.group, patience) }()
	if _, err := idle.ReadByte(); err != io.EOF {
		t.Error(err)
	}
	io.WriteString(half, more[20:])
	io.WriteString(conn, strings.Repeat(more, 1000))
	close(goOn)
	if r, err := http.ReadResponse(begun, nil); err != nil || !r.Close {
		t.Error("a request that had begun was not answered, or not told that it is the last:", r, err)
	} else if n, err := io.Copy(io.Discard, r.Body); n != size || err != nil {
		t.Error(n, err)
	}
	_ = half.Close()
	if n, err := response(); n != size || err != nil || !last {
		t.Errorf("%d bytes, %v, the last one: %v", n, err, last)
	}
	_ = conn.Close()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestDrainAmidBody: a request has begun also if its body has not arrived when the server is told to end.
func TestDrainAmidBody(t *testing.T) {
	begun := make(chan struct{})
	i := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
	})})
	_, idle := dial(t, i.addr)
	conn, in := dial(t, i.addr)
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n")
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- flow.StopGracefully(context.Background(), i.group, patience) }()
	if _, err := idle.ReadByte(); err != io.EOF {
		t.Error(err)
	}
	io.WriteString(conn, "hello")
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r.Body); string(b) != "hello" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	_ = conn.Close()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
