//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// What each public call costs on its usual path. Connections are of loopback, to an echo on the same loop.

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	callcosts "github.com/turnloop/turnloop/internal/costs"
)

func TestCosts(t *testing.T) {
	callcosts.Check(t, costRows, map[string]string{
		`^Info\.`:                             "is for people",
		`^Conn\.(CloseRead|CloseWrite|Idle)$`: "ends a connection, or a handler",
	})
}

func BenchmarkCosts(b *testing.B) { callcosts.Benchmark(b, costRows) }

// threaded is a row of calls that a threadlet makes.
func threaded(name string, allocs, bytes, steps uint64, prepare func(e *callcosts.Env) (call func())) callcosts.Row {
	return callcosts.In(func(e *callcosts.Env, fn func()) {
		t, err := threadlet.Go(e.Loop, fn)
		e.Must(err)
		e.Must(t.Join(background))
	}, name, allocs, bytes, steps, prepare)
}

var costRows = []callcosts.Row{
	threaded("Go", 0, 128, 2, func(e *callcosts.Env) func() {
		return func() { _, err := threadlet.Go(e.Loop, func() {}); e.Must(err); e.Must(threadlet.Yield()) }
	}),
	threaded("Threadlet.Join", 2, 224, 2, func(e *callcosts.Env) func() {
		return func() { t, err := threadlet.Go(e.Loop, func() {}); e.Must(err); e.Must(t.Join(background)) }
	}),
	threaded("Threadlet.Signal", 3, 256, 4, func(e *callcosts.Env) func() {
		return func() {
			t, err := threadlet.Go(e.Loop, func() { _ = threadlet.Sleep(time.Hour) })
			e.Must(err)
			e.Must(threadlet.Yield())
			t.Signal()
			e.Must(t.Join(background))
		}
	}),
	threaded("Threadlet.Loop", 0, 0, 0, func(*callcosts.Env) func() { return func() { threadlet.Current().Loop() } }),
	threaded("Threadlets", 3, 3168, 0, func(e *callcosts.Env) func() { return func() { threadlet.Threadlets(e.Loop) } }),
	threaded("Current", 0, 0, 0, func(*callcosts.Env) func() { return func() { threadlet.Current() } }),
	threaded("Yield", 0, 0, 1, func(e *callcosts.Env) func() { return func() { e.Must(threadlet.Yield()) } }),
	threaded("Sleep", 0, 0, 2, func(e *callcosts.Env) func() { return func() { e.Must(threadlet.Sleep(1)) } }),
	threaded("Draining", 0, 0, 0, func(*callcosts.Env) func() { return func() { threadlet.Draining() } }),
	threaded("Await", 7, 304, 2, func(e *callcosts.Env) func() {
		p := promise.Resolved(e.Promises(), 1)
		return func() { _, err := threadlet.Await(p); e.Must(err) }
	}),
	threaded("Await, of work", 10, 496, 3, func(e *callcosts.Env) func() {
		work := func(context.Context) (int, error) { return 1, nil }
		return func() { _, err := threadlet.Await(eventloop.Promisify(background, e.Loop, work)); e.Must(err) }
	}),
	threaded("Call", 0, 0, 0, func(e *callcosts.Env) func() {
		return func() {
			_, err := threadlet.Call(background, e.Loop, func() (int, error) { return 1, nil })
			e.Must(err)
		}
	}),
	threaded("Call, to another loop", 25, 1100, 3, func(e *callcosts.Env) func() {
		other, err := eventloop.New()
		e.Must(err)
		go other.Run(background)
		e.Cleanup(func() { _ = other.Close() })
		return func() {
			_, err := threadlet.Call(background, other, func() (int, error) { return 1, nil })
			e.Must(err)
		}
	}),
	threaded("Do", 14, 896, 2, func(e *callcosts.Env) func() {
		return func() { e.Must(threadlet.Do(background, func(context.Context) error { return nil })) }
	}),

	// what suspends
	threaded("NewChan", 2, 112, 0, func(e *callcosts.Env) func() { return func() { keptValue = threadlet.NewChan[int](e.Loop, 1) } }),
	threaded("Chan.Send", 0, 0, 0, channel(func(e *callcosts.Env, c *threadlet.Chan[int]) {
		e.Must(c.Send(1))
		_, err := c.Receive()
		e.Must(err)
	})),
	threaded("Chan.Receive", 3, 208, 2, channel(func(e *callcosts.Env, c *threadlet.Chan[int]) {
		_, err := threadlet.Go(e.Loop, func() { e.Must(c.Send(1)) })
		e.Must(err)
		_, err = c.Receive()
		e.Must(err)
	})),
	threaded("Chan.TrySend", 0, 0, 0, channel(func(_ *callcosts.Env, c *threadlet.Chan[int]) { c.TrySend(1); c.TryReceive() })),
	threaded("Chan.TryReceive", 0, 0, 0, channel(func(_ *callcosts.Env, c *threadlet.Chan[int]) { c.TrySend(1); c.TryReceive() })),
	threaded("Chan.Len", 0, 0, 0, channel(func(_ *callcosts.Env, c *threadlet.Chan[int]) { c.Len() })),
	threaded("Chan.Close", 2, 112, 0, func(e *callcosts.Env) func() {
		return func() { e.Must(threadlet.NewChan[int](e.Loop, 1).Close()) }
	}),
	threaded("Mutex.Lock", 0, 0, 0, func(e *callcosts.Env) func() {
		var m threadlet.Mutex
		return func() { e.Must(m.Lock()); m.Unlock() }
	}),
	threaded("Mutex.TryLock", 0, 0, 0, func(*callcosts.Env) func() {
		var m threadlet.Mutex
		return func() { m.TryLock(); m.Unlock() }
	}),
	threaded("Mutex.Unlock", 0, 0, 0, func(e *callcosts.Env) func() {
		var m threadlet.Mutex
		return func() { e.Must(m.Lock()); m.Unlock() }
	}),
	threaded("NewCond", 1, 32, 0, func(*callcosts.Env) func() {
		var m threadlet.Mutex
		return func() { keptValue = threadlet.NewCond(&m) }
	}),
	threaded("Cond.Wait", 2, 192, 2, func(e *callcosts.Env) func() {
		var m threadlet.Mutex
		c := threadlet.NewCond(&m)
		return func() {
			e.Must(m.Lock())
			_, err := threadlet.Go(e.Loop, c.Signal)
			e.Must(err)
			e.Must(c.Wait())
			m.Unlock()
		}
	}),
	threaded("Cond.Signal", 0, 0, 0, func(*callcosts.Env) func() {
		var m threadlet.Mutex
		return threadlet.NewCond(&m).Signal
	}),
	threaded("Cond.Broadcast", 0, 0, 0, func(*callcosts.Env) func() {
		var m threadlet.Mutex
		return threadlet.NewCond(&m).Broadcast
	}),

	// connections
	threaded("Listen", 25, 1120, 0, func(e *callcosts.Env) func() { return func() { e.Must(listening(e).Close()) } }),
	threaded("Serve", 37, 1904, 4, func(e *callcosts.Env) func() {
		return func() {
			ln := listening(e)
			t, err := threadlet.Go(e.Loop, func() { _ = threadlet.Serve(ln, echo) })
			e.Must(err)
			e.Must(threadlet.Yield())
			e.Must(ln.Close())
			e.Must(t.Join(background))
		}
	}),
	callcosts.Off("ServeGroup", 150, 58000, 0, func(e *callcosts.Env) func() {
		return func() { // from its beginning to its end
			g, err := eventloop.NewGroup(1)
			e.Must(err)
			ln, err := threadlet.Listen(g.Loop(0), "tcp", "127.0.0.1:0")
			e.Must(err)
			_, err = threadlet.Go(g.Loop(0), func() { _ = threadlet.ServeGroup(g, ln, echo) })
			e.Must(err)
			go g.Run(background)
			conn, err := net.Dial("tcp", ln.Addr().String())
			e.Must(err)
			e.Must(conn.Close())
			_ = g.Shutdown(background)
		}
	}),
	threaded("Dial", 55, 35600, 5, served(func(e *callcosts.Env, ln net.Listener, _ *threadlet.Conn) { e.Must(dialled(e, ln).Close()) })),
	threaded("Conn.Close", 55, 35600, 5, served(func(e *callcosts.Env, ln net.Listener, _ *threadlet.Conn) { e.Must(dialled(e, ln).Close()) })),
	threaded("Wrap", 32, 34272, 1, served(func(e *callcosts.Env, ln net.Listener, _ *threadlet.Conn) {
		conn, err := net.Dial("tcp", ln.Addr().String()) // which needs nobody who accepts
		e.Must(err)
		c, err := threadlet.Wrap(e.Loop, conn)
		e.Must(err)
		e.Must(c.Close())
	})),
	threaded("ListenConfig", 25, 1120, 0, func(e *callcosts.Env) func() {
		return func() {
			ln, err := threadlet.ListenConfig(background, e.Loop, net.ListenConfig{}, "tcp", "127.0.0.1:0")
			e.Must(err)
			e.Must(ln.Close())
		}
	}),
	threaded("WrapListener", 25, 1120, 0, func(e *callcosts.Env) func() {
		return func() {
			from, err := net.Listen("tcp", "127.0.0.1:0")
			e.Must(err)
			ln, err := threadlet.WrapListener(e.Loop, from)
			e.Must(err)
			e.Must(ln.Close())
		}
	}),
	threaded("Listeners", 2, 80, 0, served(func(e *callcosts.Env, _ net.Listener, _ *threadlet.Conn) { threadlet.Listeners(e.Loop) })),
	threaded("MaxConns", 1, 16, 0, func(*callcosts.Env) func() { return func() { keptValue = threadlet.MaxConns(1) } }),
	threaded("OnPause", 1, 16, 0, func(*callcosts.Env) func() { return func() { keptValue = threadlet.OnPause(nil) } }),
	threaded("Shared", 1, 24, 0, withConn(func(_ *callcosts.Env, c *threadlet.Conn) { keptValue = threadlet.Shared(c) })),
	threaded("SharedListener", 1, 24, 0, served(func(_ *callcosts.Env, ln net.Listener, _ *threadlet.Conn) { keptValue = threadlet.SharedListener(ln) })),
	threaded("Threadlet.Draining", 0, 0, 0, func(*callcosts.Env) func() { return func() { threadlet.Current().Draining() } }),
	threaded("Conn.Write", 1, 16, 4, served(func(e *callcosts.Env, _ net.Listener, c *threadlet.Conn) { exchange(e, c, c.Write) })),
	threaded("Conn.Read", 1, 16, 4, served(func(e *callcosts.Env, _ net.Listener, c *threadlet.Conn) { exchange(e, c, c.Write) })),
	threaded("Conn.TryWrite", 1, 16, 4, served(func(e *callcosts.Env, _ net.Listener, c *threadlet.Conn) { exchange(e, c, c.TryWrite) })),
	threaded("Conn.SetDeadline", 0, 0, 0, withConn(func(e *callcosts.Env, c *threadlet.Conn) { e.Must(c.SetDeadline(time.Now().Add(time.Hour))) })),
	threaded("Conn.SetReadDeadline", 0, 0, 0, withConn(func(e *callcosts.Env, c *threadlet.Conn) { e.Must(c.SetReadDeadline(time.Now().Add(time.Hour))) })),
	threaded("Conn.SetWriteDeadline", 0, 0, 0, withConn(func(e *callcosts.Env, c *threadlet.Conn) { e.Must(c.SetWriteDeadline(time.Now().Add(time.Hour))) })),
	threaded("Conn.LocalAddr", 0, 0, 0, withConn(func(_ *callcosts.Env, c *threadlet.Conn) { c.LocalAddr() })),
	threaded("Conn.RemoteAddr", 0, 0, 0, withConn(func(_ *callcosts.Env, c *threadlet.Conn) { c.RemoteAddr() })),
	threaded("Conn.Loop", 0, 0, 0, withConn(func(_ *callcosts.Env, c *threadlet.Conn) { c.Loop() })),
	threaded("Conn.Signal", 1, 80, 0, withConn(func(e *callcosts.Env, c *threadlet.Conn) {
		c.Signal()
		_, _ = c.Read(make([]byte, 1)) // which is interrupted
	})),
	threaded("Conn.SyscallConn", 0, 0, 0, withConn(func(e *callcosts.Env, c *threadlet.Conn) { _, err := c.SyscallConn(); e.Must(err) })),
}

