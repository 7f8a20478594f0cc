package main

// Benchmarks of servers of Redis' protocol under redis-benchmark: the same one on threadlets and on package net, and redis-server, which
// keeps nothing on disk.

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

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/resp"
)

// BenchmarkServer: a request answered, of 50 clients with 1 or 16 requests on their way, SETs and then GETs; the rate by the client's clock,
// and the processor time of the server alone.
func BenchmarkServer(b *testing.B) {
	for _, pipeline := range []int{1, 16} {
		for name, serve := range map[string]func(*testing.B) (addr string, pid int){"threadlets": onThreadlets, "net": onNet, "redis": startRedis} {
			b.Run(fmt.Sprintf("server=%s/pipeline=%d", name, pipeline), func(b *testing.B) { drive(b, pipeline, serve) })
		}
	}
}

// drive has redis-benchmark send b.N requests to a server. pid is 0 where this process is the server.
func drive(b *testing.B, pipeline int, serve func(*testing.B) (addr string, pid int)) {
	program := installed(b, "redis-benchmark", "redis-tools")
	addr, pid := serve(b)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		b.Fatal(err)
	}
	each := max(b.N/2, 1000) // fewer tell nothing, by a clock of milliseconds
	ctx, cancel := context.WithTimeout(context.Background(), patience+time.Duration(b.N)*time.Millisecond)
	defer cancel()
	ask := func(each int) *exec.Cmd {
		return exec.CommandContext(ctx, program, "-h", host, "-p", port, "-c", "50", "-P", strconv.Itoa(pipeline), "-n", strconv.Itoa(each),
			"-t", "set,get", "--csv")
	}
	if err := ask(5000).Run(); err != nil { // not measured: the first requests take longer than others
		b.Fatalf("redis-benchmark: %v", err)
	}
	var out strings.Builder
	cmd := ask(each)
	cmd.Stdout = &out
	b.ResetTimer()
	began, before := time.Now(), processorTimeOf(b, pid)
	err = cmd.Run()
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

// processorTimeOf returns the processor time that another process has used, or this one if pid is 0. It is exact up to this moment.
func processorTimeOf(b *testing.B, pid int) time.Duration {
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		const scheduled = 2                // CPUCLOCK_SCHED: as schedstat has it
		clock = ^int32(pid)<<3 | scheduled // a process's clock, as clock_getcpuclockid makes it
	}
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

func onThreadlets(b *testing.B) (addr string, pid int) {
	store := respStore{lock: unlocked{}, values: map[string][]byte{}}
	l, err := eventloop.New()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Run(context.Background()) }()
	listener, err := threadlet.Listen(l, "tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := threadlet.Go(l, func() {
		_ = threadlet.Serve(listener, func(c *threadlet.Conn) { _ = store.serve(c) }) // until the loop is closed
	}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return listener.Addr().String(), 0
}

func onNet(b *testing.B) (addr string, pid int) {
	store := respStore{lock: &sync.Mutex{}, values: map[string][]byte{}}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the benchmark is over
			}
			go func() {
				_ = store.serve(conn) // until the client has gone
				_ = conn.Close()
			}()
		}
	}()
	b.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String(), 0
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
