// Threadlets: what a switch and a life cost beside goroutines and channels, servers of straight-line code beside package net, and what
// their connections hold.

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/echo"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

const ofOne = "of the ranked loops only `main` has threadlets, and to be the first of one is no merit"

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Threadlet", Category: Threadlets, Units: []string{"ns/op", "cpu-ns/op", "B/op", "allocs/op"},
			Op: "one switch to another and back, or one life",
			Measures: "two threadlets that yield to one another, beside two goroutines over unbuffered channels; and threadlets that begin and " +
				"end, beside goroutines that say over a channel that they have",
			Why:      "straight-line code that waits pays a switch each time, and a life for each connection",
			Unscored: ofOne,
			Needs:    []record.Need{{Window: 60 * time.Millisecond}}, // several slices of the scheduler, and collections
		},
		Variants: []Variant{
			{Name: "op=switch", Run: switches, Controls: map[string]func(*testing.B){GoroutineControl: switchGoroutines}},
			{Name: "op=spawn", Run: spawns, Controls: map[string]func(*testing.B){GoroutineControl: spawnGoroutines}},
		},
	})
}

// threadlets returns the loop if it can have threadlets, or skips the cell.
func (r *bench) threadlets() *eventloop.Loop {
	loop, ok := r.EventLoop.(*eventloop.Loop)
	if !ok {
		r.b.Helper()
		r.b.Skip("n/a: no threadlets")
	}
	return loop
}

// begin has fn run in a threadlet.
func (r *bench) begin(loop *eventloop.Loop, fn func()) *threadlet.Threadlet {
	t, err := threadlet.Go(loop, fn)
	if err != nil {
		r.b.Helper()
		r.b.Fatal(err)
	}
	return t
}

// spending returns a function that reports how much processor time each operation has taken since spending was called.
func spending(b *testing.B) (report func()) {
	before := processorTime(b)
	return func() { b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op") }
}

func switches(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	loop := r.threadlets()
	over, turns := false, 0
	b.ResetTimer()
	report := spending(b)
	r.begin(loop, func() {
		for range b.N {
			r.onLoop(threadlet.Yield())
		}
		over = true
	})
	r.begin(loop, func() {
		for ; !over; turns++ {
			r.onLoop(threadlet.Yield())
		}
		r.done()
	})
	r.wait()
	b.StopTimer()
	report()
	if turns < b.N-1 {
		b.Fatalf("%d turns of the other one, want %d", turns, b.N)
	}
}

func switchGoroutines(b *testing.B) {
	b.ReportAllocs()
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(back)
		for range there {
			back <- struct{}{}
		}
	}()
	b.ResetTimer()
	report := spending(b)
	for range b.N {
		there <- struct{}{}
		<-back
	}
	b.StopTimer()
	report()
	close(there)
	<-back
}

func spawns(b *testing.B, c Contestant) {
	const together = 64
	b.ReportAllocs()
	r := start(b, c)
	loop := r.threadlets()
	ended := 0
	life := func() { ended++ }
	b.ResetTimer()
	report := spending(b)
	r.begin(loop, func() {
		for begun := 1; begun <= b.N; begun++ {
			if _, err := threadlet.Go(loop, life); err != nil {
				r.fail(err)
				return
			}
			for begun-ended == together || begun == b.N && ended < b.N {
				r.onLoop(threadlet.Yield())
			}
		}
		r.done()
	})
	r.wait()
	b.StopTimer()
	report()
}

func spawnGoroutines(b *testing.B) {
	b.ReportAllocs()
	ended := make(chan struct{})
	life := func() { ended <- struct{}{} }
	b.ResetTimer()
	report := spending(b)
	for range b.N {
		go life()
		<-ended
	}
	b.StopTimer()
	report()
}

func init() {
	var variants []Variant
	for _, v := range []struct {
		conns int
		idle  bool
	}{{conns: 64}, {conns: 512}, {conns: 512, idle: true}, {conns: 4096}, {conns: 1}} {
		name, handle, long := fmt.Sprintf("conns=%d", v.conns), straight, ""
		if v.idle {
			name, handle = "wait=idle/"+name, idling
		}
		if v.conns != 64 {
			long = "64 connections are enough for a glance"
		}
		variants = append(variants, Variant{
			Name: name, Long: long,
			Run: echoCell(func(b *testing.B, c Contestant) string { return serveWithThreadlets(b, c, handle) }, v.conns),
			Controls: map[string]func(*testing.B){
				NetControl: echoControl(serveWithNet, v.conns), GnetControl: echoControl(serveWithGnet, v.conns),
			},
		})
	}
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "ThreadletEcho", Category: Threadlets, Units: []string{"ns/op", "cpu-ns/op", "B/op", "allocs/op"},
			Op: "one request answered",
			Measures: "Echo with a server of straight-line code, a threadlet for each connection that reads, writes and reads again; with wait=idle " +
				"the connection has none until there is something to read",
			Why:      "a protocol is easier to write as straight-line code than as callbacks, and should cost no more than with a goroutine for each connection",
			Unscored: ofOne,
			Needs:    []record.Need{{Window: aWhile}, {Variant: "conns=1", Window: placement}},
		},
		Variants: variants,
	})
}

// straight serves a connection as a goroutine would. Its buffer is on the heap, as that of a goroutine with a net.Conn always
// is; on the stack it would double the size of the stack.
func straight(r *bench, c *threadlet.Conn) {
	r.lost(echoOver(c))
}

