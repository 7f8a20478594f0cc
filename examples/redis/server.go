package main

// The server and its clients. A threadlet for each connection reads a request, runs it, and reads the next.

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/resp"
)

type options struct {
	file        string
	fsync       string
	outputLimit int
	softLimit   int
	softTime    time.Duration
	maxClients  int
	timeout     time.Duration
	events      string // whom notify-keyspace-events has told; see letters
	forms       forms
	maxMemory   int64 // bytes; 0 is no limit
	minReplicas int   // without so many nothing may be written
}

// check refuses what redis-server refuses, also where it would have no effect.
func (o options) check() error {
	switch {
	case !slices.Contains([]string{"always", "everysec", "no"}, o.fsync):
		return fmt.Errorf("fsync is always, everysec or no, not %q", o.fsync)
	case o.maxClients < 1:
		return fmt.Errorf("maxclients is at least 1, not %d", o.maxClients)
	case min(o.outputLimit, o.softLimit) < 0 || min(o.softTime, o.timeout) < 0:
		return errors.New("limits and times are not negative")
	}
	return nil
}

// server is the state that all connections share. Only threadlets and callbacks of the loop use it, and no command
// waits while it runs; so there is no lock.
type server struct {
	options
	loop      *eventloop.Loop
	store     *store
	databases []*keyspace
	log       *fileLog // nil without a file
	began     time.Time

	ending bool // the listener is closed

	clients  map[*client]struct{}
	channels listeners // subscribers by channel
	patterns listeners // subscribers by pattern

	blocked int             // clients that wait for a value
	scripts map[string]bool // by the digest of their text

	serial int64
	statistics
}

func newServer(loop *eventloop.Loop, o options) (*server, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &server{options: o, loop: loop, store: newStore(loop), began: time.Now(), clients: map[*client]struct{}{}, scripts: map[string]bool{}}
	s.forms = usualForms
	s.store.publish = s.publish
	for i := range databases {
		s.databases = append(s.databases, newKeyspace(s.store, i))
	}
	if o.file == "" {
		return s, nil
	}
	file, err := openLog(o.file)
	if err != nil {
		return nil, err
	}
	return s, s.restore(file)
}

// restore loads the keys from a file, and opens it for further changes.
func (s *server) restore(file logFile) error {
	log := newLog(s.loop, file, s.fsync)
	if err := log.replay(s); err != nil {
		return errors.Join(err, file.Close())
	}
	s.log, s.store.record = log, log.append
	s.store.asleep, s.store.instant = false, 0
	for _, k := range s.databases {
		k.awaken()
	}
	return log.start()
}

// close writes what the file lacks. The loop must have ended.
func (s *server) close() error {
	if s.log == nil {
		return nil
	}
	return s.log.close()
}

// statistics are what INFO counts until CONFIG RESETSTAT.
type statistics struct{ accepted, refused, dropped, commands int64 }

const (
	databases  = 16
	flushAt    = 64 << 10 // bytes of replies that are sent before more requests are run
	queueLimit = 64 << 20 // bytes of requests between MULTI and EXEC
	lastRest   = 8 << 20  // bytes of a client that are read once the server ends; a system holds less
)

// client is a connection.
type client struct {
	*server
	id      int64
	name    string
	conn    *threadlet.Conn
	keys    *keyspace // the database that it has selected
	version int       // of the protocol: 2 or 3
	began   time.Time
	last    string // the command that it has called last
	in      *resp.Reader
	out     []byte // replies not sent yet
	ends    bool   // the connection ends once they are sent
	awaits  bool   // await reads
	silent  int    // requests that are not answered; -1 for all, see silence
	left    bool   // the connection ends at its last deadline, whatever is sent

	failure string // the last error that was answered; replay looks at it

	rest int // bytes that are still read once the server ends: what may have arrived, but not without end

	sending int // bytes of replies that send has taken, and the system has not

	effect [][]byte // recorded in the file instead of the request
	wait   *wait    // for a value; nil if it does not wait
	transaction
	subscriptions
}

func (s *server) newClient(conn *threadlet.Conn) *client {
	s.serial++
	c := &client{server: s, id: s.serial, conn: conn, keys: s.databases[0], version: 2, began: time.Now(), rest: lastRest}
	c.in = resp.NewReader(c)
	return c
}

// serve serves a connection to its end; threadlet.Serve closes it then.
func (s *server) serve(conn *threadlet.Conn) {
	s.accepted++
	c := s.newClient(conn)
	if len(s.clients) >= s.maxClients {
		s.refused++
		c.error("ERR max number of clients reached")
		_ = c.flush()
		return
	}
	s.clients[c] = struct{}{}
	defer c.leave()
	for !c.ends {
		request, err := c.in.Request()
		var wrong resp.ProtocolError
		if errors.As(err, &wrong) {
			c.error("ERR " + wrong.Error())
			break
		}
		if err != nil {
			return
		}
		c.run(request)
		if c.wait != nil && c.await() != nil {
			return
		}
		if c.writer != nil && c.subscribed() == 0 && c.stopWriter() != nil {
			return
		}
		if len(c.out) > flushAt && c.flush() != nil {
			return
		}
	}
	_ = c.flush()
}

