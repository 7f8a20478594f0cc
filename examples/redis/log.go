package main

// The append-only file: the requests that have changed something, as clients send them. It is written by group commit: while one
// piece is on its way to the disk the next one gathers, and all who wait for a piece wait for the same call of fsync.

import (
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

// logFile is what is needed of an *os.File.
type logFile interface {
	io.ReadWriteSeeker
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// fileLog is the file and what it lacks. A nil one is none.
type fileLog struct {
	loop   *eventloop.Loop
	always bool // a reply waits for the disk
	second bool // the disk is told each second

	next    *piece // gathers
	last    *piece // that is not on the disk yet, nil if there is none
	wake    *threadlet.Chan[struct{}]
	due     bool // the second is over
	dirty   bool // since the last fsync something was written, or will be
	grouped int  // 1 in a transaction, 2 if it has changed something

	// disk has the file, unless a worker has it, which may go on although nobody waits for it any more. Who wants it waits for that one.
	disk chan *disk
}

// disk is a file, and the error after which nothing more is written to it: there would be a gap.
type disk struct {
	logFile
	failed error
}

// piece is what is written together.
type piece struct {
	bytes    []byte
	settled  promise.Of[struct{}]
	settle   func(struct{})
	hopeless func(error)
}

// backlog is how much may wait for the disk before those who change something wait too.
const backlog = 64 << 20

// openLog opens a file, and makes it and its name in the folder durable if it is new.
func openLog(name string) (logFile, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	folder, err := os.Open(filepath.Dir(name))
	if err == nil {
		err = errors.Join(folder.Sync(), folder.Close())
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func newLog(loop *eventloop.Loop, file logFile, fsync string) (*fileLog, error) {
	l := &fileLog{loop: loop, always: fsync == "always", second: fsync == "everysec",
		wake: threadlet.NewChan[struct{}](loop, 1), disk: make(chan *disk, 1)}
	if !l.always && !l.second && fsync != "no" {
		return nil, fmt.Errorf("fsync is always, everysec or no, not %q", fsync)
	}
	l.disk <- &disk{logFile: file}
	return l, nil
}

// append adds a request.
func (l *fileLog) append(a [][]byte) {
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
	p.bytes = resp.AppendRequest(p.bytes, a...)
	if l.second && !l.dirty {
		l.dirty = true
		_, _ = l.loop.ScheduleTimer(time.Second, func() {
			l.due = true
			l.wake.TrySend(struct{}{})
		})
	}
}

// group has the file say all or nothing of what f changes.
func (l *fileLog) group(f func()) {
	if l == nil {
		f()
		return
	}
	l.grouped = 1
	f()
	if l.grouped == 2 {
		l.grouped = 0
		l.append([][]byte{[]byte("EXEC")})
	}
	l.grouped = 0
}

// barrier waits, if that is asked for, until all that was appended is on the disk.
func (l *fileLog) barrier() error {
	if l == nil || l.last == nil || !l.always && (l.next == nil || len(l.next.bytes) < backlog) {
		return nil
	}
	_, err := threadlet.Await(l.last.settled)
	return err
}

// start begins to write.
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

// commit writes a piece. What the disk does not take ends the server: it could promise nothing any more.
func (l *fileLog) commit() error {
	p, sync := l.next, l.always || l.due
	l.next, l.due = nil, false
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
	if p != nil {
		if l.last == p {
			l.last = nil
		}
		p.settle(struct{}{})
	}
	return nil
}

// write writes a piece, or nothing if there is none.
func (d *disk) write(p *piece, sync bool) error {
	if p != nil && d.failed == nil {
		_, d.failed = d.Write(p.bytes)
	}
	if sync && d.failed == nil {
		d.failed = d.Sync()
	}
	return d.failed
}

// close writes what is left. The loop has ended.
func (l *fileLog) close() error {
	d := <-l.disk
	return errors.Join(d.write(l.next, true), d.Close())
}

// replay runs what a file says, and cuts off a request or a transaction that is not complete: the machine has stopped while it was
// written, and nobody was told that it was done.
func (l *fileLog) replay(s *server) error {
	file := <-l.disk
	defer func() { l.disk <- file }()
	c := s.newClient(nil)
	in := resp.NewReader(file)
	s.keys.asleep = true
	good := int64(0)
	for {
		a, err := in.Request()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err == nil && !changes(find(a[0])) {
			err = fmt.Errorf("%.64q changes nothing", a[0])
		}
		if err != nil {
			return fmt.Errorf("the append-only file is damaged behind byte %d: %w", good, err)
		}
		c.run(a)
		c.out = c.out[:0]
		if !c.multi {
			good = in.Offset()
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

func changes(cmd *command) bool { return cmd != nil && (cmd.kind == writes || cmd.kind == controls) }
