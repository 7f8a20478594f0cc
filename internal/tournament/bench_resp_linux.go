// RESP: a server of Redis' protocol on threadlets, the same one on package net, and redis-server, all driven by redis-benchmark.

package tournament

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/resp"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

const respClients = 50

func init() {
	var variants []Variant
	for _, pipeline := range []int{1, 16} {
		variants = append(variants, Variant{
			Name: fmt.Sprintf("pipeline=%d", pipeline), Long: "programs that serve and ask take longer to start than a glance",
			Run: func(b *testing.B, c Contestant) {
				store := respStore{lock: unlocked{}, values: map[string][]byte{}}
				runRESP(b, pipeline, func() (string, int) {
					return serveWithThreadlets(b, c, func(r *bench, conn *threadlet.Conn) { r.lost(store.serve(conn)) }), 0
				})
			},
			Controls: map[string]func(*testing.B){
				NetControl: func(b *testing.B) {
					store := respStore{lock: &sync.Mutex{}, values: map[string][]byte{}}
					runRESP(b, pipeline, func() (string, int) {
						return serveNet(b, func(conn net.Conn) error { return store.serve(conn) }), 0
					})
				},
				RedisControl: func(b *testing.B) { runRESP(b, pipeline, func() (string, int) { return startRedis(b) }) },
			},
		})
	}
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "RESP", Category: Threadlets, Units: []string{"ns/op", "cpu-ns/op"},
			Op: "one request answered",
			Measures: "redis-benchmark, with 50 clients that have 1 or 16 requests on their way, first SETs and then GETs, after the first " +
				"thousands; the rate by its own clock, which counts milliseconds, and the processor time of the server alone",
			Why:      "a server that programs which exist can drive, and which one can hold against the original",
			Unscored: ofOne,
			Needs:    []record.Need{{Window: 200 * time.Millisecond}},
		},
		Variants: variants,
	})
}

// runRESP has redis-benchmark send b.N requests to a server. pid is 0 where this process is the server.
func runRESP(b *testing.B, pipeline int, serve func() (addr string, pid int)) {
	if probing(b) {
		return
	}
	program := installed(b, "redis-benchmark", "redis-tools")
	addr, pid := serve()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		b.Fatal(err)
	}
	each := max(b.N/2, 1)
	if b.N == 1 { // fewer tell nothing, by a clock of milliseconds
		each = 1000
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience(b))
	defer cancel()
	ask := func(each int) *exec.Cmd {
		return exec.CommandContext(ctx, program, "-h", host, "-p", port, "-c", strconv.Itoa(respClients), "-P", strconv.Itoa(pipeline),
			"-n", strconv.Itoa(each), "-t", "set,get", "--csv")
	}
	if err := ask(5000).Run(); err != nil { // not measured: the first requests take longer than others
		b.Fatalf("redis-benchmark: %v", err)
	}
	var out strings.Builder
	cmd := ask(each)
	cmd.Stdout = &out
	b.ResetTimer()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	before := processorTimeOf(b, pid)
	err = cmd.Wait()
	spent, wall := processorTimeOf(b, pid)-before, time.Since(began)
	b.StopTimer()
	if err != nil {
		b.Fatalf("redis-benchmark: %v", err)
	}
	took, err := asked(out.String(), each)
	if err != nil {
		b.Fatalf("redis-benchmark: %v", err)
	}
	if took == 0 {
		took = wall
	}
	b.ReportMetric(float64(took)/float64(2*each), "ns/op")
	b.ReportMetric(float64(spent)/float64(2*each), "cpu-ns/op")
}

// asked returns how long redis-benchmark took for two tests of n requests each, computed from the rates that it prints. It
// returns 0 if the time was too short for redis-benchmark's clock.
func asked(csv string, n int) (took time.Duration, err error) {
	for _, test := range []string{"SET", "GET"} {
		_, rest, ok := strings.Cut("\n"+csv, "\n\""+test+"\",\"")
		rate, _, closed := strings.Cut(rest, `"`)
		perSecond, err := strconv.ParseFloat(rate, 64)
		if !ok || !closed || err != nil || perSecond <= 0 {
			return 0, fmt.Errorf("there is no rate of %s in %q", test, csv)
		}
		if math.IsInf(perSecond, 1) {
			return 0, nil
		}
		took += time.Duration(float64(n) / perSecond * float64(time.Second))
	}
	return took, nil
}

// installed finds a program, or skips the cell.
func installed(b *testing.B, name, pkg string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		b.Helper()
		b.Skipf("n/a: %s is not installed (Debian: apt-get install %s)", name, pkg)
	}
	return path
}

// startRedis starts a redis-server that keeps nothing, and ends with the benchmark.
func startRedis(b *testing.B) (addr string, pid int) {
	program := installed(b, "redis-server", "redis-server")
	var err error
	for range 3 { // again if another process takes the port before redis-server does
		var free net.Listener
		if free, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			b.Fatal(err)
		}
		addr = free.Addr().String()
		if err = free.Close(); err != nil {
			b.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(addr)
		cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--daemonize", "no",
			"--dir", b.TempDir(), "--loglevel", "warning")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err = cmd.Start(); err != nil {
			b.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if err = answers(addr, ended); err == nil {
			b.Cleanup(func() {
				_ = cmd.Process.Kill()
				<-ended
			})
			return addr, cmd.Process.Pid
		}
		_ = cmd.Process.Kill() // it may have ended by itself
	}
	b.Fatalf("redis-server: %v", err)
	return "", 0
}

// answers waits until a server takes connections.
func answers(addr string, ended <-chan error) error {
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := net.Dial("tcp4", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-ended:
			return fmt.Errorf("it has ended: %v", err)
		case <-time.After(time.Millisecond):
			if time.Now().After(deadline) {
				return err
			}
		}
	}
}

// A respStore is what requests set and get. Threadlets of one loop need no lock for it.
type respStore struct {
	lock   sync.Locker
	values map[string][]byte
}

type unlocked struct{}

func (unlocked) Lock()   {}
func (unlocked) Unlock() {}

// serve answers the requests of a connection until it ends.
func (s *respStore) serve(conn io.ReadWriter) error {
	c := &respConn{conn: conn}
	in := resp.NewReader(c)
	for {
		request, err := in.Request()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			return nil
		case err != nil:
			return err
		}
		c.out = s.answer(c.out, request)
	}
}

func (s *respStore) answer(out []byte, request [][]byte) []byte {
	s.lock.Lock()
	defer s.lock.Unlock()
	is := func(name string) bool { return strings.EqualFold(string(request[0]), name) }
	switch {
	case is("SET") && len(request) == 3:
		s.values[string(request[1])] = append([]byte(nil), request[2]...)
		return resp.AppendSimple(out, "OK")
	case is("GET") && len(request) == 2:
		if value, ok := s.values[string(request[1])]; ok {
			return resp.AppendBulk(out, value)
		}
		return resp.AppendNull(out)
	case is("CONFIG") && len(request) == 3: // asked by redis-benchmark before it begins
		return resp.AppendBulk(resp.AppendBulk(resp.AppendArray(out, 2), request[2]), "")
	}
	return resp.AppendError(out, "ERR unknown command")
}

// A respConn collects answers, and sends them when the server has read all requests that have arrived: so requests that came
// together are answered together.
type respConn struct {
	conn io.ReadWriter
	out  []byte
}

func (c *respConn) Read(p []byte) (int, error) {
	if len(c.out) > 0 {
		if _, err := c.conn.Write(c.out); err != nil {
			return 0, err
		}
		c.out = c.out[:0]
	}
	return c.conn.Read(p)
}
