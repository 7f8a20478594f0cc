package main

// The append-only file: the requests that have changed something, as clients send them. It is written by group
// commit: while one piece is written to the disk, the next one gathers, and all clients that wait for a piece wait
// for the same fsync.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/resp"
)

// logFile is the part of *os.File that the log needs.
type logFile interface {
	io.ReadWriteSeeker
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// fileLog is the file, with the changes that it lacks. A nil one records nothing.
type fileLog struct {
	loop   *eventloop.Loop
	always bool // fsync each piece, before those who wait for it go on
	second bool // fsync each second

	next     *piece // gathers; nil when it is empty
	underWay *piece // commit writes it, or has been kept from it by the end of the loop; nil if there is none
	database int    // of the last request in the file or in a piece
	last     *piece // the newest piece that is not on the disk yet; nil if there is none
	wake     *threadlet.Chan[struct{}]
	due      bool // the second is over: the next commit calls fsync
	dirty    bool // an fsync is scheduled
	grouped  int  // 1 in a transaction, 2 if it has changed something

	// disk holds the file while it is free. A worker takes it, and gives it back; it may go on after its caller has
	// stopped waiting, so the next user waits for it.
	disk chan *disk
}

// disk is the file, and the first error: after it nothing more is written, which would leave a gap.
type disk struct {
	logFile
	failed error
}

// piece is a run of requests that are written together.
type piece struct {
	bytes    []byte
	written  bool // or tried; set by whoever holds the disk
	settled  promise.Of[struct{}]
	settle   func(struct{})
	hopeless func(error)
}

// openLog opens a file, for this server alone. It syncs the folder, so that a new file's name is durable.
func openLog(name string) (logFile, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = lock(file)
	if err == nil {
		err = syncFolder(filepath.Dir(name))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func newLog(loop *eventloop.Loop, file logFile, fsync string) *fileLog {
	l := &fileLog{loop: loop, always: fsync == "always", second: fsync == "everysec",
		wake: threadlet.NewChan[struct{}](loop, 1), disk: make(chan *disk, 1)}
	l.disk <- &disk{logFile: file}
	return l
}

// append adds a request to the next piece.
func (l *fileLog) append(database int, a [][]byte) {
	p := l.next
	if p == nil {
		p = new(piece)
		p.settled, p.settle, p.hopeless = promise.New[struct{}](l.loop.Promises())
		l.next, l.last = p, p
		l.wake.TrySend(struct{}{})
	}
	if l.grouped == 1 {
		l.grouped = 2
		p.bytes = resp.AppendRequest(p.bytes, "MULTI")
	}
	if database != l.database {
		l.database = database
		p.bytes = resp.AppendRequest(p.bytes, []byte("SELECT"), decimal(int64(database)))
	}
	p.bytes = resp.AppendRequest(p.bytes, a...)
	if l.second && !l.dirty {
		l.dirty = true
		_, _ = l.loop.ScheduleTimer(time.Second, func() {
			l.due = true
			l.wake.TrySend(struct{}{})
		})
	}
}

// group calls f, and records its changes as one transaction: a replay has all of them or none.
func (l *fileLog) group(f func()) {
	if l == nil {
		f()
		return
	}
	l.grouped = 1
	f()
	if l.grouped == 2 {
		l.grouped = 0
		l.append(l.database, [][]byte{[]byte("EXEC")})
	}
	l.grouped = 0
}

// barrier waits until all that was appended is written: a server that is killed then loses nothing that it has told of. With
// -fsync always it is on the disk.
func (l *fileLog) barrier() error {
	if l == nil || l.last == nil {
		return nil
	}
	_, err := threadlet.Await(l.last.settled)
	return err
}

// start starts the threadlet that writes.
func (l *fileLog) start() error {
	_, err := threadlet.Go(l.loop, func() {
		for {
			if _, err := l.wake.Receive(); err != nil {
				return
			}
			if err := l.commit(); err != nil {
				return
			}
		}
	})
	return err
}

// commit writes the next piece. An error ends the server, which could not keep its promises any more.
func (l *fileLog) commit() error {
	p, sync := l.next, l.always || l.due
	l.next, l.underWay, l.due = nil, p, false
	l.dirty = l.dirty && !sync
	err := threadlet.Do(context.Background(), func(context.Context) error {
		d := <-l.disk
		defer func() { l.disk <- d }()
		return d.write(p, sync)
	})
	if err != nil {
		if p != nil {
			p.hopeless(err)
		}
		if !errors.Is(err, eventloop.ErrLoopTerminated) {
			fmt.Fprintln(os.Stderr, "redis: the append-only file:", err)
			_ = l.loop.Close()
		}
		return err
	}
	l.underWay = nil
	if p != nil {
		if l.last == p {
			l.last = nil
		}
		p.settle(struct{}{})
	}
	return nil
}

// write writes a piece, unless it is nil or was written, and calls fsync if sync is set.
func (d *disk) write(p *piece, sync bool) error {
	if p != nil && !p.written && d.failed == nil {
		p.written = true
		_, d.failed = d.Write(p.bytes)
	}
	if sync && d.failed == nil {
		d.failed = d.Sync()
	}
	return d.failed
}

// close writes the rest: also the piece that commit was to write, if the loop has ended before its worker took the disk. The loop
// must have ended.
func (l *fileLog) close() error {
	d := <-l.disk
	_ = d.write(l.underWay, false) // an error stays in failed
	return errors.Join(d.write(l.next, true), d.Close())
}

// replay runs the requests of a file. It cuts off an incomplete request or transaction at the end: the machine
// stopped during that write, and no client was told that it was done. A request that fails is damage, too: only what has
// changed something is recorded.
func (l *fileLog) replay(s *server) error {
	file := <-l.disk
	defer func() { l.disk <- file }()
	size, err := written(file)
	if err != nil {
		return err
	}
	c := s.newClient(nil)
	in := resp.NewReader(io.LimitReader(file, size))
	in.Recorded = true
	s.store.asleep = true
	good := int64(0)
	for {
		a, err := in.Request()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err == nil && !changes(find(a)) && !is(a[0], "select") {
			err = fmt.Errorf("%.64q changes nothing", a[0])
		}
		if err == nil {
			if c.run(a); c.failure != "" {
				err = errors.New(c.failure)
			}
		}
		if err != nil {
			return fmt.Errorf("the append-only file is damaged behind byte %d: %w", good, err)
		}
		c.out = c.out[:0]
		if !c.multi {
			good, l.database = in.Offset(), c.keys.number
		}
	}
	c.forget()
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || end == good {
		return err
	}
	fmt.Fprintf(os.Stderr, "redis: the append-only file ends within a request: %d bytes are cut off\n", end-good)
	if err := file.Truncate(good); err != nil {
		return err
	}
	if _, err := file.Seek(good, io.SeekStart); err != nil {
		return err
	}
	return file.Sync()
}

// written returns the size of a file without the zeros at its end, and leaves it at its beginning. When a machine stops, a
// file may have grown and not have got its bytes; and no request ends with a zero.
func written(file io.ReadSeeker) (size int64, err error) {
	size, err = file.Seek(0, io.SeekEnd)
	for buf := make([]byte, 64<<10); err == nil; {
		from := max(0, size-int64(len(buf)))
		if _, err = file.Seek(from, io.SeekStart); err == nil {
			_, err = io.ReadFull(file, buf[:size-from])
		}
		if err != nil {
			break
		}
		n := len(bytes.TrimRight(buf[:size-from], "\x00"))
		if size = from + int64(n); n > 0 || from == 0 {
			_, err = file.Seek(0, io.SeekStart)
			return size, err
		}
	}
	return 0, err
}

func changes(cmd *command) bool { return cmd != nil && (cmd.kind == writes || cmd.kind == controls) }
