package main

// Subscribers: those that read, and those that read slowly or not at all.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/resp"
)

// TestSlowSubscriber: a subscriber that does not read is disconnected when too much waits for it. No other client
// waits for it, and all others get everything.
func TestSlowSubscriber(t *testing.T) {
	const size, messages = 100 << 10, 60
	o := usual
	o.outputLimit = 1 << 20
	i := serve(t, o, nil)
	slow, good, publisher := i.dial(), i.dial(), i.dial()
	slow.want(`["subscribe" "news" 1]`, "SUBSCRIBE", "news")
	good.want(`["psubscribe" "n*" 1]`, "PSUBSCRIBE", "n*")
	payload := strings.Repeat("m", size)
	sent := 0
	for dropped := false; sent < messages || !dropped; sent++ {
		n, _ := strconv.Atoi(publisher.do("PUBLISH", "news", payload))
		if got := good.reply(); got != fmt.Sprintf(`["pmessage" "n*" "news" %q]`, payload) {
			t.Fatalf("%.100s", got)
		}
		i.on(func() { dropped = i.s.dropped > 0 })
		if want := 2; !dropped && n != want || sent > 100*messages {
			t.Fatalf("%d have got message %d", n, sent)
		}
	}
	i.until("the end of the slow one", func() bool { return len(i.s.channels.Of) == 0 && len(i.s.clients) == 2 })
	if _, err := io.Copy(io.Discard, slow.in); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the slow one is still connected")
	}
}

// TestBacklogStaysWhereItIs: a message for a subscriber that is far behind costs what the message costs, and no copy of what
// waits already; so many who are far behind do not stop the server. One who reads again gets everything in its order.
func TestBacklogStaysWhereItIs(t *testing.T) {
	const messages, size, most = 200, 100_000, 1 << 20
	i := serve(t, usual, nil)
	late := i.dial()
	late.want(`["subscribe" "news" 1]`, "SUBSCRIBE", "news")
	var want []byte
	i.on(func() { // the writer does not run meanwhile
		for n := range messages {
			message := fmt.Appendf(nil, "%0*d", size, n)
			want = resp.AppendRequest(want, "message", "news", string(message))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			i.s.publish("news", string(message))
			runtime.ReadMemStats(&after)
			if cost := after.TotalAlloc - before.TotalAlloc; cost > most {
				t.Errorf("message %d has allocated %d bytes", n, cost)
				return
			}
		}
	})
	got := make([]byte, len(want))
	if _, err := io.ReadFull(late.in, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or the messages are others", err)
	}
	i.until("all messages to be sent", func() bool {
		for s := range i.s.clients {
			return s.waits() == 0
		}
		return false
	})
}

