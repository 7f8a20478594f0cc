package eventloop_test

// What bounds a tick in time, in what is the loop's own: the kit's checks are for everybody.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/poller"
)

// However long the tasks of a turn are, and whatever came before them, the rest waits after about two milliseconds: a timer
// that the first of them has set then has its turn.
func TestSlowTasks(t *testing.T) {
	slowTasks(t, func(t *testing.T) (*eventloop.Loop, func(fn func()) error, <-chan error) {
		l, ended := running(t, nil)
		return l, l.Submit, ended
	})
}

// That holds for the tasks of a group, too.
func TestSlowTasksOfAGroup(t *testing.T) {
	slowTasks(t, func(t *testing.T) (*eventloop.Loop, func(fn func()) error, <-chan error) {
		g := newGroup(t, 2)
		require.NoError(t, g.Loop(1).Submit(func() { time.Sleep(25 * time.Second) })) // so it takes no tasks away
		ended := runs(g, context.Background())
		require.NoError(t, onLoop(t, g.Loop(0), func() error { return nil }))
		return g.Loop(0), g.Submit, ended
	})
}

func slowTasks(t *testing.T, begin func(*testing.T) (l *eventloop.Loop, submit func(fn func()) error, ended <-chan error)) {
	const ms = time.Millisecond
	for _, c := range []struct {
		each        time.Duration
		quick       int // tasks before them, which take no time
		least, most int // tasks when the timer fires
	}{
		{100 * time.Microsecond, 0, 20, 30},
		{ms, 300, 1, 70},
		{10 * ms, 4, 1, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, submit, ended := begin(t)
			synctest.Wait() // the loop sleeps, and counts anew
			ran, at := 0, -1
			require.NoError(t, onLoop(t, l, func() error {
				for range c.quick {
					require.NoError(t, submit(func() {}))
				}
				for i := range 1000 - c.quick {
					require.NoError(t, submit(func() {
						if i == 0 {
							_, err := l.ScheduleTimer(0, func() { at = ran })
							require.NoError(t, err)
						}
						ran++
						time.Sleep(c.each)
					}))
				}
				return nil
			}))
			synctest.Wait()
			time.Sleep(30 * time.Second)
			shutDown(t, l)
			require.NoError(t, <-ended)
			require.Equal(t, 1000-c.quick, ran)
			require.GreaterOrEqual(t, at, c.least, "%+v", c)
			require.LessOrEqual(t, at, c.most, "%+v", c)
		})
	}
}

// Quick callbacks vouch for few slow ones after them, whatever their kind: everything else waits for no more than those.
func TestSlowBehindQuick(t *testing.T) {
	type post func(l *eventloop.Loop, fn func()) error
	timer := func(l *eventloop.Loop, fn func()) error {
		_, err := l.ScheduleTimer(0, fn)
		return err
	}
	fds := 0
	descriptor := func(l *eventloop.Loop, fn func()) error {
		fds++
		return l.RegisterFD(fds, eventloop.EventRead, func(eventloop.IOEvents) { fn() })
	}
	for name, c := range map[string]struct{ post, other post }{
		"internal tasks": {(*eventloop.Loop).SubmitInternal, timer},
		"timers":         {timer, (*eventloop.Loop).Submit},
		"descriptors":    {descriptor, timer},
	} {
		for quick := range 9 {
			synctest.Test(t, func(t *testing.T) {
				l, ended := running(t, nil, eventloop.WithPoller(func() (eventloop.SystemPoller, error) { return &onceReady{}, nil }))
				ran, at := 0, -1
				require.NoError(t, onLoop(t, l, func() error {
					for range quick {
						require.NoError(t, c.post(l, func() {}))
					}
					for range 30 {
						require.NoError(t, c.post(l, func() {
							if ran++; ran == 1 {
								require.NoError(t, c.other(l, func() { at = ran }))
							}
							time.Sleep(10 * time.Millisecond)
						}))
					}
					return nil
				}))
				time.Sleep(time.Second)
				shutDown(t, l)
				require.NoError(t, <-ended)
				require.Equal(t, 30, ran)
				require.Positive(t, at, "%s behind %d quick ones", name, quick)
				require.LessOrEqual(t, at, 7, "%s behind %d quick ones", name, quick)
			})
		}
	}
}

// An internal task that submits itself for ever keeps external tasks waiting, and no threadlet.
func TestThreadletsBesideInternalTasks(t *testing.T) {
	const yields, most = 2000, 4_000_000
	l, ended := running(t, nil)
	ran, yielded := 0, 0
	over := make(chan struct{})
	require.NoError(t, onLoop(t, l, func() error {
		var again func()
		again = func() {
			if ran++; yielded < yields && ran < most {
				require.NoError(t, l.SubmitInternal(again))
			}
		}
		again()
		require.NoError(t, l.Submit(func() {
			require.True(t, yielded == yields || ran == most, "an external task runs before the internal ones")
			close(over)
		}))
		_, err := threadlet.Go(l, func() {
			for ; yielded < yields; yielded++ {
				require.NoError(t, threadlet.Yield())
			}
		})
		return err
	}))
	_ = beat.Receive(t, over, "the end of the internal tasks")
	require.Less(t, ran, most, "internal tasks while a threadlet yields %d times", yields)
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// onceReady is a poller that reports each of its descriptors once. No goroutine adds one while the loop runs.
type onceReady struct {
	eventloop.SystemPoller
	ready []poller.Event
}

func (p *onceReady) Add(fd int, events eventloop.IOEvents, tag uint32) error {
	p.ready = append(p.ready, poller.Event{FD: fd, Tag: tag, Events: events})
	return nil
}

func (p *onceReady) Wait(time.Duration) (all []poller.Event, err error) {
	all, p.ready = p.ready, nil
	return all, nil
}

func (p *onceReady) Watch(notify func(error)) (stop func(), err error) {
	go notify(nil)
	return func() {}, nil
}

func (p *onceReady) Close() error { return nil }
