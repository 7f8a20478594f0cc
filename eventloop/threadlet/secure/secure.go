// Package secure has TLS over connections of threadlets: crypto/tls, without the locks that could freeze a loop.
//
// A tls.Conn holds a sync.Mutex while its connection waits. So only a single threadlet may use a tls.Conn over a
// [threadlet.Conn]. Of two threadlets, the second would block its goroutine on the mutex, and so stop the loop on which the
// first would have to release it. A peer can bring that about: it does not read, and sends a record that must be answered;
// then the reader waits for the writer. A [Conn] of this package may be used by any number of threadlets of its loop, as a
// net.Conn may be used by goroutines.
package secure

// TLS: a tls.Conn for records and handshakes, whose locks are held only while nothing waits, or by one threadlet at a time.

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// Conn is a connection with TLS. It is a net.Conn.
//
// Read, Write, CloseWrite and Handshake are for threadlets of the loop; other callers get [threadlet.ErrNotThreadlet].
// Readers go one after the other, and so do writers. Everything else may be called from any goroutine.
//
// A wait ends for the same reasons as in a [threadlet.Conn], and the connection goes on afterwards: the next Read continues
// where the last one was ended, and what a Write has not sent is sent before the data of the next Write. But if a wait ends
// early in the handshake, so does the connection, as in crypto/tls.
type Conn struct {
	wire wire
	tls  *tls.Conn

	shakes, reads, writes threadlet.Mutex // held by the threadlet that shakes hands, reads, writes
	shaken                atomic.Bool     // the handshake is over; any goroutine reads it
	closing               atomic.Bool     // Close was called, on any goroutine

	ahead [1]byte // what Idle has read
	left  bool    // ahead is not returned yet; touched by the holder of reads
}

var _ net.Conn = (*Conn)(nil)

// Client returns the client's side of TLS over c, which must not be used directly any more. It does not renegotiate,
// whatever config says. The functions in config are called in the threadlet that runs the handshake, and may wait.
func Client(c *threadlet.Conn, config *tls.Config) *Conn {
	if config != nil && config.Renegotiation != tls.RenegotiateNever {
		config = config.Clone()
		config.Renegotiation = tls.RenegotiateNever // a handshake within a Read would make writers block the loop
	}
	s := &Conn{wire: wire{Conn: c}}
	s.wire.turns = &s.writes
	s.tls = tls.Client(&s.wire, config)
	return s
}

// Server returns the server's side of TLS over c; otherwise it is like [Client].
func Server(c *threadlet.Conn, config *tls.Config) *Conn {
	s := &Conn{wire: wire{Conn: c}}
	s.wire.turns = &s.writes
	s.tls = tls.Server(&s.wire, config)
	return s
}

// NetConn returns the connection below.
func (c *Conn) NetConn() *threadlet.Conn { return c.wire.Conn }

// Handshake is HandshakeContext without a context. The first Read or Write calls it.
func (c *Conn) Handshake() error { return c.HandshakeContext(context.Background()) }

// HandshakeContext runs the handshake, or waits for the threadlet that does, and returns its error. If ctx ends during the
// handshake, the connection is closed.
func (c *Conn) HandshakeContext(ctx context.Context) error {
	_ = ctx.Done() // a nil context panics here
	if t := threadlet.Current(); t == nil || t.Loop() != c.wire.Loop() {
		return c.elsewhere()
	}
	if c.shaken.Load() {
		return nil
	}
	if err := c.shakes.Lock(); err != nil {
		return err
	}
	defer c.shakes.Unlock()
	if c.shaken.Load() {
		return nil
	}
	if err := c.tls.HandshakeContext(ctx); err != nil {
		return err
	}
	c.shaken.Store(true)
	c.wire.shaken = true
	c.wire.send()
	return nil
}

// elsewhere returns the error for a caller that is no threadlet of the loop. The connection below has it, and tells the log.
func (c *Conn) elsewhere() error {
	_, err := c.wire.Conn.Read(nil)
	return err
}

