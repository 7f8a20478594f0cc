package threadlet_test

// Tests of Mutex, Cond and Chan.

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// One threadlet holds the lock at a time, also over waits, and waiters get it in their order. A waiter that is signaled does
// not take the lock from the next one.
func TestMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t)
		var m threadlet.Mutex
		var order []int
		holders, signaled := 0, 0
		var threads []*threadlet.Threadlet
		begin := func(i int) {
			th, err := threadlet.Go(l, func() {
				if err := m.Lock(); err != nil {
					if signaled++; err != threadlet.ErrSignaled {
						t.Error(err)
					}
					return
				}
				defer m.Unlock()
				if holders++; holders != 1 {
					t.Errorf("%d hold the lock", holders)
				}
				order = append(order, i)
				if i == 0 { // the others queue up
					_ = threadlet.Sleep(time.Second)
					for n, th := range threads {
						if n%3 == 1 {
							th.Signal()
						}
					}
				}
				_ = threadlet.Yield()
				holders--
			})
			if err != nil {
				t.Error(err)
			}
			threads = append(threads, th)
		}
		require.NoError(t, do(t, l, func() {
			for i := range 20 {
				begin(i)
			}
		}))
		for _, th := range threads {
			require.NoError(t, th.Join(background))
		}
		require.Equal(t, []int{0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18}, order)
		require.Equal(t, 7, signaled)
		require.NoError(t, do(t, l, func() {
			if !m.TryLock() || m.TryLock() {
				t.Error("TryLock does not go by whether the lock is free")
			}
			m.Unlock()
			func() {
				defer func() {
					if recover() == nil {
						t.Error("Unlock of a free lock")
					}
				}()
				m.Unlock()
			}()
		}))
		require.ErrorIs(t, m.Lock(), threadlet.ErrNotThreadlet)
		require.False(t, m.TryLock())
		require.Panics(t, m.Unlock)
		require.NoError(t, do(t, start(t), func() {
			if err := m.Lock(); err != threadlet.ErrNotThreadlet {
				t.Errorf("Lock on another loop: %v", err)
			}
		}))
	})
}

func TestCond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t)
		var m threadlet.Mutex
		c := threadlet.NewCond(&m)
		var log []int
		full := 0
		waiter := func(i int) *threadlet.Threadlet {
			th, err := threadlet.Go(l, func() {
				if err := m.Lock(); err != nil {
					t.Error(err)
				}
				defer m.Unlock()
				for full == 0 {
					if err := c.Wait(); err != nil {
						log = append(log, -i)
						if m.TryLock() {
							t.Error("Wait has returned without the lock")
						}
						return
					}
				}
				full--
				log = append(log, i)
			})
			require.NoError(t, err)
			return th
		}
		one, two, three := waiter(1), waiter(2), waiter(3)
		synctest.Wait()
		two.Signal()
		synctest.Wait()
		fill := func(n int, tell func()) {
			require.NoError(t, do(t, l, func() {
				_ = m.Lock()
				full += n
				tell()
				_ = threadlet.Yield() // the waiter that tell has woken waits for the lock
				m.Unlock()
			}))
			synctest.Wait()
		}
		fill(1, c.Broadcast)
		require.Equal(t, []int{-2, 1}, log)
		c.Signal() // from elsewhere
		fill(1, c.Signal)
		require.Equal(t, []int{-2, 1, 3}, log)
		for _, th := range []*threadlet.Threadlet{one, two, three} {
			require.NoError(t, th.Join(background))
		}
		require.ErrorIs(t, c.Wait(), threadlet.ErrNotThreadlet)
		require.NoError(t, do(t, l, func() {
			if err := c.Wait(); err != threadlet.ErrNotThreadlet {
				t.Errorf("Wait without the lock: %v", err)
			}
		}))
	})
}

