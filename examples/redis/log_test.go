package main

// The append-only file: torn at any byte, on a disk that loses unsynced data, and on a full disk.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/resp"
)

// memory is a file that can lose unsynced data.
type memory struct {
	mu     sync.Mutex // guards the rest: the server's workers write, the test reads
	data   []byte
	at     int
	synced int
	syncs  int
	broken error
}

func (m *memory) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at >= len(m.data) {
		return 0, io.EOF
	}
	n := copy(p, m.data[m.at:])
	m.at += n
	return n, nil
}

func (m *memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return 0, m.broken
	}
	m.data = append(m.data[:m.at], p...)
	m.at += len(p)
	return len(p), nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at = int(offset); whence == io.SeekEnd {
		m.at += len(m.data)
	}
	return int64(m.at), nil
}

func (m *memory) Truncate(size int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = m.data[:size]
	return nil
}

func (m *memory) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.synced = len(m.data)
	m.syncs++
	return m.broken
}

func (m *memory) Close() error { return nil }

// powerLoss returns the content that a disk may have afterwards: all synced data, and some of the rest.
func (m *memory) powerLoss() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.data[:m.synced+rand.IntN(len(m.data)-m.synced+1)])
}

// script is requests that each change something, with a transaction among them.
var script = [][]string{
	{"SET", "a", "1"}, {"RPUSH", "l", "x", "y"}, {"MULTI"}, {"INCR", "a"}, {"HSET", "h", "f", "v\r\n"}, {"EXEC"}, {"SADD", "s", "m", "n"}, {"LPOP", "l"},
	{"SET", "b", "", "PXAT", "9999999999999"}, {"MULTI"}, {"DEL", "a"}, {"EXEC"}, {"PERSIST", "b"},
}

// TestTornTail: from a file that ends anywhere, a server restores what was complete, a transaction entirely or not at
// all. The rest is cut off, and what is written afterwards can be read.
func TestTornTail(t *testing.T) {
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	os.Stderr, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	s := loopless(t)
	log := newLog(s.loop, new(memory), "no")
	s.log, s.store.record = log, log.append
	c := s.newClient(nil)
	good := map[int]string{0: ""} // states, by the length of the file
	for _, a := range script {
		c.answer(a...)
		if !c.multi {
			good[len(log.next.bytes)] = state(s)
		}
	}
	whole, want, size := log.next.bytes, "", 0
	for n := range len(whole) + 1 {
		if s, ok := good[n]; ok {
			want, size = s, n
		}
		file := &memory{data: append(bytes.Clone(whole[:n]), make([]byte, n%3*40_000)...)} // also grown, and without its bytes
		again := loopless(t)
		if err := again.restore(file); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got := state(again); got != want || len(file.data) != size {
			t.Fatalf("%d bytes bring\n%s\nand not\n%s\nand %d are left, not %d", n, got, want, len(file.data), size)
		}
		again.newClient(nil).answer("SET", "new", "one")
		d := <-again.log.disk
		if err := d.write(again.log.next, true); err != nil {
			t.Fatal(err)
		}
		third := loopless(t)
		if err := third.restore(&memory{data: file.data}); err != nil || state(third) != state(again) {
			t.Fatalf("after %d bytes, and more: %v", n, err)
		}
	}
}

// TestDamage: an error in the middle is not a torn tail, and nothing is cut off.
func TestDamage(t *testing.T) {
	one := string(resp.AppendRequest(nil, "SET", "a", "1"))
	for _, damage := range []string{"*3\r\n$x\r\n", "GET a\r\n", "nonsense\r\n", "*1\r\n$9\r\nSUBSCRIBE\r\n", "*1\r\n$3\r\nabcde\r\n",
		string(resp.AppendRequest(nil, "INCR", "a", "b")), string(resp.AppendRequest(nil, "LPUSH", "a", "b")), string(resp.AppendRequest(nil, "EXEC"))} {
		file := &memory{data: []byte(one + damage + one)}
		before := len(file.data)
		if err := loopless(t).restore(file); err == nil || !strings.Contains(err.Error(), fmt.Sprint("behind byte ", len(one))) || len(file.data) != before {
			t.Errorf("%q: %v, %d bytes of %d are left", damage, err, len(file.data), before)
		}
	}
	for _, other := range []string{"somebody else's notes", "$1", "\x00\x01"} { // and no part of a request either
		file := &memory{data: []byte(other)}
		if err := loopless(t).restore(file); err == nil || string(file.data) != other {
			t.Errorf("%q: %v, %q is left", other, err, file.data)
		}
	}
}

