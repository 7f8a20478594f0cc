package libraries

// The table of docs/libraries.md: each row is a test.

//lint:file-ignore SA1019 programs use the server of golang.org/x/net/http2 although net/http has taken its place

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/rpc"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http2"
	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/httploop"
	"github.com/turnloop/turnloop/internal/beat"
)

// listen returns a listener of a loop.
func listen(t *testing.T, l *eventloop.Loop) net.Listener {
	t.Helper()
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// run runs fn in a threadlet.
func run(t *testing.T, l *eventloop.Loop, fn func()) {
	t.Helper()
	if _, err := threadlet.Go(l, fn); err != nil {
		t.Fatal(err)
	}
}

// dial returns a shared connection of the loop.
func dial(l *eventloop.Loop, network, addr string) (net.Conn, error) {
	conn, err := net.Dial(network, addr)
	if err != nil {
		return nil, err
	}
	c, err := threadlet.Wrap(l, conn)
	if err != nil {
		return nil, err
	}
	return threadlet.Shared(c), nil
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "hello %s", body)
})

// asks fails the test unless a server says hello, in several requests.
func asks(t *testing.T, transport http.RoundTripper, url string) {
	t.Helper()
	c := &http.Client{Transport: transport}
	defer c.CloseIdleConnections()
	for range 3 {
		big := strings.Repeat("x", 1<<20)
		r, err := c.Post(url, "text/plain", strings.NewReader(big))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || string(got) != "hello "+big {
			t.Fatalf("%.30q, %v", got, err)
		}
	}
}

// Arith is net/rpc's service.
type Arith struct{}

// Double is its method.
func (Arith) Double(n int, result *int) error {
	*result = 2 * n
	return nil
}