// A channel of threadlets and its model do the same under the same random operations: values come in the order of their
// senders, and waiters are served in theirs. Signals take waiters out.
func TestChanModel(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			room := rng.IntN(4)
			l := start(t)
			c := threadlet.NewChan[int](l, room)
			// The model: the values in the channel, those of waiting senders, and the waiting receivers.
			type wait struct {
				th       *threadlet.Threadlet
				n        int
				received *int
				err      *error
			}
			var buffer []int
			var senders, receivers []wait
			closed := false
			for step := range 60 {
				expect := errors.New("still waits")
				var w wait
				w.received, w.err = new(int), &expect
				result := func() error { return *w.err }
				act := rng.IntN(10)
				switch {
				case act < 4:
					n := step
					w.n = n
					var err error
					w.th, err = threadlet.Go(l, func() { *w.err = c.Send(n) })
					require.NoError(t, err)
					synctest.Wait()
					switch {
					case closed:
						require.ErrorIs(t, result(), io.ErrClosedPipe)
					case len(receivers) > 0:
						require.NoError(t, result())
						require.NoError(t, *receivers[0].err)
						require.Equal(t, n, *receivers[0].received)
						receivers = receivers[1:]
					case len(buffer) < room:
						require.NoError(t, result())
						buffer = append(buffer, n)
					default:
						require.ErrorContains(t, result(), "still waits")
						senders = append(senders, w)
					}
				case act < 8:
					var err error
					w.th, err = threadlet.Go(l, func() { *w.received, *w.err = c.Receive() })
					require.NoError(t, err)
					synctest.Wait()
					all := append([]int{}, buffer...)
					for _, s := range senders {
						all = append(all, s.n)
					}
					switch {
					case len(all) > 0:
						require.NoError(t, result())
						require.Equal(t, all[0], *w.received)
						if len(senders) > 0 {
							require.NoError(t, *senders[0].err)
							senders = senders[1:]
						}
						buffer = all[1:][:min(room, len(all)-1)]
					case closed:
						require.ErrorIs(t, result(), io.EOF)
					default:
						require.ErrorContains(t, result(), "still waits")
						receivers = append(receivers, w)
					}
				case act < 9 && len(senders)+len(receivers) > 0:
					list := &senders
					if len(senders) == 0 {
						list = &receivers
					}
					i := rng.IntN(len(*list))
					gone := (*list)[i]
					gone.th.Signal()
					synctest.Wait()
					require.ErrorIs(t, *gone.err, threadlet.ErrSignaled)
					*list = append((*list)[:i:i], (*list)[i+1:]...)
				case act == 9 && step > 40:
					require.NoError(t, do(t, l, func() { _ = c.Close() }))
					synctest.Wait()
					closed = true
					for _, w := range senders {
						require.ErrorIs(t, *w.err, io.ErrClosedPipe)
					}
					for _, w := range receivers {
						require.ErrorIs(t, *w.err, io.EOF)
					}
					senders, receivers = nil, nil
				}
				require.NoError(t, do(t, l, func() {
					if c.Len() != len(buffer) {
						t.Errorf("%d in the buffer, want %d", c.Len(), len(buffer))
					}
				}))
			}
		})
	}
}

// Callbacks may try; other callers outside of threadlets are refused.
func TestChanOfCallbacks(t *testing.T) {
	l := start(t)
	c := threadlet.NewChan[int](l, 1)
	require.False(t, c.TrySend(1))
	_, ok := c.TryReceive()
	require.False(t, ok)
	require.ErrorIs(t, c.Send(1), threadlet.ErrNotThreadlet)
	require.ErrorIs(t, c.Close(), threadlet.ErrNotThreadlet)
	done := make(chan struct{})
	require.NoError(t, l.Submit(func() {
		defer close(done)
		_, ok := c.TryReceive()
		require.False(t, ok)
		require.True(t, c.TrySend(1))
		require.False(t, c.TrySend(2))
		n, ok := c.TryReceive()
		require.True(t, ok)
		require.Equal(t, 1, n)
	}))
	<-done
	require.Panics(t, func() { threadlet.NewChan[int](l, -1) })
	var other *eventloop.Loop = start(t)
	require.NoError(t, do(t, other, func() {
		if err := c.Send(1); err != threadlet.ErrNotThreadlet {
			t.Errorf("Send on another loop: %v", err)
		}
	}))
}
