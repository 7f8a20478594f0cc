package main

// Publishers and subscribers. A publisher must not wait for a subscriber that does not read. So each subscriber has a
// second threadlet, which writes; a subscriber that falls too far behind is disconnected. What waits for it counts until it
// is sent, also when the subscriptions have ended.

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/resp"
	"github.com/turnloop/turnloop/internal/slim"
)

// subscriptions are a client's, each with its number in the order in which they were made.
type subscriptions struct {
	channels map[string]int
	patterns map[string]int
	made     int
	writer   *threadlet.Threadlet // sends the replies; nil without subscriptions
	wake     *threadlet.Chan[struct{}]
	pieces   [][]byte          // output that waits for the writer, before that in client.out
	queued   int               // bytes in pieces
	overdue  eventloop.TimerID // drops the client; 0 unless more than the soft limit waits
}

func (s *subscriptions) subscribed() int { return len(s.channels) + len(s.patterns) }

// listeners are the clients that each name has. A name without any is not there. After a burst the maps are small again, since
// each PUBLISH goes through all patterns.
type listeners struct {
	slim.Map[string, *slim.Map[*client, struct{}]]
}

// in returns the clients of a name.
func (m *listeners) in(name string) map[*client]struct{} {
	if its := m.Of[name]; its != nil {
		return its.Of
	}
	return nil
}

// add tells whether the client is new there.
func (m *listeners) add(name string, c *client) bool {
	its := m.Of[name]
	if its == nil {
		its = new(slim.Map[*client, struct{}])
		m.Put(name, its)
	}
	before := len(its.Of)
	its.Put(c, struct{}{})
	return len(its.Of) > before
}

// remove removes a client, and the name if that was its last one.
func (m *listeners) remove(name string, c *client) {
	its := m.Of[name]
	if its == nil {
		return
	}
	if its.Delete(c); len(its.Of) == 0 {
		m.Delete(name)
	}
}

var errSlow = errors.New("the client does not read")

func init() {
	register(map[string]*command{
		"subscribe": {-2, subscribes, func(c *client, a [][]byte) {
			c.subscribe("subscribe", a[1:], &c.subscriptions.channels, &c.server.channels)
		}},
		"psubscribe": {-2, subscribes, func(c *client, a [][]byte) {
			c.subscribe("psubscribe", a[1:], &c.subscriptions.patterns, &c.server.patterns)
		}},
		"unsubscribe": {-1, subscribes, func(c *client, a [][]byte) {
			c.unsubscribe("unsubscribe", a[1:], c.subscriptions.channels, &c.server.channels)
		}},
		"punsubscribe": {-1, subscribes, func(c *client, a [][]byte) {
			c.unsubscribe("punsubscribe", a[1:], c.subscriptions.patterns, &c.server.patterns)
		}},
		"publish": {3, reads, func(c *client, a [][]byte) { c.int(c.publish(string(a[1]), string(a[2]))) }},
	})
}

func (c *client) subscribe(verb string, names [][]byte, mine *map[string]int, all *listeners) {
	if err := c.startWriter(); err != nil {
		c.error("ERR " + err.Error())
		return
	}
	if *mine == nil {
		*mine = map[string]int{}
	}
	for _, name := range names {
		n := string(name)
		if _, already := (*mine)[n]; !already {
			c.made++
			(*mine)[n] = c.made
		}
		all.add(n, c)
		c.tell(verb, n, c.subscribed())
	}
}

// unsubscribe ends the subscriptions of these names; without names, of all in their order.
func (c *client) unsubscribe(verb string, names [][]byte, mine map[string]int, all *listeners) {
	if len(names) == 0 {
		for name := range mine {
			names = append(names, []byte(name))
		}
		slices.SortFunc(names, func(a, b []byte) int { return mine[string(a)] - mine[string(b)] })
	}
	for _, name := range names {
		delete(mine, string(name))
		all.remove(string(name), c)
		c.tell(verb, string(name), c.subscribed())
	}
	if len(names) == 0 {
		c.tell(verb, nil, c.subscribed())
	}
}