// TestDeafSubscriber: what waits for a subscriber that does not read is bounded, and ends with its connection: at once
// above the limit, after a time above the soft limit, and, if it has no subscriptions any more, after the timeout.
func TestDeafSubscriber(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		name                     string
		hard, soft               int
		softTime, timeout        time.Duration
		messages, atOnce         int // of a megabyte; the system has room for some of them; atOnce: each so often, as by EXEC
		unsubscribes, reads, out bool
	}{
		{name: "hard", hard: 8 * mega, soft: 8 * mega, softTime: patience, messages: 100, out: true},
		{name: "hard, in a transaction", hard: 8 * mega, soft: 8 * mega, softTime: patience, messages: 1, atOnce: 100, out: true},
		{name: "soft", hard: 64 * mega, soft: mega, softTime: 50 * time.Millisecond, messages: 20, out: true},
		{name: "soft, unsubscribed", hard: 64 * mega, soft: mega, softTime: 50 * time.Millisecond, messages: 20, unsubscribes: true, out: true},
		{name: "soft, and reads in time", hard: 64 * mega, soft: mega, softTime: patience, messages: 20, reads: true},
		{name: "timeout", hard: 64 * mega, soft: 64 * mega, softTime: patience, timeout: 50 * time.Millisecond, messages: 20},
		{name: "timeout, unsubscribed", hard: 64 * mega, soft: 64 * mega, softTime: patience, timeout: 50 * time.Millisecond, messages: 20, unsubscribes: true, out: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := usual
			o.outputLimit, o.softLimit, o.softTime = c.hard, c.soft, c.softTime
			i := serve(t, o, nil)
			deaf := i.subscriber(c.timeout)
			message := strings.Repeat("m", mega)
			for range c.messages {
				i.on(func() {
					for range max(1, c.atOnce) {
						i.s.publish("news", message)
						for s := range i.s.clients {
							if waits := s.waits(); waits > c.hard || waits > c.soft && s.overdue == 0 {
								t.Errorf("%d bytes wait", waits)
							}
						}
					}
				})
			}
			if c.unsubscribes {
				deaf.send("UNSUBSCRIBE")
			}
			if c.reads {
				all := c.messages * len(resp.AppendRequest(nil, "message", "news", message))
				if _, err := io.CopyN(io.Discard, deaf.in, int64(all)); err != nil {
					t.Fatal(err)
				}
				i.until("its time to be counted no more", func() bool {
					for s := range i.s.clients {
						return s.overdue == 0
					}
					return false
				})
			}
			if c.out {
				i.until("the end of the deaf one", func() bool { return len(i.s.clients) == 0 })
				i.on(func() {
					if c.timeout == 0 && i.s.dropped != 1 {
						t.Errorf("the one is counted as %d", i.s.dropped)
					}
				})
				return
			}
			time.Sleep(2 * c.timeout)
			i.on(func() {
				if len(i.s.clients) != 1 {
					t.Error("it was disconnected")
				}
			})
		})
	}
}

// subscriber returns a client that is subscribed to news before it can be too late for the timeout that holds from then on.
func (i *instance) subscriber(timeout time.Duration) *talk {
	c := i.dial()
	c.want(`["subscribe" "news" 1]`, "SUBSCRIBE", "news")
	i.on(func() { i.s.timeout = timeout })
	c.want(`["pong" ""]`, "PING")
	return c
}

func TestPubSub(t *testing.T) {
	i := serve(t, usual, nil)
	c, p := i.dial(), i.dial()
	c.send("SUBSCRIBE", "a", "b")
	for n, name := range []string{"a", "b"} {
		if got := c.reply(); got != fmt.Sprintf("[\"subscribe\" %q %d]", name, n+1) {
			t.Fatal(got)
		}
	}
	c.want(`["psubscribe" "[ab]" 3]`, "PSUBSCRIBE", "[ab]")
	p.want("2", "PUBLISH", "a", "x")
	for _, want := range []string{`["message" "a" "x"]`, `["pmessage" "[ab]" "a" "x"]`} {
		if got := c.reply(); got != want {
			t.Fatal(got)
		}
	}
	c.want(`["pong" ""]`, "PING")
	c.want(`["pong" "p"]`, "PING", "p")
	c.want("ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", "GET", "a")
	c.want(`["unsubscribe" "none" 3]`, "UNSUBSCRIBE", "none")
	c.want(`["punsubscribe" "[ab]" 2]`, "PUNSUBSCRIBE")
	c.want(`["punsubscribe" nil 2]`, "PUNSUBSCRIBE")
	c.send("UNSUBSCRIBE")
	c.reply()
	if got := c.reply(); !strings.HasSuffix(got, " 0]") {
		t.Fatal(got)
	}
	c.want("PONG", "PING") // the connection works as before
	p.want("0", "PUBLISH", "a", "x")
	c.want("OK", "MULTI")
	c.want("QUEUED", "SUBSCRIBE", "a")
	c.want(`[["subscribe" "a" 1]]`, "EXEC")
	p.want("1", "PUBLISH", "a", "x")
	if got := c.reply(); got != `["message" "a" "x"]` {
		t.Error(got)
	}
	c.want("OK", "QUIT")
	if _, err := c.in.ReadByte(); err != io.EOF {
		t.Error(err)
	}
	i.until("the subscriptions to be forgotten", func() bool { return len(i.s.channels.Of)+len(i.s.patterns.Of) == 0 })
}