// Read reads for the parser of requests. The parser calls it when it needs more bytes: then the requests so far are
// answered first.
func (c *client) Read(p []byte) (int, error) {
	if err := c.flush(); err != nil {
		return 0, err
	}
	if c.in.Buffered() == 0 {
		threadlet.Draining() // it need not be asked: what has arrived is answered first, and then Read fails
	}
	if c.ending && c.rest <= 0 {
		return 0, threadlet.ErrDraining
	}
	if c.awaits && c.wait == nil {
		return 0, errServed
	}
	c.goesOn()
	n, err := c.conn.Read(p)
	if c.ending {
		c.rest -= n
	}
	return n, err
}

// flush sends the replies, or has a subscriber's writer send them.
func (c *client) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	if c.writer != nil {
		return c.push()
	}
	err := c.send(c.out)
	if c.out = c.out[:0]; cap(c.out) > flushAt {
		c.out = nil
	}
	return err
}

// send sends output. The changes behind it are written before it leaves; see barrier.
func (c *client) send(out []byte) error {
	c.sending = len(out)
	err := c.log.barrier()
	for c.sending > 0 && err == nil {
		c.goesOn()
		var n int
		n, err = c.conn.Write(out[:min(len(out), flushAt)])
		out = out[n:]
		if c.sending = len(out); c.waits() <= c.softLimit {
			c.cancelOverdue()
		}
	}
	return err
}

// goesOn puts off the end of a connection that neither sends nor reads anything. A subscriber may be silent, and what it
// does not read is bounded by the output limit.
func (c *client) goesOn() {
	if c.timeout == 0 || c.left {
		return
	}
	var until time.Time
	if c.subscribed() == 0 && c.wait == nil {
		until = time.Now().Add(c.timeout)
	}
	_ = c.conn.SetDeadline(until)
}

func (c *client) leave() {
	delete(c.clients, c)
	c.stopWaiting()
	c.unwatch()
	c.unsubscribeAll()
	_ = c.conn.SetWriteDeadline(time.Now().Add(lastWords))
	c.left = true
	_ = c.stopWriter()
}

// The replies of commands.

func (c *client) ok()             { c.out = resp.AppendSimple(c.out, "OK") }
func (c *client) simple(s string) { c.out = resp.AppendSimple(c.out, s) }
func (c *client) int(n int)       { c.out = resp.AppendInt(c.out, int64(n)) }
func (c *client) int64(n int64)   { c.out = resp.AppendInt(c.out, n) }
func (c *client) bulk(b []byte)   { c.out = resp.AppendBulk(c.out, b) }
func (c *client) string(s string) { c.out = resp.AppendBulk(c.out, s) }
func (c *client) array(n int)     { c.out = resp.AppendArray(c.out, n) }
func (c *client) syntax()         { c.error("ERR syntax error") }

// What version 3 of the protocol has forms of its own for.

func (c *client) null()      { c.nothing("$-1\r\n") }
func (c *client) nullArray() { c.nothing("*-1\r\n") }

func (c *client) nothing(in2 string) {
	if c.version == 3 {
		in2 = "_\r\n"
	}
	c.out = append(c.out, in2...)
}

// set begins a set of n members, pairs a map of n keys, each with its value.
func (c *client) set(n int) { c.array(n); c.become('~') }

func (c *client) pairs(n int) {
	if c.version == 3 {
		c.array(n)
		c.become('%')
	} else {
		c.array(2 * n)
	}
}

// become has version 3 show the array that has just begun as something else.
func (c *client) become(kind byte) {
	if c.version == 3 {
		c.out[bytes.LastIndexByte(c.out, '*')] = kind
	}
}

// tell answers with what version 3 has as a push: it is no reply to a request.
func (c *client) tell(all ...any) {
	at := len(c.out)
	c.list(all...)
	if c.version == 3 {
		c.out[at] = '>'
	}
}

func (c *client) error(s string) {
	c.out = resp.AppendError(c.out, s)
	c.failure = s
}

func (c *client) notInteger() { c.error("ERR " + notInteger) }

// wrongCount is the answer to a number of words that the table of commands does not know to be wrong.
func (c *client) wrongCount(a [][]byte) {
	c.error(fmt.Sprintf("ERR wrong number of arguments for '%s' command", title(a)))
}

func (c *client) truth(is bool) {
	if is {
		c.int(1)
	} else {
		c.int(0)
	}
}

func (c *client) strings(all ...string) {
	c.array(len(all))
	for _, s := range all {
		c.string(s)
	}
}

// list answers with an array of strings, numbers, arrays, and nil.
func (c *client) list(all ...any) {
	c.array(len(all))
	c.values(all...)
}

func (c *client) values(all ...any) {
	for _, v := range all {
		switch v := v.(type) {
		case string:
			c.string(v)
		case int:
			c.int(v)
		case []any:
			c.list(v...)
		default:
			c.null()
		}
	}
}