// echoOver serves one connection until that fails, and returns why.
func echoOver(conn net.Conn) error {
	for buf := make([]byte, readSize); ; {
		n, err := conn.Read(buf)
		if err != nil {
			return err
		}
		if _, err := conn.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// lost fails the cell, unless the client has closed the connection or the loop ends.
func (r *bench) lost(err error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, threadlet.ErrDraining) && !errors.Is(err, eventloop.ErrLoopTerminated) {
		r.fail(err)
	}
}

// borrowing waits for something to read without a buffer: all connections share one, as a loop runs one threadlet at a time.
func borrowing() func(*bench, *threadlet.Conn) {
	buf := make([]byte, readSize)
	return func(r *bench, c *threadlet.Conn) {
		raw, err := c.SyscallConn()
		for err == nil {
			n, failed := 0, error(nil)
			err = raw.Read(func(fd uintptr) bool {
				n, failed = unix.Read(int(fd), buf)
				if failed == nil && n > 0 {
					failed = writeAll(int(fd), buf[:n])
				}
				return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
			})
			if err = errors.Join(err, failed); err == nil && n == 0 {
				err = io.EOF
			}
		}
		r.lost(err)
	}
}

// waiting is like idling, but the connection waits without a threadlet for its first request, too.
func waiting(r *bench, c *threadlet.Conn) {
	r.lost(c.Idle(func(c *threadlet.Conn) { idling(r, c) }))
}

// idling reads once, answers, and lets the connection wait without a threadlet, and without a buffer.
func idling(r *bench, c *threadlet.Conn) {
	var buf [echo.MessageSize]byte
	n, err := c.Read(buf[:])
	if err == nil {
		_, err = c.Write(buf[:n])
	}
	if err == nil {
		err = c.Idle(func(c *threadlet.Conn) { idling(r, c) })
	}
	if err != nil {
		r.lost(err)
	}
}

// serveWithThreadlets is a server on c's loop.
func serveWithThreadlets(b *testing.B, c Contestant, handle func(*bench, *threadlet.Conn)) (addr string) {
	r := start(b, c)
	loop := r.threadlets()
	listener, err := threadlet.Listen(loop, "tcp4", "127.0.0.1:0")
	skipIfUnsupported(b, "descriptors on this system", err)
	if err != nil {
		b.Fatal(err)
	}
	server := r.begin(loop, func() {
		if err := threadlet.Serve(listener, func(c *threadlet.Conn) { handle(r, c) }); !errors.Is(err, net.ErrClosed) {
			r.fail(err)
		}
	})
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hung)
		defer cancel()
		if err := errors.Join(listener.Close(), server.Join(ctx)); err != nil {
			b.Errorf("ending the server: %v", err)
		}
	})
	return listener.Addr().String()
}

func init() {
	const (
		conns = 4096
		again = 10 * time.Millisecond   // long enough for a server to wait again after an answer; nothing tells when it does
		rest  = 2200 * time.Millisecond // long enough for a loop to end the coroutines that were not needed for a second
	)
	held := func(what string, serve func(*testing.B, Contestant) string, rest time.Duration) Variant {
		return Variant{
			Name: "what=" + what, Long: "thousands of connections take longer than a glance",
			Run: func(b *testing.B, c Contestant) {
				footprint(b, c, func(b *testing.B, c Contestant, sums map[string]float64) {
					connections(b, sums, serve(b, c), conns, rest)
				})
			},
			Controls: map[string]func(*testing.B){NetControl: func(b *testing.B) {
				footprint(b, Contestant{}, func(b *testing.B, _ Contestant, sums map[string]float64) {
					connections(b, sums, serveWithNet(b), conns, again)
				})
			}},
		}
	}
	with := func(handle func(*bench, *threadlet.Conn)) func(*testing.B, Contestant) string {
		return func(b *testing.B, c Contestant) string { return serveWithThreadlets(b, c, handle) }
	}
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "ConnectionFootprint", Category: Threadlets, Units: []string{"B/conn", "resident-B/conn"},
			Op: "one measurement of live heap and stacks after collection",
			Measures: "bytes of heap and stacks, and of resident memory, for each of 4096 connections of a server that have carried a request and wait " +
				"for the next: in Read, with a buffer of 4096 bytes as beside it with package net; with a buffer that is taken when there is " +
				"something to read (borrowed); or idle from the first, on a loop that has come to rest",
			Why:      "how many connections fit that say little",
			Unscored: ofOne,
		},
		Variants: []Variant{held("blocked", with(straight), again), held("borrowed", with(borrowing()), again), held("idle", with(waiting), rest)},
	})
}

// connections adds what each connection of a server holds. The connections stay until the benchmark ends, so they are fewer
// if it repeats the measurement more often than its process may hold them.
func connections(b *testing.B, sums map[string]float64, addr string, conns int, rest time.Duration) {
	skipIfTooMany(b, conns)
	conns = min(conns, fitting(b)/b.N)
	holds := func() (used, resident uint64) {
		runtime.Gosched()
		m := live()
		return m.HeapAlloc + m.StackInuse, residentMemory()
	}
	before, residentBefore := holds()
	client, err := startEchoClient(echo.Usual, addr, conns, patience(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.end)
	if _, err := client.run(conns, patience(b)); err != nil { // until the last answer is written and read
		b.Fatal(err)
	}
	time.Sleep(rest)
	after, residentAfter := holds()
	sums["B/conn"] += bytes(before, after, conns)
	if residentAfter > 0 {
		sums["resident-B/conn"] += bytes(residentBefore, residentAfter, conns)
	}
}
