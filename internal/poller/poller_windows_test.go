package poller_test

// Tests of the poller on Windows.

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

var (
	kernel      = windows.NewLazySystemDLL("kernel32.dll")
	winsock     = windows.NewLazySystemDLL("ws2_32.dll")
	accept      = winsock.NewProc("accept")
	ioctlsocket = winsock.NewProc("ioctlsocket")
	setsockopt  = winsock.NewProc("setsockopt")
)

// A Wait that has begun returns a socket that is added, changed, or becomes ready, meanwhile.
func TestReadinessWhileWaiting(t *testing.T) {
	for name, act := range map[string]func(p *poller.Poller, a, b int){
		"added":    func(p *poller.Poller, a, b int) { _, _ = p.Add(a, read, 1), send(b) },
		"ready":    func(_ *poller.Poller, _, b int) { _ = send(b) },
		"modified": func(p *poller.Poller, a, b int) { _, _ = send(b), p.Modify(a, 0, read, 1) },
	} {
		p := open(t)
		a, b := pair(t)
		switch name {
		case "ready":
			require.NoError(t, p.Add(a, read, 1))
		case "modified":
			require.NoError(t, p.Add(a, 0, 2))
		}
		go func() {
			time.Sleep(time.Millisecond) // either order is right; this one is the harder
			act(p, a, b)
		}()
		events, err := p.Wait(forever)
		require.NoError(t, err)
		require.Equal(t, []poller.Event{{FD: a, Tag: 1, Events: read}}, events, name)
	}
}

func TestAcceptAndConnect(t *testing.T) {
	p := open(t)
	listener, address := listen(t)
	require.NoError(t, p.Add(int(listener), read, 1))
	require.Empty(t, ready(t, p))
	s := socket(t)
	defer windows.Closesocket(s)
	unblock(t, s)
	require.NoError(t, p.Add(int(s), write, 2))
	require.NotContains(t, ready(t, p), uint32(2), "a socket without a connection cannot be written to")
	require.ErrorIs(t, windows.Connect(s, address), windows.WSAEWOULDBLOCK)
	becomes(t, p, tags{1: read, 2: write}, "the connection")

	require.NoError(t, p.Remove(int(listener), read))
	require.NoError(t, p.Remove(int(s), write))
	require.NoError(t, windows.Closesocket(listener))
	refused := socket(t)
	defer windows.Closesocket(refused)
	unblock(t, refused)
	require.NoError(t, p.Add(int(refused), write, 3))
	require.ErrorIs(t, windows.Connect(refused, address), windows.WSAEWOULDBLOCK)
	becomes(t, p, tags{3: write | failed | hangup}, "the refusal")
}

func TestHangup(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	require.NoError(t, windows.Shutdown(windows.Handle(b), windows.SHUT_WR))
	becomes(t, p, tags{1: read}, "the end of what comes")
	require.NoError(t, p.Modify(a, read, write, 1))
	becomes(t, p, tags{1: write}, "the other direction is open")
	require.NoError(t, p.Remove(a, write))

	for _, wanted := range []loopapi.IOEvents{0, read, write, read | write} {
		a, b := pair(t)
		require.NoError(t, p.Add(a, wanted, 2))
		reset(t, b)
		becomes(t, p, tags{2: wanted | failed | hangup}, "a connection that was reset is reported, asked for or not")
		require.NoError(t, p.Remove(a, wanted))
	}
}

// Wait finds a ready socket behind a whole batch of removed ones: it would not be reported again.
func TestBatchOfRemoved(t *testing.T) {
	p := open(t)
	const n = poller.Batch + 1
	for i := range uint32(n) {
		a, b := pair(t)
		put(t, b)
		require.NoError(t, p.Add(a, read, i+1))
	}
	for _, fd := range p.Crowd(t, n) {
		require.NoError(t, p.Remove(fd, read))
	}
	require.Len(t, ready(t, p), 1)
}

// A poll that fails is an error of its socket, and of nothing else.
func TestPollThatFails(t *testing.T) {
	p := open(t)
	a, _ := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	p.FailPoll(t, a)
	require.Equal(t, tags{1: read | failed | hangup}, ready(t, p))
	require.Empty(t, ready(t, p), "the next one does not fail")
}

func TestBadDescriptors(t *testing.T) {
	p := open(t)
	a, _ := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	require.ErrorIs(t, p.Add(a, read, 2), os.ErrExist)
	file, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer file.Close()
	gone, _ := pair(t)
	shut(t, gone)
	for _, fd := range []int{-1, -1 << 31, 1 << 30, gone, int(file.Fd())} {
		require.ErrorIs(t, p.Add(fd, read, 2), windows.WSAENOTSOCK, "Add(%d)", fd)
		require.ErrorIs(t, p.Remove(fd, read), os.ErrNotExist, "Remove(%d)", fd)
	}
	other, _ := pair(t)
	require.ErrorIs(t, p.Remove(other, read), syscall.ENOENT)
	require.ErrorIs(t, p.Modify(other, read, write, 1), syscall.ENOENT)
	put(t, other)
	require.Empty(t, ready(t, p))
}

