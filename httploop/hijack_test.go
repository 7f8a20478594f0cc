package httploop

// What is not one request after the other: connections that handlers take over, idle connections, and bytes by chance.

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// TestHijack: a handler takes a connection over, before or after it has said 101, and uses it itself or on a goroutine that goes
// on without it.
func TestHijack(t *testing.T) {
	both(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		says := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
		if r.URL.Path == "/said" {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "echo")
			w.WriteHeader(http.StatusSwitchingProtocols)
			says = ""
		}
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, _, err := w.(http.Hijacker).Hijack(); err != http.ErrHijacked {
			t.Error(err)
		}
		if _, err := w.Write([]byte("x")); err != http.ErrHijacked {
			t.Error(err)
		}
		echo := func() {
			defer conn.Close()
			fmt.Fprint(rw, says)
			rw.Flush()
			for {
				line, err := rw.ReadString('\n') // the first may have come with the request
				if err != nil {
					return
				}
				rw.WriteString(line)
				if rw.Flush() != nil {
					return
				}
			}
		}
		if r.URL.Path == "/goroutine" {
			go echo()
			return
		}
		echo()
	}), func(t *testing.T, c *http.Client, url string) {
		for _, path := range []string{"/", "/goroutine", "/said"} {
			r, err := http.NewRequest("GET", url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "echo")
			response, err := c.Transport.RoundTrip(r)
			if err != nil || response.StatusCode != http.StatusSwitchingProtocols || response.Header.Get("Upgrade") != "echo" {
				t.Fatal(response, err)
			}
			conn := response.Body.(io.ReadWriteCloser)
			in := bufio.NewReader(conn)
			for _, line := range []string{"one\n", "two\n"} {
				if _, err := io.WriteString(conn, line); err != nil {
					t.Fatal(err)
				}
				if got, err := in.ReadString('\n'); got != line || err != nil {
					t.Errorf("%q, %v", got, err)
				}
			}
			_ = conn.Close()
		}
	})
}

// TestIdle: a connection between two requests has no threadlet.
func TestIdle(t *testing.T) {
	i := serve(t, &Server{})
	conn, in := dial(t, i.addr)
	for range 3 {
		io.WriteString(conn, get("/", ""))
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		beat.Eventually(t, func() bool {
			return len(threadlet.Threadlets(i.group.Loop(0)))+len(threadlet.Threadlets(i.group.Loop(1))) == 2 // the acceptors'
		}, "the threadlet of the request to end")
	}
}

// FuzzRefused: of no stream of bytes more requests reach the handler than with net/http. The host is among what they are known by.
func FuzzRefused(f *testing.F) {
	for _, s := range strangers() {
		if len(s) < 1000 {
			f.Add([]byte(s))
		}
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "reached")
		w.(http.Flusher).Flush()
		_, _ = io.Copy(io.Discard, r.Body)
	})
	reference := httptest.NewUnstartedServer(handler)
	reference.Config.ErrorLog = log.New(io.Discard, "", 0)
	reference.Start()
	f.Cleanup(reference.Close)
	there, here := reference.Listener.Addr().String(), serve(f, &Server{Handler: handler}).addr
	f.Fuzz(func(t *testing.T, stream []byte) {
		reached := func(addr string) int {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() {
				_, _ = conn.Write(stream)
				_ = conn.(*net.TCPConn).CloseWrite()
			}()
			answer, _ := io.ReadAll(conn)
			return strings.Count(string(answer), "reached")
		}
		for range 3 { // what one has not read when it closes may take back what it has said
			if reached(here) <= reached(there) {
				return
			}
		}
		t.Errorf("%q reaches the handler more often than with net/http", stream)
	})
}
