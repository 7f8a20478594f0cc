package httploop

// Beside net/http: processor time of a request, requests, and memory of an idle connection. Each server has a process of its own, and
// both answer in turns, so that what the machine does besides meets both.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	if kind == "net/http" {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Println(ln.Addr())
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
	_, err = threadlet.Go(group.Loop(0), func() { _ = (&Server{Handler: mux}).ServeGroup(group, ln) })
	return errors.Join(err, group.Run(context.Background()))
}

// peer is a server in a process of its own, with connections to it.
type peer struct {
	addr  string
	conns []*bufio.ReadWriter
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
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return &peer{addr: strings.TrimSpace(line)}
}

// used returns the processor time and the memory of the server.
func (p *peer) used(b *testing.B) (micros, kilobytes int) {
	r, err := http.Get("http://" + p.addr + "/used")
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
	for len(p.conns) < n {
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
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
			var cpu, memory [2]int
			var took [2]time.Duration
			for i, kind := range kinds {
				peers[i] = startPeer(b, kind)
				_, before := peers[i].used(b)
				peers[i].connect(b, conns)
				peers[i].ask(b, 2)
				time.Sleep(100 * time.Millisecond)
				_, memory[i] = peers[i].used(b)
				memory[i] -= before
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
			b.ReportMetric(float64(memory[0])/float64(conns), "KiB/conn")
			b.ReportMetric(float64(memory[0])/float64(memory[1]), "mem-ratio")
		})
	}
}
