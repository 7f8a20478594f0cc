package main

// The events of keys, beside redis-server's.

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"testing"
)

// happenings are requests, each with its events in one line; the classes are those of a CONFIG SET before it.
var happenings = []string{
	"SET s 1", "SET s 1 EX 100", "SETEX s 100 1", "PSETEX s 100000 1", "SETNX n 1", "SETNX n 1", "GETSET s 2", "MSET a 1 b 2", "MSETNX a 1 b 2", "MSETNX c 1 d 2",
	"APPEND s x", "SETRANGE s 1 y", "SETBIT s 7 1", "INCR a", "DECR a", "INCRBY a 2", "DECRBY a 2", "INCRBYFLOAT a 1.5", "GETEX s EX 100", "GETEX s PERSIST", "GETEX s", "GETDEL s", "GET s",
	"DEL a none", "UNLINK b", "EXPIRE c 100", "PEXPIRE c 100000", "EXPIREAT c 9999999999", "PERSIST c", "PERSIST c", "EXPIRE c -1", "EXPIRE none 1", "RENAME d e", "RENAMENX e f", "RENAME f f",
	"COPY f g", "COPY f g REPLACE", "COPY f g DB 1", "MOVE g 2", "RPUSH l 1 2 3 4 5 6 7 8", "LPUSH l 0", "LPUSHX l x", "RPUSHX l x", "LPUSHX none x", "LPOP l", "RPOP l", "LPOP l 2", "LSET l 0 y", "LSET l 99 y",
	"LINSERT l BEFORE y z", "LINSERT l BEFORE none z", "LREM l 0 z", "LREM l 0 none", "LTRIM l 0 2", "LMOVE l m LEFT RIGHT", "RPOPLPUSH l m", "BLMOVE l m LEFT LEFT 0", "BRPOPLPUSH m l 0", "BLPOP m 0", "BRPOP m l 0", "RPUSH l 1 2 3",
	"LMPOP 1 l LEFT COUNT 2", "BLMPOP 0 1 l RIGHT", "SADD t 1 2 3 4", "SADD t 1", "SREM t 1 9", "SREM t 9", "SMOVE t u 2", "SMOVE t u 9", "SINTERSTORE v t t", "SUNIONSTORE v t u", "SDIFFSTORE v t t", "SPOP u", "SREM t 3 4",
	"HSET h a 1 b 2", "HMSET h c 3", "HSETNX h d 4", "HSETNX h d 4", "HINCRBY h a 1", "HINCRBYFLOAT h a 1.5", "HDEL h a none", "HDEL h none", "HDEL h b c d", "SWAPDB 0 0", "FLUSHALL",
	"CONFIG SET notify-keyspace-events Eg$", "SET s 1", "EXPIRE s 100", "RPUSH l 1", "CONFIG SET notify-keyspace-events KEnl", "SET s 2", "SET z 1", "RPUSH k 1", "LPOP k", "RENAME s y", "CONFIG SET notify-keyspace-events A", "SET s 1",
}

func TestEvents(t *testing.T) {
	var told [2][]string
	for n, server := range []net.Addr{redis(t).RemoteAddr(), serve(t, usual, nil).dial().RemoteAddr()} {
		subscriber, c := another(t, server), another(t, server)
		subscriber.want(`["psubscribe" "__*" 1]`, "PSUBSCRIBE", "__*")
		c.want("OK", "CONFIG", "SET", "notify-keyspace-events", "KEA")
		for _, request := range happenings {
			c.do(strings.Fields(request)...)
			c.do("PUBLISH", "__end", "")
			line := request
			for message := subscriber.reply(); !strings.Contains(message, `"__end"`); message = subscriber.reply() {
				line += " " + strings.TrimPrefix(message, `["pmessage" "__*" `)
			}
			told[n] = append(told[n], line)
		}
	}
	for n, theirs := range told[0] {
		if ours := told[1][n]; ours != theirs {
			t.Errorf("%s\n and redis-server:\n%s", ours, theirs)
		}
	}
	if !slices.Contains(told[1], `LPOP k "__keyspace@0__:k" "lpop"] "__keyevent@0__:lpop" "k"]`) {
		t.Error(told[1])
	}
}

func another(t *testing.T, server net.Addr) *talk {
	conn, err := net.Dial(server.Network(), server.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &talk{conn, t, bufio.NewReader(conn)}
}

// Where a key expires without a request, that is told too.
func TestEventOfExpiry(t *testing.T) {
	i := serve(t, usual, nil)
	subscriber, c := i.dial(), i.dial()
	subscriber.want(`["subscribe" "__keyevent@0__:expired" 1]`, "SUBSCRIBE", "__keyevent@0__:expired")
	c.want("OK", "CONFIG", "SET", "notify-keyspace-events", "xE")
	c.want("OK", "SET", "k", "v", "PX", "1")
	if got := subscriber.reply(); got != `["message" "__keyevent@0__:expired" "k"]` {
		t.Error(got)
	}
}
