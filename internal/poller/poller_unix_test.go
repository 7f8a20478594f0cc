//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package poller_test

// Tests of the poller on Linux, macOS and the BSDs.

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

// pair makes a connected pair of non-blocking stream sockets.
func pair(t *testing.T) (a, b int) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	for _, fd := range fds {
		require.NoError(t, unix.SetNonblock(fd, true))
		t.Cleanup(func() { _ = unix.Close(fd) })
	}
	return fds[0], fds[1]
}

// send writes a byte. Any goroutine may call it.
func send(fd int) error {
	_, err := unix.Write(fd, []byte{1})
	return err
}

func receive(fd int) error {
	_, err := unix.Read(fd, make([]byte, 1))
	return err
}

// A Wait that has begun returns a descriptor that is added, or becomes ready, meanwhile.
func TestReadinessWhileWaiting(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	go func() {
		time.Sleep(time.Millisecond) // either order of Add and Wait is right; this one is the harder
		_ = p.Add(a, read, 1)
		_, _ = unix.Write(b, []byte{1})
	}()
	for {
		events, err := p.Wait(forever)
		require.NoError(t, err)
		if len(events) > 0 {
			require.Equal(t, []poller.Event{{FD: a, Tag: 1, Events: read}}, events)
			return
		}
	}
}

// After many looks in a row with events and then one without, later events are reported, wherever the owner waits.
func TestBusyThenIdle(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	busy := func() {
		put(t, b)
		for range 10 {
			require.Equal(t, tags{1: read}, ready(t, p))
		}
	}
	rounds := 100
	if testing.Short() {
		rounds = 32 // four of each kind
	}
	for i := range rounds {
		noticed, stop := watch(t, p)
		busy()
		if i%2 == 1 { // forgets that it was busy
			stop()
			require.NoError(t, p.Reset())
			require.NoError(t, p.Add(a, read, 1))
			noticed, stop = watch(t, p)
		}
		take(t, a)
		require.Empty(t, ready(t, p))
		go unix.Write(b, []byte{1})
		for len(ready(t, p)) == 0 {
			notice(t, noticed)
		}
		stop()
		take(t, a)
		parker, ok := any(p).(poller.Parker)
		if !ok {
			continue
		}
		busy()
		take(t, a)
		delay := 100 * time.Microsecond // while the thread is blocked, if it is for a moment
		if i%8 > 3 {
			delay *= 20 // then it is not
		}
		end := func() { _, _ = unix.Write(b, []byte{1}) }
		if i%4 > 1 {
			end = func() { _ = p.Wake() }
		}
		time.AfterFunc(delay, end)
		watchdog := time.AfterFunc(time.Minute, func() { panic("parked for ever") })
		events, err := parker.Park()
		for len(events) == 0 && err == nil && i%4 <= 1 { // a signal or a wake-up that was late
			events, err = parker.Park()
		}
		watchdog.Stop()
		require.NoError(t, err)
		if i%4 > 1 {
			require.Empty(t, events)
		} else {
			require.Equal(t, []poller.Event{{FD: a, Tag: 1, Events: read}}, events)
			take(t, a)
		}
	}
}

func TestHangup(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	require.NoError(t, unix.Shutdown(b, unix.SHUT_WR))
	require.Equal(t, tags{1: read}, ready(t, p), "the end of what comes")
	require.NoError(t, p.Modify(a, read, read|write, 1))
	require.Equal(t, tags{1: read | write}, ready(t, p), "the other direction is open")
	require.NoError(t, p.Modify(a, read|write, write, 1))
	require.Equal(t, tags{1: write}, ready(t, p))
	require.NoError(t, unix.Close(b))
	require.NotZero(t, ready(t, p)[1]&hangup, "a peer that is gone is reported, although only writing was asked for")

	var pipe [2]int
	require.NoError(t, unix.Pipe(pipe[:]))
	defer unix.Close(pipe[1])
	require.NoError(t, p.Add(pipe[1], write, 2))
	require.NoError(t, unix.Close(pipe[0]))
	require.NotZero(t, ready(t, p)[2]&(hangup|failed), "a pipe without a reader is reported")
}

func TestBadDescriptors(t *testing.T) {
	p := open(t)
	a, _ := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	for _, fd := range []int{-1, -1 << 31, 1 << 30, closed(t)} {
		for _, events := range []loopapi.IOEvents{read, 0, failed, hangup} {
			require.ErrorIs(t, p.Add(fd, events, 2), unix.EBADF, "Add(%d, %v)", fd, events)
		}
		err := p.Remove(fd, read)
		require.True(t, poller.Gone(err), "Remove(%d): %v", fd, err)
	}
	other, _ := pair(t)
	require.ErrorIs(t, p.Remove(other, read), unix.ENOENT)
	if runtime.GOOS == "linux" {
		require.ErrorIs(t, p.Add(a, read, 2), unix.EEXIST)
		file, err := os.Create(filepath.Join(t.TempDir(), "file"))
		require.NoError(t, err)
		defer file.Close()
		require.ErrorIs(t, p.Add(int(file.Fd()), read, 2), unix.EPERM)
	}
	if bits := 32 << (^uint(0) >> 63); bits == 64 {
		big := a
		big += 1 << (bits - 31) // the same number in its lower half
		require.ErrorIs(t, p.Add(big, read, 2), unix.EBADF)
	}
}