// unsubscribeAll ends all subscriptions without an answer.
func (c *client) unsubscribeAll() {
	for name := range c.subscriptions.channels {
		c.server.channels.remove(name, c)
	}
	for name := range c.subscriptions.patterns {
		c.server.patterns.remove(name, c)
	}
	c.subscriptions.channels, c.subscriptions.patterns = nil, nil
}

// publish sends a message to the subscribers of a channel, and returns how many times.
func (s *server) publish(channel, text string) (receivers int) {
	deliver := func(to map[*client]struct{}, message ...string) {
		text := resp.AppendRequest(nil, message...)
		for c := range to {
			c.out = append(c.out, text...)
			if c.version == 3 {
				c.out[len(c.out)-len(text)] = '>'
			}
			_ = c.push()
		}
		receivers += len(to)
	}
	deliver(s.channels.in(channel), "message", channel, text)
	for pattern := range s.patterns.Of {
		if matches(pattern, channel) {
			deliver(s.patterns.in(pattern), "pmessage", pattern, channel, text)
		}
	}
	return receivers
}

// push has the writer send the output. A client with too much of it is disconnected, now or later. Long output becomes a
// piece: if it went on growing as one, each time that it moved a command would copy all that waits, for all who are behind.
func (c *client) push() error {
	if len(c.out) >= flushAt {
		c.pieces = append(c.pieces, c.out)
		c.queued += len(c.out)
		c.out = nil
	}
	switch waits := c.waits(); {
	case waits > c.outputLimit:
		c.drop()
		return errSlow
	case waits > c.softLimit && c.overdue == 0:
		c.overdue, _ = c.loop.ScheduleTimer(c.softTime, c.drop)
	}
	c.wake.TrySend(struct{}{})
	return nil
}

// waits returns how many bytes of output the system has not taken yet.
func (c *client) waits() int { return c.sending + c.queued + len(c.out) }

// take returns the output that is to be sent next. More gathers in the other buffer, if that is free.
func (c *client) take(other []byte) (out []byte) {
	if len(c.pieces) == 0 {
		out, c.out = c.out, other[:0]
		return out
	}
	out, c.pieces[0] = c.pieces[0], nil
	if c.pieces = c.pieces[1:]; len(c.pieces) == 0 {
		c.pieces = nil
	}
	c.queued -= len(out)
	return out
}

// forgo gives up the output that is not being sent.
func (c *client) forgo() { c.out, c.pieces, c.queued = nil, nil, 0 }

// drop disconnects a client that does not read. Until its threadlet notices, more may be published to it.
func (c *client) drop() {
	c.cancelOverdue()
	c.forgo()
	if c.conn.Close() == nil {
		c.dropped++
	}
}

// cancelOverdue stops the clock of a client that had more than the soft limit waiting.
func (c *client) cancelOverdue() {
	if c.overdue != 0 {
		_ = c.loop.CancelTimer(c.overdue)
		c.overdue = 0
	}
}

func (c *client) startWriter() (err error) {
	if c.writer == nil {
		c.wake = threadlet.NewChan[struct{}](c.loop, 1)
		c.writer, err = threadlet.Go(c.loop, c.write)
	}
	return err
}

// stopWriter waits until the writer has sent everything, and ends it.
func (c *client) stopWriter() error {
	if c.writer == nil {
		return nil
	}
	c.goesOn()
	c.wake.TrySend(struct{}{})
	_ = c.wake.Close()
	err := c.writer.Join(context.Background())
	c.writer = nil
	c.cancelOverdue()
	return err
}

// write is the writer. While a write waits, more output gathers in the other buffer. An error ends the connection, since
// what follows would be no reply to anything.
func (c *client) write() {
	var buffer []byte
	for {
		if _, err := c.wake.Receive(); err != nil {
			return
		}
		for c.waits() > 0 {
			buffer = c.take(buffer)
			if c.send(buffer) != nil {
				_ = c.conn.Close()
				return
			}
			if cap(buffer) > flushAt {
				buffer = nil
			}
		}
	}
}

var lastWords = 5 * time.Second // for a connection to take its last output
