package threadlet_test

// Direct switches: a threadlet that waits resumes the ready ones in the loop's place. That must not show.

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// pairs are threadlets that hand over to one another for ever.
var pairs = map[string]func(l *eventloop.Loop) [2]func() error{
	"Yield": func(*eventloop.Loop) [2]func() error { return [2]func() error{threadlet.Yield, threadlet.Yield} },
	"Chan": func(l *eventloop.Loop) [2]func() error {
		c := threadlet.NewChan[int](l, 0)
		return [2]func() error{func() error { return c.Send(1) }, func() error { _, err := c.Receive(); return err }}
	},
	"Mutex": func(*eventloop.Loop) [2]func() error {
		var m threadlet.Mutex
		turn := func() error {
			if err := m.Lock(); err != nil {
				return err
			}
			defer m.Unlock()
			return threadlet.Yield()
		}
		return [2]func() error{turn, turn}
	},
}

// How many threadlets may run before a due timer, an external task, and work that goes before threadlets: that does not
// depend on how many are ready.
func TestSwitchesAreCounted(t *testing.T) {
	l := start(t)
	switches, over := 0, false
	for range 50 {
		_, err := threadlet.Go(l, func() {
			for !over {
				switches++
				_ = threadlet.Yield()
			}
		})
		require.NoError(t, err)
	}
	most := map[string]int{"microtask": 1, "internal": 1, "task": 2000}
	require.NoError(t, do(t, l, func() {
		for range 20 {
			for what, submit := range map[string]func(func()) error{
				"microtask": l.ScheduleMicrotask, "internal": l.SubmitInternal, "task": l.Submit,
			} {
				before := switches
				if err := submit(func() {
					if n := switches - before; n > most[what] {
						t.Errorf("%d threadlets have run before a %s, at most %d should", n, what, most[what])
					}
					before = -1
				}); err != nil {
					t.Error(err)
				}
				for before >= 0 {
					_ = threadlet.Yield()
				}
			}
		}
		over = true
	}))
}

// A panic in a threadlet that another has resumed ends that one alone, and is reported before others go on. Order and
// ownership stay as they are.
func TestFaultOfTheDriven(t *testing.T) {
	for _, how := range []string{"panic", "Goexit"} {
		t.Run(how, func(t *testing.T) {
			var log []string
			l := start(t, eventloop.WithPanicHandler(func(*eventloop.PanicError) { log = append(log, "told") }))
			require.NoError(t, do(t, l, func() {
				for _, name := range []string{"a", "b", "c"} {
					_, _ = threadlet.Go(l, func() {
						self := threadlet.Current()
						for turn := range 3 {
							if threadlet.Current() != self || !l.OnLoop() {
								t.Errorf("%s%d is resumed as another", name, turn)
							}
							log = append(log, name+string(rune('0'+turn)))
							if name == "b" && turn == 1 {
								culprit(how)
							}
							_ = threadlet.Yield()
						}
					})
				}
				for range 5 {
					_ = threadlet.Yield()
				}
				if !l.OnLoop() {
					t.Error("not on the loop")
				}
			}))
			onLoop := make(chan bool)
			require.NoError(t, l.Submit(func() { onLoop <- l.OnLoop() && threadlet.Current() == nil }))
			require.True(t, <-onLoop)
			require.Equal(t, "a0 b0 c0 a1 b1 told c1 a2 c2", strings.Join(log, " "))
		})
	}
}

// The end comes while a threadlet is resumed by another. One that was woken before gets what has woken it. One that has not
// begun begins only if the loop runs what it has accepted.
func TestEndWithinASwitch(t *testing.T) {
	for _, how := range []string{"Close", "Shutdown"} {
		t.Run(how, func(t *testing.T) {
			l := start(t)
			ch := threadlet.NewChan[int](l, 0)
			var got []int
			var last error
			began := false
			require.NoError(t, do(t, l, func() { // leaves a coroutine for threadlets that begin
				_, _ = threadlet.Go(l, func() { _ = threadlet.Yield() })
				_ = threadlet.Yield()
				_ = threadlet.Yield()
			}))
			require.NoError(t, l.Submit(func() {
				_, _ = threadlet.Go(l, func() {
					for last == nil {
						var v int
						if v, last = ch.Receive(); last == nil {
							got = append(got, v)
						}
					}
				})
				_, _ = threadlet.Go(l, func() {
					_, _ = threadlet.Go(l, func() { began = true })
					if how == "Close" {
						_ = l.Close()
					} else {
						_ = l.Shutdown(background)
					}
					if err := ch.Send(1); err != nil {
						t.Errorf("who waits was not told: %v", err)
					}
					if err := threadlet.Yield(); how == "Close" && !errors.Is(err, eventloop.ErrLoopTerminated) {
						t.Errorf("Yield: %v", err)
					}
				})
			}))
			<-l.Done()
			require.Equal(t, []int{1}, got)
			require.ErrorIs(t, last, eventloop.ErrLoopTerminated)
			require.Equal(t, how == "Shutdown", began)
		})
	}
}

