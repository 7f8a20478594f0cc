package threadlet_test

// Threadlets as the runtime sees them: goroutines that take turns on the loop's thread.

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// startLocked is start with a goroutine that stays locked to its thread.
func startLocked(t *testing.T) *eventloop.Loop {
	t.Helper()
	l, err := eventloop.New(eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
	require.NoError(t, err)
	go func() {
		runtime.LockOSThread()
		_ = l.Run(background)
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-l.Done()
	})
	return l
}

// On a loop whose goroutine is locked to its thread, and on any other, threadlets and callbacks lock themselves between waits:
// threadlets wait, resume one another, fail and end as ever. The runtime ends a program in which a threadlet waits while it is
// locked, or a callback leaves the loop's goroutine locked once there are threadlets, which processes of their own show. Before
// the first threadlet a callback may.
func TestLockedToAThread(t *testing.T) {
	const child = "TURNLOOP_TEST_LOCKED"
	starts := map[string]func(*testing.T) *eventloop.Loop{
		"locked loop": startLocked,
		"loop":        func(t *testing.T) *eventloop.Loop { opt, _ := sink(); return start(t, opt) },
	}
	mistakes := map[string]func(l *eventloop.Loop){
		"threadlet": func(l *eventloop.Loop) {
			_, _ = threadlet.Go(l, func() {
				runtime.LockOSThread()
				_ = threadlet.Yield()
			})
		},
		"callback": func(l *eventloop.Loop) { _ = l.Submit(runtime.LockOSThread) },
	}
	if name, mistake, is := strings.Cut(os.Getenv(child), "/"); is {
		l := starts[name](t)
		require.NoError(t, do(t, l, func() {}))
		mistakes[mistake](l)
		t.Log(do(t, l, func() {}))
		return
	}
	for name, begin := range starts {
		t.Run(name, func(t *testing.T) {
			l := begin(t)
			require.NoError(t, l.Submit(runtime.LockOSThread)) // for good
			a, b := threadlet.NewChan[int](l, 0), threadlet.NewChan[int](l, 0)
			lock := func() {
				runtime.LockOSThread()
				runtime.UnlockOSThread()
			}
			for i := range 2 * threadlet.MostIdle { // more than one that is kept
				_, err := threadlet.Go(l, func() {
					lock()
					for range 3 {
						_, _ = a.Receive()
						lock()
						_ = b.Send(1)
					}
					if i%2 == 0 {
						panic("of the test")
					}
				})
				require.NoError(t, err)
			}
			require.NoError(t, do(t, l, func() {
				for range 3 * 2 * threadlet.MostIdle {
					require.NoError(t, l.Submit(lock))
					lock()
					_ = a.Send(1)
					_, _ = b.Receive()
				}
				lock()
				_ = threadlet.Sleep(time.Millisecond)
				_ = threadlet.Threadlets(l)
			}))
			left, err := threadlet.Go(l, func() { lock(); _ = threadlet.Sleep(time.Hour); lock() })
			require.NoError(t, err)
			require.NoError(t, l.Shutdown(background))
			require.NoError(t, left.Join(background))

			for mistake := range mistakes {
				cmd := exec.Command(os.Args[0], "-test.run=^TestLockedToAThread$", "-test.count=1")
				cmd.Env = append(os.Environ(), child+"="+name+"/"+mistake)
				out, err := cmd.CombinedOutput()
				require.Error(t, err, "a locked %s is no mistake: the documentation says otherwise", mistake)
				require.Contains(t, string(out), "OS thread locking")
			}
		})
	}
}

// The profile of all goroutines, which others and threadlets ask for while threadlets hand over to one another, has those
// that wait.
func TestProfileOfGoroutines(t *testing.T) {
	l := start(t)
	quit := threadlet.NewChan[int](l, 0)
	_, err := threadlet.Go(l, func() { receiveHere(quit) })
	require.NoError(t, err)
	var switches atomic.Int64
	for _, turn := range pairs["Chan"](l) {
		_, err := threadlet.Go(l, func() {
			for turn() == nil {
				switches.Add(1)
			}
		})
		require.NoError(t, err)
	}
	require.NoError(t, do(t, l, func() {})) // all before it have begun
	profile := func() {
		for _, detail := range []int{0, 1, 2} {
			var b bytes.Buffer
			if err := pprof.Lookup("goroutine").WriteTo(&b, detail); err != nil || detail > 0 && !strings.Contains(b.String(), "receiveHere") {
				t.Errorf("detail %d: %v\n%s", detail, err, &b)
			}
		}
	}
	for range scale(3, 30, 30) {
		before := switches.Load()
		profile()
		require.NoError(t, do(t, l, profile))
		require.Greater(t, switches.Load(), before)
	}
}

// Where identities are numbers, the main goroutine has 1. It is no coroutine, whatever was removed from the table.
func TestRemovedIsNobody(t *testing.T) {
	for id := range uintptr(3) {
		require.False(t, threadlet.FindsRemoved(1+id))
	}
}

// The table of coroutines gives its memory back after a burst, and keeps who is still there.
func TestTableAfterBursts(t *testing.T) {
	few, _ := threadlet.SlotsAfter(1)
	for _, n := range []int{40, 1000, 100_000} {
		slots, found := threadlet.SlotsAfter(n)
		require.LessOrEqual(t, slots, few, "after %d", n)
		require.True(t, found, "after %d", n)
	}
}

// A goroutine that begins where a threadlet has called runtime.Goexit may have the identity of its goroutine. It is not on the
// loop.
func TestIdentitiesOfTheEnded(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	opt, _ := sink()
	l := start(t, opt)
	var ended, taken atomic.Bool
	var strangers sync.WaitGroup
	for range 6 {
		strangers.Go(func() {
			for !ended.Load() {
				strangers.Go(func() {
					if l.OnLoop() {
						taken.Store(true)
					}
				})
				runtime.Gosched()
			}
		})
	}
	require.NoError(t, do(t, l, func() {
		for i := 0; i < scale(2000, 10_000, 1_000_000) && !taken.Load(); i++ {
			_, _ = threadlet.Go(l, runtime.Goexit)
			_ = threadlet.Yield()
		}
	}))
	ended.Store(true)
	strangers.Wait()
	require.False(t, taken.Load(), "a goroutine is taken for one that has ended")
}