// Read reads up to len(p) bytes, and waits until there is one. It returns io.EOF when the peer has announced its end. Other
// errors are those of [threadlet.Conn.Read] and of [tls.Conn.Read].
func (c *Conn) Read(p []byte) (int, error) {
	if err := c.HandshakeContext(context.Background()); err != nil {
		return 0, err
	}
	if err := c.reads.Lock(); err != nil {
		return 0, err
	}
	defer c.reads.Unlock()
	if c.left && len(p) > 0 {
		c.left = false
		return copy(p, c.ahead[:]), nil
	}
	return c.tls.Read(p)
}

// ErrLeft is returned by Idle if Read need not wait.
var ErrLeft = errors.New("secure: something is left to read")

// Idle is [threadlet.Conn.Idle]: the connection waits without a threadlet, and the state of TLS is on the heap. What comes may be a
// part of a record, or one without data, so that handle's first Read waits. The errors are ErrLeft, those of Idle and those of
// Read.
func (c *Conn) Idle(handle func(*Conn)) error {
	if err := c.HandshakeContext(context.Background()); err != nil {
		return err
	}
	if err := c.reads.Lock(); err != nil {
		return err
	}
	defer c.reads.Unlock()
	if !c.left {
		c.wire.without = true
		n, err := c.tls.Read(c.ahead[:]) // what crypto/tls has, or needs no more bytes for
		c.wire.without = false
		if c.left = n > 0; n == 0 && !errors.Is(err, errMore) {
			return err
		}
	}
	if c.left {
		return ErrLeft
	}
	if handle == nil {
		return c.wire.Conn.Idle(nil)
	}
	return c.wire.Conn.Idle(func(*threadlet.Conn) { handle(c) })
}

// chunk is how many bytes are encrypted at once, as many as a record holds. The next chunk is encrypted when the system has
// taken this one.
const chunk = 16 << 10

// Write writes all of p, and waits whenever the system has no room for more. It returns how many bytes it has encrypted.
// With an error, up to 16 KiB of these may not be sent yet; they are sent before anything that follows.
func (c *Conn) Write(p []byte) (n int, err error) {
	if err := c.HandshakeContext(context.Background()); err != nil {
		return 0, err
	}
	if err := c.writes.Lock(); err != nil {
		return 0, err
	}
	defer c.writes.Unlock()
	defer c.wire.flushing()()
	for {
		if err := c.wire.flush(); err != nil || n == len(p) {
			return n, err
		}
		m, err := c.tls.Write(p[n:min(len(p), n+chunk)])
		if n += m; err != nil {
			return n, err
		}
	}
}

// CloseWrite tells the peer that nothing follows. It returns an error before the handshake is over, and those of Write.
func (c *Conn) CloseWrite() error {
	if t := threadlet.Current(); t == nil || t.Loop() != c.wire.Loop() {
		return c.elsewhere()
	}
	if err := c.writes.Lock(); err != nil {
		return err
	}
	defer c.writes.Unlock()
	defer c.wire.flushing()()
	if err := c.tls.CloseWrite(); err != nil {
		return err
	}
	return c.wire.flush()
}

// Close closes the connection. It tells the peer first, if the system has room for that. It never waits: what a Write has
// not sent yet is lost. Threadlets that wait for the connection get net.ErrClosed, and so do later calls of Close.
func (c *Conn) Close() error {
	if c.closing.Swap(true) {
		return net.ErrClosed
	}
	if loop := c.wire.Loop(); !loop.OnLoop() {
		if loop.SubmitInternal(func() { _ = c.tls.Close() }) != nil {
			_ = c.wire.Close() // the loop has ended, or is about to
		}
		return nil
	}
	return c.tls.Close()
}

// ConnectionState returns what the handshake has agreed on; before its end that is empty.
func (c *Conn) ConnectionState() tls.ConnectionState {
	if !c.shaken.Load() {
		return tls.ConnectionState{}
	}
	return c.tls.ConnectionState()
}

// Signal ends all current waits for the connection with [threadlet.ErrSignaled]; if there are none, the next wait ends so.
func (c *Conn) Signal() { c.wire.Signal() }

// LocalAddr returns the address of this side.
func (c *Conn) LocalAddr() net.Addr { return c.wire.LocalAddr() }

// RemoteAddr returns the address of the peer.
func (c *Conn) RemoteAddr() net.Addr { return c.wire.RemoteAddr() }