// The rows: a library, how it is used, and what comes of it.
var rows = []struct {
	library, use, verdict string
	test                  func(t *testing.T)
}{
	{"net/http, server", "Serve(threadlet.SharedListener(ln)) on a goroutine", "works shared", func(t *testing.T) {
		ln := listen(t, start(t))
		server := &http.Server{Handler: hello}
		go func() { _ = server.Serve(threadlet.SharedListener(ln)) }()
		defer server.Close()
		asks(t, &http.Transport{}, "http://"+ln.Addr().String())
	}},
	{"net/http, server with TLS", "the same with tls.NewListener around it", "works shared", func(t *testing.T) {
		ln := listen(t, start(t))
		theirs, ours := certificate(t)
		server := &http.Server{Handler: hello}
		go func() { _ = server.Serve(tls.NewListener(threadlet.SharedListener(ln), theirs)) }()
		defer server.Close()
		asks(t, &http.Transport{TLSClientConfig: ours}, "https://"+ln.Addr().String())
	}},
	{"net/http, client", "Transport.DialContext returns a shared connection; called on goroutines", "works shared", func(t *testing.T) {
		l := start(t)
		server := httptest.NewServer(hello)
		defer server.Close()
		asks(t, &http.Transport{DialContext: func(_ context.Context, _, addr string) (net.Conn, error) { return dial(l, "tcp", addr) }}, server.URL)
	}},
	{"golang.org/x/net/http2", "ServeConn(threadlet.Shared(conn)) on a goroutine", "works shared", func(t *testing.T) {
		ln := listen(t, start(t))
		go func() {
			for shared := threadlet.SharedListener(ln); ; {
				c, err := shared.Accept()
				if err != nil {
					return
				}
				go new(http2.Server).ServeConn(c, &http2.ServeConnOpts{Handler: hello})
			}
		}()
		asks(t, &http2.Transport{AllowHTTP: true, DialTLSContext: func(_ context.Context, _, addr string, _ *tls.Config) (net.Conn, error) {
			return net.Dial("tcp", addr)
		}}, "http://"+ln.Addr().String())
	}},
	{"net/rpc", "Accept(threadlet.SharedListener(ln)) on a goroutine; NewClient(threadlet.Shared(conn))", "works shared", func(t *testing.T) {
		l := start(t)
		ln := listen(t, l)
		server := rpc.NewServer()
		if err := server.Register(Arith{}); err != nil {
			t.Fatal(err)
		}
		go server.Accept(threadlet.SharedListener(ln))
		conn, err := dial(l, "tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		client := rpc.NewClient(conn)
		defer client.Close()
		var got int
		if err := client.Call("Arith.Double", 21, &got); err != nil || got != 42 {
			t.Fatal(got, err)
		}
		_ = ln.Close()
	}},
	{"google.golang.org/grpc", "server and client on shared connections", "works shared", func(t *testing.T) {
		l := start(t)
		ln := listen(t, l)
		server := grpc.NewServer()
		grpc_health_v1.RegisterHealthServer(server, health.NewServer())
		go func() { _ = server.Serve(threadlet.SharedListener(ln)) }()
		defer server.Stop()
		client, err := grpc.NewClient("passthrough:///"+ln.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(_ context.Context, addr string) (net.Conn, error) { return dial(l, "tcp", addr) }))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for range 3 {
			r, err := grpc_health_v1.NewHealthClient(client).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			if err != nil || r.Status != grpc_health_v1.HealthCheckResponse_SERVING {
				t.Fatal(r, err)
			}
		}
	}},
	{"github.com/valyala/fasthttp", "ServeConn(conn) in the handler's threadlet", "works", func(t *testing.T) {
		l := start(t)
		ln := listen(t, l)
		run(t, l, func() {
			_ = threadlet.Serve(ln, func(c *threadlet.Conn) {
				_ = fasthttp.ServeConn(c, func(ctx *fasthttp.RequestCtx) { fmt.Fprintf(ctx, "hello %s", ctx.PostBody()) })
			})
		})
		asks(t, &http.Transport{}, "http://"+ln.Addr().String())
	}},
	{"github.com/gorilla/websocket", "Upgrade in a handler of httploop, which hijacks", "works", gorillaSocket},
	{"github.com/coder/websocket", "Accept in a handler of httploop; then one threadlet reads and writes", "works", func(t *testing.T) { coderSocket(t, false) }},
	{"github.com/coder/websocket", "Accept in a handler of httploop; then goroutines use what it returns", "works shared", func(t *testing.T) { coderSocket(t, true) }},
	{"github.com/redis/go-redis", "Options.Dialer returns a shared connection; called on goroutines", "works shared", goRedis},
	{"github.com/redis/rueidis", "DialCtxFn returns a shared connection; called on goroutines", "works shared", rueidisClient},
	{"github.com/jackc/pgx", "DialFunc returns a shared connection; called on goroutines", "works shared", pgxPool},
	{"net/http, server", "Serve(ln) in a threadlet, not shared", "fails: its goroutines may not read; the error and the log say so", func(t *testing.T) {
		var log buffer
		l := start(t, eventloop.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		ln := listen(t, l)
		run(t, l, func() { _ = http.Serve(ln, hello) })
		if _, err := http.Get("http://" + ln.Addr().String()); err == nil {
			t.Error("it works")
		}
		beat.Eventually(t, func() bool { return strings.Contains(log.String(), "threadlet.Shared") }, "the log to say what fails")
	}},
	{"github.com/jackc/pgx", "in a threadlet, not shared", "fails at COPY and at large parameters, for which a goroutine of its own reads; the error and the log say so", pgxUnshared},
	{"netutil.LimitListener", "around a listener, in threadlet.Serve", "freezes at its limit: it waits on a channel; threadlet.MaxConns is in its place", func(t *testing.T) {
		freezes(t, "netutil.(*limitListener)", func(l *eventloop.Loop) {
			ln := listen(t, l)
			run(t, l, func() {
				_ = threadlet.Serve(netutil.LimitListener(ln, 1), func(c net.Conn) { _, _ = io.Copy(c, struct{ io.Reader }{c}) })
			})
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}, func(*eventloop.Loop) {})
	}},
	{"net/http, client", "in a threadlet, of a server on the same loop", "freezes the loop, which would have to answer: it belongs into threadlet.Do", func(t *testing.T) {
		release := make(chan struct{})
		freezes(t, "http.(*Client)", func(l *eventloop.Loop) {
			ln := listen(t, l)
			run(t, l, func() { _ = httploop.Serve(ln, hello) })
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				<-release
				cancel()
			}()
			run(t, l, func() {
				r, _ := http.NewRequestWithContext(ctx, "GET", "http://"+ln.Addr().String(), nil)
				_, _ = http.DefaultClient.Do(r)
			})
		}, func(*eventloop.Loop) { close(release) })
	}},
}

// freezes fails the test unless the stall of a loop is reported with a stack.
func freezes(t *testing.T, in string, begin, end func(*eventloop.Loop)) {
	t.Helper()
	stalls := make(chan string, 100)
	l, err := eventloop.New(eventloop.WithStallThreshold(10*time.Millisecond, func(s eventloop.Stall) {
		select {
		case stalls <- string(s.Stack):
		default:
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = l.Run(context.Background()) }() // a loop that is frozen for good stays so
	begin(l)
	for stack := ""; !strings.Contains(stack, in); {
		stack = <-stalls
	}
	end(l)
	_ = l.Close()
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestLibraries(t *testing.T) {
	for _, r := range rows {
		t.Run(r.library+", "+r.verdict, r.test)
	}
}

// TestPage: docs/libraries.md has the table.
func TestPage(t *testing.T) {
	var table strings.Builder
	table.WriteString("| library | use | |\n| --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&table, "| %s | %s | %s |\n", r.library, r.use, r.verdict)
	}
	page, err := os.ReadFile("../../docs/libraries.md")
	if err != nil || !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/libraries.md is to have this table (%v):\n%s", err, table.String())
	}
}