// closed returns the number of a descriptor that was closed.
func closed(t *testing.T) int {
	fds := [2]int{}
	require.NoError(t, unix.Pipe(fds[:]))
	require.NoError(t, unix.Close(fds[0]))
	require.NoError(t, unix.Close(fds[1]))
	return fds[1]
}

// The poller's own descriptors cannot be added: a number that the user has closed may be one of them now.
func TestOwnDescriptorsAreRefused(t *testing.T) {
	_, over := watch(t, open(t)) // has the runtime make a poller, which is nobody's here
	over()
	before := descriptors()
	p := open(t)
	_, stop := watch(t, p) // which may need another
	defer stop()
	for fd := range descriptors() {
		if !before[fd] {
			require.ErrorIs(t, p.Add(fd, read, 1), unix.EBADF)
			require.ErrorIs(t, p.Modify(fd, read, write, 1), unix.EBADF)
			require.ErrorIs(t, p.Remove(fd, read), unix.EBADF)
		}
	}
	go p.Wake()
	wait(t, p, forever)
}

// A descriptor that was closed while a duplicate is open is reported for ever, and only Reset ends that.
func TestReset(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	original, err := unix.Dup(a)
	require.NoError(t, err)
	require.NoError(t, p.Add(original, read, 1))
	require.NoError(t, unix.Close(original))
	put(t, b)
	if runtime.GOOS == "linux" {
		require.Equal(t, tags{1: read}, ready(t, p))
		require.ErrorIs(t, p.Remove(original, read), unix.EBADF)
	}
	require.NoError(t, p.Reset())
	require.Empty(t, ready(t, p))
	require.NoError(t, p.Add(a, read, 2))
	require.Equal(t, tags{2: read}, ready(t, p))
	take(t, a)
	go p.Wake()
	wait(t, p, forever)
}

// Wake-ups that race with Close write to no descriptor that has got a number of the poller's since.
func TestWakeNeverReachesAnother(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 4
	}
	for range rounds {
		p := open(t)
		var wakers sync.WaitGroup
		var begun atomic.Int32
		for range 2 {
			wakers.Go(func() {
				for p.Wake() == nil {
					begun.Add(1)
					runtime.Gosched()
				}
			})
		}
		for begun.Load() < 2 {
			runtime.Gosched()
		}
		require.NoError(t, p.Close())
		var mine [4][2]int // these get the numbers that have become free
		for i := range mine {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			require.NoError(t, err)
			mine[i] = fds
		}
		wakers.Wait()
		for _, fds := range mine {
			for _, fd := range fds {
				_, _, err := unix.Recvfrom(fd, make([]byte, 8), unix.MSG_DONTWAIT)
				require.ErrorIs(t, err, unix.EAGAIN, "somebody wrote to a socket that is not theirs")
			}
			_ = unix.Close(fds[0])
			_ = unix.Close(fds[1])
		}
	}
}

// descriptors returns the numbers below a bound that are open.
func descriptors() map[int]bool {
	time.AfterFunc(time.Hour, func() {}).Stop() // the runtime opens two of its own for the first timer
	open := map[int]bool{}
	for fd := range 256 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			open[fd] = true
		}
	}
	return open
}

func TestDescriptorsAreReleased(t *testing.T) {
	a, _ := pair(t)
	before := descriptors()
	for range 100 {
		p, err := poller.New()
		require.NoError(t, err)
		require.NoError(t, p.Add(a, read, 1))
		require.NoError(t, p.Reset())
		require.NoError(t, p.Close())
	}
	require.Equal(t, before, descriptors(), "the poller's are closed, the user's are not")
}

func TestDescriptorsAreNotInherited(t *testing.T) {
	before := descriptors()
	p := open(t)
	for range 2 {
		for fd := range descriptors() {
			if !before[fd] {
				flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
				require.NoError(t, err)
				require.NotZero(t, flags&unix.FD_CLOEXEC, "descriptor %d would be open in child processes", fd)
			}
		}
		require.NoError(t, p.Reset())
	}
}

// With a limit on descriptors that leaves none, one, two, ..., New and Reset fail with the system's error and leave nothing.
func TestOutOfDescriptors(t *testing.T) {
	p := open(t)
	before := len(descriptors())
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)) }()
	limit := func(n int) {
		l := old
		set(&l.Cur, n)
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &l))
	}
	var failed, failedReset int
	for n := 0; ; n++ {
		limit(n)
		fresh, err := poller.New()
		if err == nil {
			require.NoError(t, fresh.Close())
		}
		errReset := p.Reset()
		limit(256)
		if errReset != nil {
			require.ErrorIs(t, errReset, unix.EMFILE, "limit %d", n)
			failedReset++
		}
		go p.Wake()
		wait(t, p, forever) // a Reset that failed has changed nothing
		require.Len(t, descriptors(), before, "limit %d", n)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, unix.EMFILE, "limit %d", n)
		failed++
	}
	require.Greater(t, failed, failedReset, "New has failed at its second descriptor too")
	require.Positive(t, failedReset)
}

// set is for a field whose type depends on the system.
func set[T int64 | uint64](field *T, n int) { *field = T(n) }
