package threadlet

// Listeners: where they come from, and accepting connections.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// listener is a net.Listener whose Accept suspends the threadlet.
type listener struct {
	desc
	address net.Addr
	file    string // of a Unix socket, removed when the listener is closed; "" for none
	failing bool   // the last attempt to accept has failed, and that was told
	sys     func(fd int, c *Conn) (accepted int, again bool, err error)
	may     int // so many connections it may accept although its loop has more than others

	accepted, failed, paused atomic.Uint64 // written on the loop
}

// Listen listens for stream connections as net.Listen does: on "tcp", "tcp4", "tcp6" or "unix". Any goroutine may call it.
//
// Accept of the listener is for threadlets of the loop, and returns a *[Conn] of the loop, which probes a silent TCP peer as
// one of package net does. When the system has no descriptor or no memory for another connection, or to watch the listener,
// or tells the error of a connection that has failed before it was accepted, Accept pauses and tries again; the first of such
// errors in a row is logged. Accept returns a *net.OpError around any other error of the system, or around what has ended the
// wait: net.ErrClosed, ErrSignaled, eventloop.ErrLoopTerminated; or around ErrNotThreadlet. Close may be called from any
// goroutine; the end of the loop closes the listener, too.
//
// The listener also has the methods File and SyscallConn of a *net.TCPListener: File, which any goroutine may call, returns a
// duplicate of the descriptor; the rest is for threadlets of the loop.
//
// Listen returns the errors of net.Listen and of [Wrap].
func Listen(l *eventloop.Loop, network, address string) (net.Listener, error) {
	return ListenConfig(context.Background(), l, net.ListenConfig{}, network, address)
}

// ListenConfig is [Listen] with what package net lets one choose: options of the socket (Control), and how connections are
// kept alive. The context is for looking up the address.
func ListenConfig(ctx context.Context, l *eventloop.Loop, lc net.ListenConfig, network, address string) (net.Listener, error) {
	_ = ctx.Done() // a nil context panics here
	from, err := lc.Listen(ctx, network, address)
	if err != nil {
		return nil, err
	}
	alive := lc.KeepAliveConfig
	if !alive.Enable && lc.KeepAlive >= 0 {
		alive = net.KeepAliveConfig{Enable: true, Idle: lc.KeepAlive}
	}
	return take(l, from, alive, true)
}

// WrapListener turns from, a *net.TCPListener or a *net.UnixListener, into a listener of the loop as [Listen] makes them. So
// a program can serve on a socket that it was given (net.FileListener). WrapListener takes the socket over and closes from;
// the file of a Unix socket stays, also at the end, since it may be somebody else's. Any goroutine may call it, when from is
// not in use any more. The errors are those of [Wrap]; with an error from is closed, too.
func WrapListener(l *eventloop.Loop, from net.Listener) (net.Listener, error) {
	return take(l, from, net.KeepAliveConfig{Enable: true}, false)
}

// take makes a listener of the socket of from. If it owns the file of a Unix socket, it removes that in the end.
func take(l *eventloop.Loop, from net.Listener, alive net.KeepAliveConfig, owns bool) (net.Listener, error) {
	ln := &listener{address: from.Addr(), sys: sysAccept}
	switch from := from.(type) {
	case *net.TCPListener:
		if alive.Enable {
			keepAlive(from, alive)
		}
	case *net.UnixListener:
		if keeps, ok := any(from).(interface{ SetUnlinkOnClose(bool) }); ok { // Plan 9 has no such method
			keeps.SetUnlinkOnClose(false) // the file must stay when takeOver closes from
		}
		if name := from.Addr().String(); owns && name != "" && name[0] != '@' {
			ln.file = name
		}
	}
	fd, err := takeOver(from)
	if err == nil {
		err = ln.start(schedulerOf(l), fd)
	}
	if err != nil {
		if !ln.closing.Swap(true) {
			ln.removeFile()
		}
		return nil, fmt.Errorf("threadlet: Listen: %w", err)
	}
	return ln, nil
}

// removeFile is called once, by whoever sets closing.
func (ln *listener) removeFile() {
	if ln.file != "" {
		_ = os.Remove(ln.file)
	}
}

// start gives fd to a listener, as open does.
func (ln *listener) start(s *scheduler, fd int) error {
	ln.listener = ln
	return s.open(&ln.desc, fd)
}

func (ln *listener) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: ln.address.Network(), Addr: ln.address, Err: err}
}

func (ln *listener) Addr() net.Addr { return ln.address }