// play is a loop on which threadlets do what chance says, and what the test knows of it.
type play struct {
	t    *testing.T
	l    *eventloop.Loop
	rng  *rand.Rand
	ch   [3]*threadlet.Chan[int]
	lock threadlet.Mutex
	all  []*threadlet.Threadlet

	inside         *threadlet.Threadlet // that runs
	first          int                  // microtasks and internal tasks that go before the next threadlet
	excused        bool                 // the threadlet that queued them has not waited
	begun, ended   int
	faults, told   int
	sent, received int // through the channels
}

// waits does op, which may wait.
func (p *play) waits(op func() error) error {
	self := threadlet.Current()
	p.inside = nil
	err := op()
	if errors.Is(err, threadlet.ErrSignaled) {
		p.excused = p.first > 0
	}
	switch {
	case p.inside != nil:
		p.t.Error("two threadlets run at once")
	case threadlet.Current() != self, !p.l.OnLoop():
		p.t.Error("somebody else was resumed")
	case p.first > 0 && !p.excused && !errors.Is(err, eventloop.ErrLoopTerminated):
		p.t.Errorf("resumed before %d that go first, %v", p.first, err)
	}
	p.inside = self
	return err
}

// goesFirst queues work that runs before the next threadlet is resumed.
func (p *play) goesFirst() {
	queue := p.l.ScheduleMicrotask
	if p.rng.IntN(2) == 0 {
		queue = p.l.SubmitInternal
	}
	if queue(func() {
		if p.first--; p.first == 0 {
			p.excused = false
		}
	}) == nil {
		p.first++
	}
}

func (p *play) body() {
	p.begun++
	switch {
	case p.inside != nil:
		p.t.Error("begun while another runs")
	case p.first > 0 && !p.excused:
		p.t.Errorf("begun before %d that go first", p.first)
	}
	p.inside = threadlet.Current()
	defer func() { p.inside = nil; p.ended++ }()
	for range p.rng.IntN(30) {
		if err := p.act(); errors.Is(err, eventloop.ErrLoopTerminated) {
			return
		}
	}
}

func (p *play) act() (err error) {
	ch := p.ch[p.rng.IntN(len(p.ch))]
	switch n := p.rng.IntN(300); {
	case n < 80:
		if n < 40 {
			p.goesFirst()
		}
		err = p.waits(threadlet.Yield)
	case n < 140:
		if err = p.waits(func() error { return ch.Send(1) }); err == nil {
			p.sent++
		}
	case n < 200:
		if err = p.waits(func() error { _, err := ch.Receive(); return err }); err == nil {
			p.received++
		}
	case n < 220:
		err = p.waits(func() error { return threadlet.Sleep(time.Duration(p.rng.IntN(5)) * time.Second) })
	case n < 240:
		if err = p.waits(p.lock.Lock); err == nil {
			err = p.waits(threadlet.Yield)
			p.lock.Unlock()
		}
	case n < 250:
		err = p.waits(func() error { return p.all[p.rng.IntN(len(p.all))].Join(background) })
		if !errors.Is(err, eventloop.ErrLoopTerminated) {
			err = nil // it may be one's own, or have failed
		}
	case n < 270 && len(p.all) < 60:
		if th, err := threadlet.Go(p.l, p.body); err == nil {
			p.all = append(p.all, th)
		}
	case n < 280:
		p.all[p.rng.IntN(len(p.all))].Signal()
	case n < 290:
		if infos := threadlet.Threadlets(p.l); len(infos) == 0 {
			p.t.Error("nobody is there")
		}
	case n == 290:
		_ = p.l.Close()
	case n == 291:
		_ = p.l.Shutdown(background)
	case n < 295:
		p.faults++
		panic("by chance")
	case n < 298:
		p.faults++
		runtime.Goexit()
	}
	return err
}

// Whatever the threadlets do: one runs at a time, behind the work that goes first; a value that is sent arrives once; a
// panic is reported once; and all end once, by themselves, by a deadlock, or when one of them ends the loop.
func TestPlays(t *testing.T) {
	for seed := range scale(300, 1000, 20_000) {
		synctest.Test(t, func(t *testing.T) {
			p := &play{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 7))}
			var err error
			p.l, err = eventloop.New(eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))),
				eventloop.WithPanicHandler(func(*eventloop.PanicError) { p.told++ }))
			require.NoError(t, err)
			for i := range p.ch {
				p.ch[i] = threadlet.NewChan[int](p.l, i)
			}
			for range 2 + p.rng.IntN(20) {
				th, err := threadlet.Go(p.l, p.body)
				require.NoError(t, err)
				p.all = append(p.all, th)
			}
			ctx, cancel := context.WithTimeout(background, time.Hour)
			defer cancel()
			_ = p.l.Run(ctx)
			<-p.l.Done()
			require.Equal(t, p.begun, p.ended, "begun and ended")
			require.Equal(t, p.faults, p.told, "faults and reports")
			require.True(t, p.received <= p.sent && p.sent <= p.received+0+1+2, "%d sent, %d received, and there is room for three", p.sent, p.received)
			require.Empty(t, threadlet.Threadlets(p.l))
			for _, th := range p.all {
				_ = th.Join(background)
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
}
