package main

// Commands that wait for a value: BLPOP and its kin. The command itself does not wait: it leaves its client in the queues of its
// keys, and whoever gives such a key a value serves those in front, before another request runs. Meanwhile the client's
// threadlet reads, so that it notices a client that has gone.

import (
	"container/list"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// wait is what a client waits for. take takes a value of a key, answers, and returns what the file records.
type wait struct {
	queues map[string]*list.Element // by key
	take   func(key []byte, d *deque) [][]byte
	timer  eventloop.TimerID // 0 without a timeout
}

var errServed = errors.New("another client has served this one")

// await reads until the client has its reply. What it sends meanwhile is run afterwards.
func (c *client) await() (err error) {
	c.awaits = true
	for c.wait != nil && err == nil {
		if err = c.in.More(); c.in.Buffered() > queueLimit {
			err = errors.New("the client sends too much while it waits")
		}
	}
	c.awaits = false
	if c.wait != nil {
		return err
	}
	return c.conn.SetReadDeadline(time.Time{})
}

// awaitValue serves a client from the first of the keys that has a value, or has it wait. Where a client cannot wait, as in EXEC,
// none answers.
func (c *client) awaitValue(keys [][]byte, timeout time.Duration, take func(key []byte, d *deque) [][]byte, none func()) {
	if c.servedFrom(keys, take) {
		return
	}
	if c.executing || c.keys.asleep {
		none()
		return
	}
	c.stopWaiting()
	c.blocked++
	c.wait = &wait{take: take, queues: map[string]*list.Element{}}
	for _, key := range keys {
		k := string(key)
		if c.wait.queues[k] == nil {
			if c.keys.waiting[k] == nil {
				c.keys.waiting[k] = list.New()
			}
			c.wait.queues[k] = c.keys.waiting[k].PushBack(c)
		}
	}
	if timeout > 0 {
		c.wait.timer, _ = c.loop.ScheduleTimer(timeout, func() { c.endWait(c.nullArray) })
	}
}

// servedFrom takes from the first of the keys that has a value, and tells whether that, or an error, has been answered.
func (c *client) servedFrom(keys [][]byte, take func(key []byte, d *deque) [][]byte) bool {
	for _, key := range keys {
		e := c.keys.find(key)
		if e == nil {
			continue
		}
		if d, ok := e.other.(*deque); ok {
			c.amounts(take(key, d)...)
		} else {
			c.error(wrongType)
		}
		return true
	}
	return false
}

// endWait ends the wait of a client with a reply.
func (c *client) endWait(answer func()) {
	c.stopWaiting()
	answer()
	if c.conn != nil {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0)) // await resets it
	}
}

func (c *client) stopWaiting() {
	if c.wait == nil {
		return
	}
	for key, e := range c.wait.queues {
		queue := c.keys.waiting[key]
		if queue.Remove(e); queue.Len() == 0 {
			delete(c.keys.waiting, key)
		}
	}
	if c.wait.timer != 0 {
		_ = c.loop.CancelTimer(c.wait.timer)
	}
	c.wait = nil
	c.blocked--
}

// handOver serves the clients that wait for what a request has brought. What one of them gets may be of use to others.
func (s *server) handOver() {
	for len(s.store.ready) > 0 {
		at := s.store.ready[0]
		s.store.ready = s.store.ready[1:]
		k, key := s.databases[at.database], []byte(at.key)
		for k.waiting[at.key] != nil {
			e := k.find(key)
			if e == nil {
				break
			}
			d, ok := e.other.(*deque)
			if !ok {
				break
			}
			c := k.waiting[at.key].Front().Value.(*client)
			take, before := c.wait.take, s.store.changes
			var effect [][]byte
			c.endWait(func() { effect = take(key, d) })
			if s.store.changes != before && s.store.record != nil {
				s.store.record(k.number, effect)
			}
		}
	}
	s.store.ready = nil
}

// timeout reads how long a client waits: seconds, 0 for ever.
func (c *client) seconds(word []byte) (d time.Duration, ok bool) {
	f, err := strconv.ParseFloat(string(word), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(f):
		c.error("ERR timeout is not a float or out of range")
	case f > math.MaxInt64/1000 || f < -math.MaxInt64/1000:
		c.error("ERR timeout is out of range")
	case f < 0:
		c.error("ERR timeout is negative")
	default:
		return time.Duration(min(math.Ceil(f*1000)*1e6, math.MaxInt64/2)), true
	}
	return 0, false
}
