package eventloop_test

// What bounds a tick in time, in what is the loop's own: the kit's checks are for everybody.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/poller"
)

// However long the tasks of a turn are, and whatever came before them, the rest waits after about ten milliseconds: a timer
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
		return g.Loop(0), func(fn func()) error { return g.PutInto(0, fn) }, ended
	})
}

func slowTasks(t *testing.T, begin func(*testing.T) (l *eventloop.Loop, submit func(fn func()) error, ended <-chan error)) {
	const ms = time.Millisecond
	for _, c := range []struct {
		each        time.Duration
		quick       int // tasks before them, which take no time
		least, most int // tasks when the timer fires
	}{
		{100 * time.Microsecond, 0, 100, 150},
		{100 * time.Microsecond, 700, 60, 200},
		{ms, 0, 10, 16},
		{ms, 300, 10, 70},
		{20 * ms, 0, 1, 5},
		{10 * ms, 4, 1, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, submit, ended := begin(t)
			time.Sleep(ms) // the loop takes a time of 0 for none
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
				time.Sleep(time.Millisecond) // the loop takes a time of 0 for none
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

// Kinds that have no end share the time of one: a timer beside two of them waits about as long as beside one, and at most half
// as long again.
func TestKindsShareATick(t *testing.T) {
	const ms = time.Millisecond
	for name, post := range map[string]func(*eventloop.Loop, func()) error{
		"tasks": (*eventloop.Loop).Submit, "internal tasks": (*eventloop.Loop).SubmitInternal,
	} {
		synctest.Test(t, func(t *testing.T) {
			l, ended := running(t, nil)
			time.Sleep(ms) // the loop takes a time of 0 for none
			stop := false
			flood := func(post func(fn func()) error) {
				for range 200 {
					var again func()
					again = func() {
						if time.Sleep(ms / 10); !stop {
							require.NoError(t, post(again))
						}
					}
					require.NoError(t, post(again))
				}
			}
			var worst [2]time.Duration // at first, and later
			var due time.Time
			n := 0
			var measure func()
			measure = func() {
				if n++; n > 1 {
					at := &worst[min(n/20, 1)]
					*at = max(*at, time.Since(due))
				}
				if stop = n == 200; !stop {
					due = time.Now().Add(ms)
					_, err := l.ScheduleTimerAs(eventloop.TimerCritical, ms, measure)
					require.NoError(t, err)
				}
			}
			require.NoError(t, onLoop(t, l, func() error {
				measure()
				flood(func(fn func()) error { _, err := l.ScheduleTimer(0, fn); return err })
				flood(func(fn func()) error { return post(l, fn) })
				return nil
			}))
			time.Sleep(time.Minute)
			shutDown(t, l)
			require.NoError(t, <-ended)
			require.Equal(t, 200, n)
			require.Less(t, worst[0], 20*ms, name)
			require.Less(t, worst[1], 17*ms, name)
			require.Greater(t, worst[1], 5*ms, name)
		})
	}
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