// TestPowerLoss: with fsync always, every answered change is on the disk, whenever that loses the rest. There are
// fewer syncs than requests, since all that wait together wait for one.
func TestPowerLoss(t *testing.T) {
	const conns, each = 16, 50
	file := new(memory)
	o := usual
	o.fsync = "always"
	i := serve(t, o, file)
	var acknowledged [conns]atomic.Int64
	var all sync.WaitGroup
	for n := range conns {
		c := i.dial()
		all.Go(func() {
			for k := range each {
				reply, err := "", error(nil)
				if _, err = c.Write(resp.AppendRequest(nil, "INCR", fmt.Sprint("n", n))); err == nil {
					reply, err = text(c.in)
				}
				if err != nil || reply != strconv.Itoa(k+1) {
					t.Errorf("%s, %v", reply, err)
					return
				}
				acknowledged[n].Store(int64(k + 1))
			}
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for losses, last := 0, false; !last; losses++ {
		select {
		case <-over:
			last = true
		case <-time.After(time.Millisecond):
		}
		var least [conns]int64
		for n := range conns {
			least[n] = acknowledged[n].Load()
		}
		if losses > 30 && !last {
			continue
		}
		again := loopless(t)
		if err := again.restore(&memory{data: file.powerLoss()}); err != nil {
			t.Fatal(err)
		}
		c := again.newClient(nil)
		for n := range conns {
			got, _ := strconv.ParseInt(strings.Trim(c.answer("GET", fmt.Sprint("n", n)), `"`), 10, 64)
			if got < least[n] {
				t.Fatalf("%d of %d are left", got, least[n])
			}
		}
	}
	if file.mu.Lock(); file.syncs > conns*each {
		t.Errorf("%d syncs for %d requests", file.syncs, conns*each)
	}
	file.mu.Unlock()
}

// TestGroupCommit: requests that come during a sync all wait for the next one.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, err := eventloop.New()
		if err != nil {
			t.Fatal(err)
		}
		file := &slow{took: time.Second}
		log := newLog(loop, file, "always")
		if err := log.start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var after []time.Duration
		for n := range 10 {
			_, _ = threadlet.Go(loop, func() {
				if n > 0 {
					_ = threadlet.Sleep(100 * time.Millisecond)
				}
				log.append(0, [][]byte{[]byte("INCR"), []byte("n")})
				if err := log.barrier(); err != nil {
					t.Error(err)
				}
				after = append(after, time.Since(began))
			})
		}
		go func() {
			time.Sleep(10 * time.Second)
			_ = loop.Shutdown(context.Background())
		}()
		if err := loop.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := log.close(); err != nil {
			t.Error(err)
		}
		if file.syncs != 3 { // the first, the nine others, and the end
			t.Errorf("%d syncs", file.syncs)
		}
		if len(after) != 10 || after[0] != time.Second || after[1] != 2*time.Second || after[9] != 2*time.Second {
			t.Errorf("they have waited %v", after)
		}
	})
}

