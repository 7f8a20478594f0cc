package libraries

// A driver of PostgreSQL on connections of a loop, against Debian's server, which runs in a directory of its own.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// postgres starts a server that listens on a Unix socket alone, and returns what a client connects to.
func postgres(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		t.Skip("left out: there is no postgresql")
	}
	dir, err := os.MkdirTemp("/tmp", "turnloop") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var as []string
	if os.Getuid() == 0 { // it refuses to run as root
		as = []string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}
		if out, err := exec.Command("chown", "postgres:postgres", dir).CombinedOutput(); err != nil {
			t.Skipf("left out: there is no user postgres: %s", out)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		args = append(append(as, filepath.Join(filepath.Dir(found[len(found)-1]), name)), args...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-U", "turnloop", "-A", "trust", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	says, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt) // an end that does not wait for clients
		_, _ = io.Copy(io.Discard, says)
		_ = server.Wait()
	})
	var said strings.Builder
	for lines := bufio.NewScanner(says); ; said.WriteString(lines.Text() + "\n") {
		if !lines.Scan() {
			t.Fatal(said.String())
		}
		if strings.Contains(lines.Text(), "ready to accept connections") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, says) }()
	return "host=" + dir + " user=turnloop dbname=postgres"
}

// all is how much a parameter has that no buffer of the system takes at once.
const all = 32 << 20

// rowsToCopy are rows of numbers and texts.
func rowsToCopy(n int) pgx.CopyFromSource {
	text := strings.Repeat("x", 100)
	return pgx.CopyFromSlice(n, func(i int) ([]any, error) { return []any{i, text}, nil })
}

// pgxPool asks on several goroutines. The driver has goroutines of its own that read while another writes what is large.
func pgxPool(t *testing.T) {
	address, l, ctx := postgres(t), start(t), t.Context()
	config, err := pgxpool.ParseConfig(address + " pool_max_conns=3")
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DialFunc = func(_ context.Context, network, addr string) (net.Conn, error) { return dial(l, network, addr) }
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "create table t (n int, text text)"); err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			big := bytes.Repeat([]byte("0123456789abcdef"), all/16)
			var got []byte
			if err := pool.QueryRow(ctx, "select $1::bytea", big).Scan(&got); err != nil || !bytes.Equal(got, big) {
				t.Errorf("a large parameter: %d, %v", len(got), err)
			}
			if n, err := pool.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"n", "text"}, rowsToCopy(50_000)); n != 50_000 || err != nil {
				t.Error(n, err)
			}
			batch := &pgx.Batch{}
			for i := range 1000 {
				batch.Queue("select $1::int", i)
			}
			results := pool.SendBatch(ctx, batch)
			defer results.Close()
			for want := range 1000 {
				var n int
				if err := results.QueryRow().Scan(&n); err != nil || n != want {
					t.Error(n, want, err)
					return
				}
			}
		})
	}
	clients.Wait()
	var copied bytes.Buffer
	c, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if _, err := c.Conn().PgConn().CopyTo(ctx, &copied, "copy t to stdout"); err != nil || bytes.Count(copied.Bytes(), []byte("\n")) != 100_000 {
		t.Error(copied.Len(), err)
	}
	if _, err := c.Exec(ctx, "listen news"); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, "notify news, 'today'"); err != nil {
		t.Fatal(err)
	}
	if news, err := c.Conn().WaitForNotification(ctx); err != nil || news.Payload != "today" {
		t.Error(news, err)
	}
	ends, end := context.WithCancel(ctx) // by a deadline that another goroutine sets
	go end()
	if _, err := c.Conn().WaitForNotification(ends); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// pgxUnshared is in a threadlet, on a connection that only threadlets may use.
func pgxUnshared(t *testing.T) {
	var log buffer
	address, l, ctx := postgres(t), start(t, eventloop.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))), t.Context()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return threadlet.Dial(ctx, network, addr)
	}
	ended := make(chan struct{})
	run(t, l, func() {
		defer close(ended)
		c, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close(ctx)
		if _, err := c.Exec(ctx, "create table t (n int, text text)"); err != nil {
			t.Error(err)
		}
		if _, err := c.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"n", "text"}, rowsToCopy(10)); err == nil {
			t.Error("it works")
		}
	})
	<-ended
	beat.Eventually(t, func() bool { return strings.Contains(log.String(), "threadlet.Shared") }, "the log to say what fails")
}