// The poller's own handles cannot be added.
func TestOwnHandlesAreRefused(t *testing.T) {
	p := open(t)
	for _, fd := range p.Handles() {
		require.ErrorIs(t, p.Add(fd, read, 1), syscall.EBADF)
		require.ErrorIs(t, p.Modify(fd, read, write, 1), syscall.EBADF)
		require.ErrorIs(t, p.Remove(fd, read), syscall.EBADF)
		var flags uint32
		ok, _, err := kernel.NewProc("GetHandleInformation").Call(uintptr(fd), uintptr(unsafe.Pointer(&flags)))
		require.NotZero(t, ok, err)
		require.Zero(t, flags&windows.HANDLE_FLAG_INHERIT, "a child process would have it")
	}
}

// A socket that is closed while it is watched is forgotten, whether or not the poller has seen that when the number is used
// again.
func TestClosedSockets(t *testing.T) {
	for name, between := range map[string]func(*poller.Poller){
		"at once":      func(*poller.Poller) {},
		"after a Wait": func(p *poller.Poller) { require.Empty(t, ready(t, p)) },
	} {
		p := open(t)
		a, _ := pair(t)
		require.NoError(t, p.Add(a, read, 1))
		shut(t, a)
		between(p)
		var c, d int
		for c != a {
			if c, d = pair(t); d == a {
				c, d = d, c
			}
		}
		if err := p.Add(c, read, 2); err != nil {
			require.ErrorIs(t, err, os.ErrExist, name)
			require.NoError(t, p.Modify(c, 0, read, 2))
		}
		require.Empty(t, ready(t, p), name)
		put(t, d)
		becomes(t, p, tags{2: read}, name)
	}
}

// The memory of cancelled polls stays until they have ended, and is used again after that.
func TestPollsEnd(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	for i := range uint32(200) {
		require.NoError(t, p.Add(a, read, i))
		require.NoError(t, p.Modify(a, read, read|write, i))
		require.NoError(t, p.Remove(a, read))
		if i%16 == 0 {
			runtime.GC()
			require.Empty(t, ready(t, p))
		}
	}
	beat.Eventually(t, func() bool { require.Empty(t, ready(t, p)); return p.Polls() == 0 }, "the end of all polls")
	require.Equal(t, 1, p.Slots(), "a socket is not polled again before its last poll is over")

	require.NoError(t, p.Add(a, read, 1))
	put(t, b)
	require.NoError(t, p.Reset())
	require.Empty(t, ready(t, p))
	require.NoError(t, p.Add(a, read, 2))
	becomes(t, p, tags{2: read}, "it was added again after Reset")
	c, _ := pair(t)
	require.NoError(t, p.Add(c, read, 3))
	require.NoError(t, p.Close())
	require.Zero(t, p.Polls(), "Close has waited for the last poll")
	put(t, b)
	put(t, a)
}

// Many goroutines register, change and remove while the owner waits, with a watch and without, and closes.
func TestRegistrationsUnderFire(t *testing.T) {
	for round := range 20 {
		p := open(t)
		stop := func() {}
		if round%2 == 1 {
			_, stop = watch(t, p)
		}
		var others sync.WaitGroup
		for range 3 {
			a, b := pair(t)
			others.Go(func() {
				for i := uint32(0); ; i++ {
					_ = send(b)
					if err := p.Add(a, read, i); err != nil {
						return
					}
					_ = p.Modify(a, read, read|write, i)
					_ = p.Wake()
					_ = receive(a)
					_ = p.Remove(a, read)
				}
			})
		}
		for range 200 {
			timeout := time.Duration(0)
			if round%2 == 0 {
				timeout = forever
			}
			events, err := p.Wait(timeout)
			require.NoError(t, err)
			for _, e := range events {
				require.Zero(t, e.Events&^(read|write))
			}
		}
		stop()
		require.NoError(t, p.Close())
		others.Wait()
		require.Zero(t, p.Polls())
	}
}

func TestHandlesAreReleased(t *testing.T) {
	a, _ := pair(t)
	count := func() (n uint32) {
		ok, _, err := kernel.NewProc("GetProcessHandleCount").Call(uintptr(windows.CurrentProcess()),
			uintptr(unsafe.Pointer(&n)))
		require.NotZero(t, ok, err)
		return n
	}
	before := count()
	const n = 100
	for range n {
		p, err := poller.New()
		require.NoError(t, err)
		require.NoError(t, p.Add(a, read, 1))
		require.NoError(t, p.Reset())
		require.NoError(t, p.Close())
	}
	require.Less(t, count(), before+n/2, "the runtime's threads may have got some")
}
