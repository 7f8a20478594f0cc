package httploop

// Beside net/http: processor time of a request, requests, and memory of an idle connection, with TLS and without. Each server
// has a process of its own, and both answer in turns, so that what the machine does besides meets both.

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

const asServer = "TURNLOOP_TEST_HTTP"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		fmt.Fprintln(os.Stderr, serveAs(kind))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serveAs serves in a process of its own. A page tells its processor time in microseconds, and its resident memory in kilobytes.
func serveAs(kind string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello, world\n") })
	mux.HandleFunc("/used", func(w http.ResponseWriter, _ *http.Request) {
		var u unix.Rusage
		_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
		debug.FreeOSMemory()
		var size, resident int
		statm, _ := os.ReadFile("/proc/self/statm")
		_, _ = fmt.Sscan(string(statm), &size, &resident)
		fmt.Fprintln(w, (u.Utime.Nano()+u.Stime.Nano())/1000, resident*os.Getpagesize()/1024)
	})
	kind, secure := strings.CutSuffix(kind, " with TLS")
	var config *tls.Config
	if secure {
		other := httptest.NewUnstartedServer(nil)
		other.StartTLS()
		config = &tls.Config{Certificates: other.TLS.Certificates}
	}
	if kind == "net/http" {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Println(ln.Addr())
		if secure {
			ln = tls.NewListener(ln, config)
		}
		return http.Serve(ln, mux)
	}
	group, err := eventloop.NewGroup(0)
	if err != nil {
		return err
	}
	ln, err := threadlet.Listen(group.Loop(0), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	_, err = threadlet.Go(group.Loop(0), func() { _ = (&Server{Handler: mux, TLSConfig: config}).ServeGroup(group, ln) })
	return errors.Join(err, group.Run(context.Background()))
}

// peer is a server in a process of its own, with connections to it.
type peer struct {
	client *http.Client
	url    string
	conns  []*bufio.ReadWriter
	below  []net.Conn
	stop   func()
}

func startPeer(b *testing.B, kind string) *peer {
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"="+kind)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	p := new(peer)
	p.stop = sync.OnceFunc(func() {
		for _, c := range p.below {
			_ = c.Close()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	b.Cleanup(p.stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	scheme := "http://"
	if strings.HasSuffix(kind, " with TLS") {
		scheme = "https://"
	}
	p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	p.url = scheme + strings.TrimSpace(line)
	return p
}

// used returns the processor time and the memory of the server.
func (p *peer) used(b *testing.B) (micros, kilobytes int) {
	r, err := p.client.Get(p.url + "/used")
	if err == nil {
		_, err = fmt.Fscan(r.Body, &micros, &kilobytes)
		_ = r.Body.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return micros, kilobytes
}

func (p *peer) connect(b *testing.B, n int) {
	scheme, addr, _ := strings.Cut(p.url, "://")
	for len(p.conns) < n {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		p.below = append(p.below, conn)
		if scheme == "https" {
			conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
		}
		p.conns = append(p.conns, bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)))
	}
}

// ask sends n requests on each connection, one after the other, and returns how long that takes.
func (p *peer) ask(b *testing.B, n int) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for _, c := range p.conns {
		all.Go(func() {
			for range n {
				_, _ = c.WriteString("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n")
				_ = c.Flush()
				for {
					line, err := c.ReadSlice('\n')
					if err != nil {
						b.Error(err)
						return
					}
					if string(line) == "hello, world\n" {
						break
					}
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

func BenchmarkKeepAlive(b *testing.B) {
	for _, conns := range []int{64, 1024} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) {
			kinds := []string{"httploop", "net/http"}
			var peers [2]*peer
			var cpu [2]int
			var took [2]time.Duration
			for i, kind := range kinds {
				peers[i] = startPeer(b, kind)
				peers[i].connect(b, conns)
				peers[i].ask(b, 2)
			}
			each := max(1, 6400/conns)
			b.ResetTimer()
			for range b.N {
				for i, p := range peers {
					before, _ := p.used(b)
					took[i] += p.ask(b, each)
					after, _ := p.used(b)
					cpu[i] += after - before
				}
			}
			requests := float64(b.N * conns * each)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(cpu[0])/requests, "cpu-us/req")
			b.ReportMetric(float64(cpu[1])/requests, "net-cpu-us/req")
			b.ReportMetric(float64(cpu[0])/float64(cpu[1]), "cpu-ratio")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "req-ratio")
		})
	}
}

// BenchmarkIdle: the resident memory of an idle connection that has had a request, when the server has had enough of them to have
// everything else.
func BenchmarkIdle(b *testing.B) {
	for _, row := range []struct {
		conns int
		with  string
	}{{1024, ""}, {8192, ""}, {1024, " with TLS"}} {
		b.Run(fmt.Sprintf("conns=%d%s", row.conns, row.with), func(b *testing.B) {
			const first = 64
			var memory [2]int
			for range b.N {
				for i, kind := range []string{"httploop", "net/http"} {
					p := startPeer(b, kind+row.with)
					p.connect(b, first)
					p.ask(b, 10)
					_, before := p.used(b)
					p.connect(b, first+row.conns)
					p.ask(b, 2)
					time.Sleep(100 * time.Millisecond) // until the last is idle
					_, after := p.used(b)
					memory[i] += after - before
					p.stop()
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(memory[0])/float64(b.N*row.conns), "KiB/conn")
			b.ReportMetric(float64(memory[1])/float64(b.N*row.conns), "net-KiB/conn")
			b.ReportMetric(float64(memory[0])/float64(memory[1]), "mem-ratio")
		})
	}
}