// SetDeadline is [threadlet.Conn.SetDeadline].
func (c *Conn) SetDeadline(at time.Time) error { return c.wire.Conn.SetDeadline(at) }

// SetReadDeadline sets the deadline of Read alone; see SetDeadline.
func (c *Conn) SetReadDeadline(at time.Time) error { return c.wire.Conn.SetReadDeadline(at) }

// SetWriteDeadline sets the deadline of Write alone; see SetDeadline.
func (c *Conn) SetWriteDeadline(at time.Time) error { return c.wire.Conn.SetWriteDeadline(at) }

// wire is the connection that crypto/tls reads and writes. crypto/tls calls Write under locks of its own, so Write does not
// wait: what the system does not take is kept, and is sent by a threadlet that may wait. The loop alone touches it.
type wire struct {
	*threadlet.Conn
	turns    *threadlet.Mutex // Conn.writes: after the handshake, held by the threadlet that flushes
	kept     []byte           // encrypted, and not taken by the system yet
	flushers int              // threadlets that will flush before they are done
	shaken   bool             // the handshake is over
	without  bool             // Read reads nothing
}

// mostKept is how many bytes may be kept: a chunk, and answers that the peer has provoked and does not read.
const mostKept = 64 << 10

var errUnread = errors.New("secure: the peer sends what has to be answered, and does not read the answers")

func (w *wire) Write(p []byte) (n int, err error) {
	if len(w.kept) == 0 { // while flush sends bytes that come before, it has the turn, and TryWrite takes nothing
		if n, err = w.TryWrite(p); err != nil || n == len(p) {
			return n, err
		}
	}
	if len(w.kept) > mostKept {
		return n, errUnread
	}
	w.kept = append(w.kept, p[n:]...)
	w.send()
	return len(p), nil
}

// send starts a threadlet that flushes the kept bytes, unless there is a flusher. In the handshake, Read flushes.
func (w *wire) send() {
	if !w.shaken || len(w.kept) == 0 || w.flushers > 0 {
		return
	}
	done := w.flushing()
	if _, err := threadlet.Go(w.Loop(), func() {
		defer done()
		if w.turns.Lock() == nil {
			defer w.turns.Unlock()
			_ = w.flush() // the next Write gets the error, too
		}
	}); err != nil {
		done() // the loop is ending, and closes the connection
	}
}

// flushing announces that the caller will flush. The caller calls done afterwards.
func (w *wire) flushing() (done func()) {
	w.flushers++
	return func() {
		if w.flushers--; len(w.kept) == 0 {
			w.kept = nil // releases the buffer
		}
	}
}

// flush waits until the system has taken the kept bytes. It is called by one threadlet at a time: the one that runs the
// handshake, and after that the holder of turns.
func (w *wire) flush() error {
	for {
		p := w.kept
		w.kept = nil
		n, err := w.Conn.Write(p) // also if p is empty: the call tests whether the connection is usable, and yields now and then
		switch {
		case n < len(p):
			w.kept = append(p[n:], w.kept...)
		case w.kept == nil:
			w.kept = p[:0]
		}
		if err != nil || len(w.kept) == 0 {
			return err
		}
	}
}

// Read reads what the peer has sent. In the handshake it flushes first, since the peer answers only to what it has got.
func (w *wire) Read(p []byte) (int, error) {
	if w.without {
		return 0, interrupted{errMore}
	}
	if !w.shaken {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	n, err := w.Conn.Read(p)
	if errors.Is(err, threadlet.ErrSignaled) || errors.Is(err, threadlet.ErrDraining) {
		err = interrupted{err}
	}
	return n, err
}

// errMore is what ends a Read without bytes.
var errMore = errors.New("secure: more bytes are needed")

// interrupted is an error that crypto/tls takes for a temporary one, and not for the end of the connection.
type interrupted struct{ error }

func (interrupted) Timeout() bool   { return false }
func (interrupted) Temporary() bool { return true }
func (i interrupted) Unwrap() error { return i.error }

// SetWriteDeadline does nothing. crypto/tls calls it to bound the wait for its last record, and to keep other records from
// following that one. Here Write never waits, and only the user sets deadlines.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