// keptValue is what a call returns, lest the compiler leaves it on the stack.
var keptValue any

func channel(call func(*callcosts.Env, *threadlet.Chan[int])) func(*callcosts.Env) func() {
	return func(e *callcosts.Env) func() {
		c := threadlet.NewChan[int](e.Loop, 1)
		return func() { call(e, c) }
	}
}

func listening(e *callcosts.Env) net.Listener {
	ln, err := threadlet.Listen(e.Loop, "tcp", "127.0.0.1:0")
	e.Must(err)
	return ln
}

func dialled(e *callcosts.Env, ln net.Listener) *threadlet.Conn {
	conn, err := threadlet.Dial(background, "tcp", ln.Addr().String())
	e.Must(err)
	return conn.(*threadlet.Conn)
}

// served is a call beside an echo server, with a connection to it.
func served(call func(*callcosts.Env, net.Listener, *threadlet.Conn)) func(*callcosts.Env) func() {
	return func(e *callcosts.Env) func() {
		ln := listening(e)
		_, err := threadlet.Go(e.Loop, func() { _ = threadlet.Serve(ln, echo) })
		e.Must(err)
		c := dialled(e, ln)
		return func() { call(e, ln, c) }
	}
}

func withConn(call func(*callcosts.Env, *threadlet.Conn)) func(*callcosts.Env) func() {
	return served(func(e *callcosts.Env, _ net.Listener, c *threadlet.Conn) { call(e, c) })
}

// exchange sends a byte, and waits until it is back.
func exchange(e *callcosts.Env, c *threadlet.Conn, write func([]byte) (int, error)) {
	var b [1]byte
	_, err := write(b[:])
	e.Must(err)
	_, err = c.Read(b[:])
	e.Must(err)
}
