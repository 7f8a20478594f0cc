package libraries

// Clients of Redis, on connections of a loop, against the server in examples/redis.

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// redisServer starts the server of examples/redis, and returns its address.
func redisServer(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "redis")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, "github.com/turnloop/turnloop/examples/redis").CombinedOutput(); err != nil {
		t.Skipf("left out: the server is not beside this module: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// Everything that applications keep a Redis for: a pool of connections, pipelines, transactions, waiting, publishing, a lock.
func goRedis(t *testing.T) {
	l, ctx := start(t), t.Context()
	addr := redisServer(t)
	c := redis.NewClient(&redis.Options{Addr: addr, DB: 1, ReadTimeout: time.Hour, WriteTimeout: time.Hour,
		Dialer: func(_ context.Context, _, addr string) (net.Conn, error) { return dial(l, "tcp", addr) }})
	defer c.Close()
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	big := strings.Repeat("x", 1<<20)
	check("set", c.Set(ctx, "k", big, 0).Err())
	if got, err := c.Get(ctx, "k").Result(); got != big {
		t.Fatal(len(got), err)
	}
	sub := c.Subscribe(ctx, "news")
	_, err := sub.Receive(ctx)
	check("subscribe", err)
	popped := make(chan string, 1)
	go func() {
		got, err := c.BLPop(ctx, 0, "queue").Result()
		popped <- strings.Join(got, " ") + map[bool]string{false: " failed"}[err == nil]
	}()
	_, err = c.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.RPush(ctx, "queue", "work")
		p.HSet(ctx, "h", "a", 1)
		p.Publish(ctx, "news", "today")
		return nil
	})
	check("transaction", err)
	if got := <-popped; got != "queue work" {
		t.Error(got)
	}
	if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "today" {
		t.Error(m, err)
	}
	check("unsubscribe", sub.Close())
	if h, err := c.HGetAll(ctx, "h").Result(); err != nil || h["a"] != "1" {
		t.Error(h, err)
	}
	unlock := redis.NewScript(`
		if redis.call("get", KEYS[1]) == ARGV[1] then
			return redis.call("del", KEYS[1])
		else
			return 0
		end`)
	for _, want := range []int{1, 0} {
		if want == 1 {
			check("lock", c.SetNX(ctx, "lock", "me", time.Hour).Err())
		}
		if n, err := unlock.Run(ctx, c, []string{"lock"}, "me").Int(); n != want {
			t.Error(n, err)
		}
	}
}

// Pipelines by itself, and has one goroutine that reads and another that writes.
func rueidisClient(t *testing.T) {
	l, ctx := start(t), t.Context()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{redisServer(t)}, DisableCache: true, ForceSingleClient: true,
		ConnWriteTimeout: time.Hour, SelectDB: 2,
		DialCtxFn: func(_ context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return dial(l, "tcp", addr)
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all := rueidis.Commands{c.B().Set().Key("k").Value(strings.Repeat("x", 1<<20)).Build(), c.B().Hset().Key("h").FieldValue().FieldValue("a", "1").Build()}
	for _, r := range c.DoMulti(ctx, all...) {
		if r.Error() != nil {
			t.Error(r.Error())
		}
	}
	if h, err := c.Do(ctx, c.B().Hgetall().Key("h").Build()).AsStrMap(); err != nil || h["a"] != "1" {
		t.Error(h, err)
	}
	if _, err := c.Do(ctx, c.B().Get().Key("none").Build()).ToString(); !rueidis.IsRedisNil(err) {
		t.Error(err)
	}
}
