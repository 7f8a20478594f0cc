package main

// The server and its clients: a threadlet for each connection, which reads a request, runs it, and reads the next.

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/resp"
)

type options struct {
	file        string
	fsync       string
	outputLimit int
	maxClients  int
	timeout     time.Duration
}

// server is what all connections share. Only threadlets and callbacks of the loop touch it, and no command waits for anything
// while it runs; so there is no lock.
type server struct {
	options
	loop  *eventloop.Loop
	keys  *keyspace
	log   *fileLog // nil without a file
	began time.Time

	clients  map[*client]struct{}
	channels map[string]map[*client]struct{} // subscribers of each
	patterns map[string]map[*client]struct{}

	serial, accepted, refused, dropped, commands int64
}

func newServer(loop *eventloop.Loop, o options) (*server, error) {
	s := &server{options: o, loop: loop, keys: newKeyspace(loop), began: time.Now(), clients: map[*client]struct{}{},
		channels: map[string]map[*client]struct{}{}, patterns: map[string]map[*client]struct{}{}}
	if o.file == "" {
		return s, nil
	}
	file, err := openLog(o.file)
	if err != nil {
		return nil, err
	}
	return s, s.restore(file)
}

// restore brings back what a file has, and goes on writing it.
func (s *server) restore(file logFile) error {
	log, err := newLog(s.loop, file, s.fsync)
	if err == nil {
		err = log.replay(s)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	s.log, s.keys.record = log, log.append
	s.keys.awaken()
	return log.start()
}

// close writes what the file lacks. The loop has ended.
func (s *server) close() error {
	if s.log == nil {
		return nil
	}
	return s.log.close()
}

const (
	flushAt    = 64 << 10 // bytes of replies that are sent although more requests are there
	queueLimit = 64 << 20 // bytes of requests between MULTI and EXEC
)

// client is a connection.
type client struct {
	*server
	id   int64
	name string
	conn *threadlet.Conn
	in   *resp.Reader
	out  []byte // replies that wait to be sent
	ends bool   // the connection ends when they are

	effect [][]byte // what the file gets instead of the request
	transaction
	subscriptions
}

func (s *server) newClient(conn *threadlet.Conn) *client {
	s.serial++
	c := &client{server: s, id: s.serial, conn: conn}
	c.in = resp.NewReader(c)
	return c
}

// serve is the life of a connection. Serve closes it behind this.
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
		if c.writer != nil && c.subscribed() == 0 && c.stopWriter() != nil {
			return
		}
		if len(c.out) > flushAt && c.flush() != nil {
			return
		}
	}
	_ = c.flush()
}

// Read is what the reader of requests calls when it needs more: the time to answer those that it had.
func (c *client) Read(p []byte) (int, error) {
	if err := c.flush(); err != nil {
		return 0, err
	}
	if c.in.Buffered() == 0 && threadlet.Draining() {
		return 0, threadlet.ErrDraining
	}
	if c.timeout > 0 {
		_ = c.conn.SetReadDeadline(time.Now().Add(c.timeout))
	}
	return c.conn.Read(p)
}

// flush sends the replies, or has a subscriber's writer do it. No reply leaves before everything that it could tell of is on the disk,
// if that is what the file is for.
func (c *client) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	if c.writer != nil {
		return c.push()
	}
	if err := c.log.barrier(); err != nil {
		return err
	}
	_, err := c.conn.Write(c.out)
	if c.out = c.out[:0]; cap(c.out) > flushAt {
		c.out = nil
	}
	return err
}

func (c *client) leave() {
	delete(c.clients, c)
	c.unwatch()
	c.unsubscribeAll()
	_ = c.conn.SetWriteDeadline(time.Now().Add(lastWords))
	_ = c.stopWriter()
}

// The replies of commands.

func (c *client) ok()             { c.out = resp.AppendSimple(c.out, "OK") }
func (c *client) simple(s string) { c.out = resp.AppendSimple(c.out, s) }
func (c *client) error(s string)  { c.out = resp.AppendError(c.out, s) }
func (c *client) int(n int)       { c.out = resp.AppendInt(c.out, int64(n)) }
func (c *client) int64(n int64)   { c.out = resp.AppendInt(c.out, n) }
func (c *client) bulk(b []byte)   { c.out = resp.AppendBulk(c.out, b) }
func (c *client) string(s string) { c.out = resp.AppendBulk(c.out, s) }
func (c *client) null()           { c.out = resp.AppendNull(c.out) }
func (c *client) array(n int)     { c.out = resp.AppendArray(c.out, n) }
func (c *client) syntax()         { c.error("ERR syntax error") }
func (c *client) notInteger()     { c.error("ERR value is not an integer or out of range") }
func (c *client) subcommand(a [][]byte) {
	c.error(fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%.64s'", a[1]))
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