// TestWrittenBeforeAcknowledged: whatever fsync is, who has passed the barrier has nothing that only this process knows.
func TestWrittenBeforeAcknowledged(t *testing.T) {
	for _, fsync := range []string{"always", "everysec", "no"} {
		synctest.Test(t, func(t *testing.T) {
			loop, err := eventloop.New()
			if err != nil {
				t.Fatal(err)
			}
			file := new(memory)
			log := newLog(loop, slowToWrite{file}, fsync)
			if err := log.start(); err != nil {
				t.Fatal(err)
			}
			_, _ = threadlet.Go(loop, func() {
				request := [][]byte{[]byte("SET"), []byte("a"), []byte("1")}
				for n := range 3 {
					log.append(0, request)
					if err := log.barrier(); err != nil {
						t.Error(err)
					}
					if want := (n + 1) * len(resp.AppendRequest(nil, request...)); len(file.data) != want {
						t.Errorf("%s: %d bytes are written, want %d", fsync, len(file.data), want)
					}
				}
				_ = loop.Shutdown(context.Background())
			})
			if err := loop.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// slowToWrite is a file whose writes take a while.
type slowToWrite struct{ *memory }

func (s slowToWrite) Write(p []byte) (int, error) {
	time.Sleep(time.Second)
	return s.memory.Write(p)
}

// slow is a file whose sync takes a while.
type slow struct {
	memory
	took time.Duration
}

func (s *slow) Sync() error {
	time.Sleep(s.took)
	return s.memory.Sync()
}

// TestEverySecond: what was written is synced within a second; without writes there is no sync.
func TestEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, err := eventloop.New()
		if err != nil {
			t.Fatal(err)
		}
		file := new(memory)
		log := newLog(loop, file, "everysec")
		if err := log.start(); err != nil {
			t.Fatal(err)
		}
		look := func(at time.Duration, written bool, syncs int) {
			time.Sleep(at)
			file.mu.Lock()
			defer file.mu.Unlock()
			if written != (len(file.data) > 0) || syncs != file.syncs {
				t.Errorf("%d bytes, %d syncs", len(file.data), file.syncs)
			}
		}
		go func() {
			look(5*time.Second, false, 0)
			_ = loop.Submit(func() { log.append(0, [][]byte{[]byte("INCR"), []byte("n")}) })
			look(10*time.Millisecond, true, 0)
			_ = loop.Submit(func() { log.append(0, [][]byte{[]byte("INCR"), []byte("n")}) })
			look(time.Second, true, 1)
			look(5*time.Second, true, 1)
			_ = loop.Shutdown(context.Background())
		}()
		if err := loop.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// A piece whose write the loop refuses, since it is ending, is written when the log is closed: clients were told that it would be.
func TestRefusedCommit(t *testing.T) {
	loop, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	file := new(memory)
	l := newLog(loop, file, "no")
	request := [][]byte{[]byte("SET"), []byte("a"), []byte("1")}
	l.append(0, request)
	if err := loop.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.commit(); err == nil {
		t.Error("an ended loop has written")
	}
	l.append(0, request)
	want := resp.AppendRequest(resp.AppendRequest(nil, request...), request...)
	if err := l.close(); err != nil || !bytes.Equal(file.data, want) {
		t.Errorf("the file has %q, %v; want %q", file.data, err, want)
	}
}

// TestFullDisk: a server that cannot write ends, and confirms no change that is not in the file.
func TestFullDisk(t *testing.T) {
	file := &memory{broken: errors.New("no space left on device")}
	o := usual
	o.fsync = "always"
	i := serve(t, o, file)
	c := i.dial()
	c.want("nil", "GET", "a")
	c.send("SET", "a", "1")
	if _, err := text(c.in); err == nil {
		t.Error("it is said to be stored")
	}
	<-i.group.Loop(0).Done()
	if err := i.s.close(); !errors.Is(err, file.broken) {
		t.Error(err)
	}
}

// TestOptions: an invalid option is an error before anything is written.
func TestOptions(t *testing.T) {
	for want, wrong := range map[string]func(*options){
		`not "sometimes"`: func(o *options) { o.fsync = "sometimes" },
		"at least 1":      func(o *options) { o.maxClients = 0 },
		"not negative":    func(o *options) { o.timeout = -1 },
	} {
		for _, file := range []string{"", filepath.Join(t.TempDir(), "file")} {
			o := usual
			o.file = file
			wrong(&o)
			if _, err := newServer(loopless(t).loop, o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v instead of: %s", err, want)
			}
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%s: the file was made", want)
			}
		}
	}
	o := usual
	o.file = filepath.Join(t.TempDir(), "no", "folder")
	if _, err := newServer(loopless(t).loop, o); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