func (ln *listener) Close() error {
	if err := ln.close(); err != nil {
		return ln.opError("close", err)
	}
	return nil
}

// File is that of net.TCPListener.
func (ln *listener) File() (*os.File, error) {
	if runtime.GOOS == "windows" {
		return nil, ln.opError("file", errors.ErrUnsupported) // an os.File is no socket there
	}
	fd, err := ln.s.descs.duplicate(&ln.desc)
	if err != nil {
		return nil, ln.opError("file", err)
	}
	return os.NewFile(uintptr(fd), "listener:"+ln.address.String()), nil
}

// SyscallConn is that of net.TCPListener, for threadlets of the loop.
func (ln *listener) SyscallConn() (syscall.RawConn, error) { return rawOf(&ln.desc, ln.opError) }

func (ln *listener) Accept() (net.Conn, error) {
	c, err := ln.accept(nil)
	if err != nil {
		return nil, ln.opError("accept", err)
	}
	return c, nil
}

// The first and the longest pause of Accept when the system has no room for a connection.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// accept waits for a connection, and opens it on the listener's loop.
func (ln *listener) accept(sv *service) (*Conn, error) {
	t, err := ln.caller(&ln.in)
	pause := firstPause
	for err == nil {
		if d := sv.pause(ln); d > 0 {
			if err = ln.rest(t, d); err == nil {
				err = ln.usable(&ln.in)
			}
			continue
		}
		c := &Conn{local: ln.address}
		fd, again, failed := ln.sys(ln.fd, c)
		if again || failed != nil {
			sv.left()
		}
		if again {
			ln.may = 0
			failed = ln.wait(t, &ln.in, accepting, eventloop.EventRead)
		}
		switch {
		case failed == nil && !again:
			ln.failing = false
			ln.accepted.Add(1)
			if c.service = sv; ln.s.open(&c.desc, fd) != nil {
				return nil, eventloop.ErrLoopTerminated
			}
			t.countOperation(nil)
			return c, nil
		case passes(failed): // also what the loop needs to watch the listener
			// A pause waits for no event of the listener. So the loop stops watching the listener, and does not spin.
			ln.tell(sv, failed)
			t.more().because = ": " + failed.Error()
			err = ln.rest(t, pause)
			t.extra.because = ""
			pause = min(2*pause, lastPause)
		case again:
			err = failed
		default:
			ln.failed.Add(1)
			return nil, os.NewSyscallError("accept", failed)
		}
		if err == nil {
			err = ln.usable(&ln.in)
		}
	}
	return nil, err
}

// tell counts an attempt to accept that has failed and will be repeated, and reports the first in a row.
func (ln *listener) tell(sv *service, err error) {
	ln.failed.Add(1)
	ln.paused.Add(1)
	if ln.failing {
		return
	}
	ln.failing = true
	if sv != nil && sv.onPause != nil {
		sv.onPause(ln.opError("accept", err))
	} else {
		ln.s.host.Log().Warn("accepting has failed, and is tried again", "kind", "threadlet", "address", ln.address.String(), "error", err)
	}
}

// unspecified tells whether a listener's address stands for all addresses of the machine. Then the local address of each
// connection is one of them.
func unspecified(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && (t.IP == nil || t.IP.IsUnspecified())
}

// never is a pause that only something else ends.
const never = time.Duration(math.MaxInt64)

// rest waits for the time d. It ends early for the same reasons as a wait for a connection, and by wakeAll.
func (ln *listener) rest(t *Threadlet, d time.Duration) error {
	if err := t.enter(); err != nil {
		return err
	}
	ln.out.push(t) // nothing else waits on this side of a listener; close wakes both sides
	if d < never {
		t.startTimer(d, nil)
	}
	err := t.wait(pausing)
	t.stopTimer()
	ln.out.runs(t)
	return err
}

// ListenerInfo says how a listener does.
type ListenerInfo struct {
	Addr     net.Addr
	Accepted uint64 // connections
	Failed   uint64 // attempts to accept that have failed
	Paused   uint64 // pauses of accepting, because an attempt has failed or MaxConns was reached
}

// Listeners returns the listeners of a loop. The loops of a group that serves with [ServeGroup] have one each. Any goroutine
// may call it.
func Listeners(l *eventloop.Loop) (infos []ListenerInfo) {
	for _, d := range schedulerOf(l).descs.all() {
		if ln := d.listener; ln != nil {
			infos = append(infos, ListenerInfo{ln.address, ln.accepted.Load(), ln.failed.Load(), ln.paused.Load()})
		}
	}
	return infos
}
