package quota_test

// Tests of an account, on a loop that ends in time of its own.

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/quota"
)

// end is a loop that ends, in time of its own. Its functions are of the queues of package quota, or external tasks.
type end struct {
	*testing.T
	quota.Account
	now      int64
	tasks    []func()
	queue    [quota.Ticks + 1][]func()
	reports  int // that wait
	accepted int // functions that callbacks have submitted
	refused  int
	last     int64 // when one was accepted
}

// ending returns a loop whose end begins, with what begin has queued.
func ending(t *testing.T, begin func(e *end)) *end {
	e := &end{T: t, now: 1}
	begin(e)
	e.Account = quota.Opened(quota.Functions, len(e.queue[quota.Internal]), len(e.queue[quota.Microtasks]), len(e.queue[quota.Ticks]), e.reports)
	return e
}

// waits queues a function that was accepted before the end.
func (e *end) waits(q quota.Queue, fn func()) { e.queue[q] = append(e.queue[q], fn) }

// submit is a callback's.
func (e *end) submit(q quota.Queue, fn func()) bool {
	if !e.Accepts() {
		e.refused++
		return false
	}
	e.Accept()
	e.accepted++
	e.last = e.now
	e.queue[q] = append(e.queue[q], fn)
	return true
}

// run runs what there is, in the order of a loop.
func (e *end) run() *end {
	for next := true; next; {
		next = false
		for _, q := range []quota.Queue{quota.Ticks, quota.Microtasks, quota.Internal} {
			if len(e.queue[q]) > 0 {
				fn := e.queue[q][0]
				e.queue[q] = e.queue[q][1:]
				e.Start(q, e.now)
				fn()
				next = true
				break
			}
		}
		if !next && len(e.tasks) > 0 {
			fn := e.tasks[0]
			e.tasks = e.tasks[1:]
			e.Start(quota.External, e.now)
			fn()
			next = true
		}
	}
	e.Pause(e.now)
	return e
}

// branching returns a function that takes so long, and submits itself so many times.
func (e *end) branching(q quota.Queue, takes int64, times int) (fn func()) {
	fn = func() {
		e.now += takes
		for range times {
			e.submit(q, fn)
		}
	}
	return fn
}

var queues = []quota.Queue{quota.Internal, quota.Microtasks, quota.Ticks}

// The end comes, however long functions take and however many each of them submits; and what has waited adds to that only the
// time that it takes itself.
func TestEndOfWhatNeverEnds(t *testing.T) {
	const second = 1_000_000_000
	for _, waiting := range []int{1, 20, 1000} {
		for _, takes := range []int64{0, 20 * us, 200 * us, ms, 20 * ms, second} {
			for i, times := range []int{1, 2, 3, 10} {
				q := queues[i%3]
				if takes != 0 || times == 2 && waiting == 20 {
					e := ending(t, func(e *end) {
						for i := range waiting {
							if fn := e.branching(q, takes, times); i%2 == 0 || waiting > 20 || takes > ms {
								e.tasks = append(e.tasks, fn)
							} else {
								e.waits(quota.Internal, fn)
							}
						}
					}).run()
					own := int64(waiting) * takes
					limit := int64(second)
					if takes > ms {
						limit = int64(4*times) * second // what one callback submits at once is accepted
					}
					require.LessOrEqual(t, e.now-own, limit, "%d tasks, of %d ns, that submit %d", waiting, takes, times)
					require.LessOrEqual(t, e.accepted, quota.Functions+quota.Each*waiting)
					require.Positive(t, e.refused)
					if takes == 0 {
						require.GreaterOrEqual(t, e.accepted, quota.Functions)
					} else if takes < second {
						require.Greater(t, e.now-own, int64(second/3))
					}
				}
			}
		}
	}
}

// What comes to an end is accepted, however deep it goes, and however many there are.
func TestEndOfWhatComesToAnEnd(t *testing.T) {
	for _, q := range queues {
		for _, shape := range []struct{ wide, deep int }{{1, 100_000}, {3000, 30}, {50_000, 2}, {2, 3}} {
			ran := 0
			e := ending(t, func(e *end) {
				var descend func(n int) func()
				descend = func(n int) func() {
					return func() {
						if ran++; n > 1 {
							e.submit(q, descend(n-1))
						}
					}
				}
				e.tasks = append(e.tasks, func() {
					for range shape.wide {
						e.submit(q, descend(shape.deep))
					}
				})
			}).run()
			require.Zero(t, e.refused)
			require.Equal(t, shape.wide*shape.deep, ran)
		}
	}
}

// What has waited takes any time, and what it brings runs.
func TestEndOfWhatIsSlowAndHasWaited(t *testing.T) {
	for _, q := range []quota.Queue{quota.Internal, quota.Microtasks, -1} {
		ran := 0
		e := ending(t, func(e *end) {
			for range 100 {
				fn := func() {
					e.now += 300 * ms
					for range 10 {
						e.submit(quota.Internal, func() { ran++; e.now += 400 * us })
					}
				}
				if q < 0 {
					e.tasks = append(e.tasks, fn)
				} else {
					e.waits(q, fn)
				}
			}
		}).run()
		require.Zero(t, e.refused)
		require.Equal(t, 1000, ran)
	}
}

// A machine that stands still for once, or now and then for a moment, takes nothing away from what is quick.
func TestEndOnAMachineThatStandsStill(t *testing.T) {
	for _, c := range []struct {
		every int
		still int64
	}{{1 << 30, 3600_000 * ms}, {500, 20 * ms}} {
		started := 0
		e := ending(t, func(e *end) {
			quick := func(then func()) func() {
				return func() {
					if started++; started%c.every == 1 {
						e.now += c.still
					}
					e.now += us
					then()
				}
			}
			e.tasks = append(e.tasks, func() {
				for range 5000 {
					e.submit(quota.Internal, quick(func() { e.submit(quota.Microtasks, quick(func() {})) }))
				}
			})
		}).run()
		require.Zero(t, e.refused)
		require.Equal(t, 10_000, started)
	}
}

// What workers bring is accepted, and brings more, whatever callbacks have used up before; and that does not last for others.
func TestEndHearsWorkers(t *testing.T) {
	for _, takes := range []int64{0, ms} {
		e := ending(t, func(e *end) { e.tasks = append(e.tasks, e.branching(quota.Internal, takes, 2)) }).run()
		require.Equal(t, takes > 0, e.Over())
		for range 10 {
			e.refused = 0
			heard := 0
			e.queue[quota.Internal] = []func(){func() { // without a word to the account: it is no callback's
				e.FromWorker()
				e.now += 700 * ms
				for range quota.Each {
					require.True(t, e.submit(quota.Microtasks, func() { heard++ }))
				}
				require.False(t, e.submit(quota.Microtasks, func() {}))
			}}
			e.run()
			require.Equal(t, quota.Each, heard)
			before := e.accepted
			e.tasks = append(e.tasks, e.branching(quota.Internal, takes, 2))
			e.run()
			require.LessOrEqual(t, e.accepted-before, 2*quota.Each)
		}
	}
}

// Functions that the end itself makes due run however long they take, and what they bring is charged to the same account.
func TestEndOfWhatIsAwaited(t *testing.T) {
	require.True(t, new(quota.Account).Accepts(), "before it is open")
	for _, spent := range []bool{false, true} {
		e := ending(t, func(*end) {})
		if spent {
			e.queue[quota.Internal] = []func(){e.branching(quota.Internal, ms, 2)}
			e.run()
		}
		const awaited, slow = 100, 10 * ms
		heard, began := 0, e.now
		for range awaited {
			e.queue[quota.Microtasks] = append(e.queue[quota.Microtasks], func() {
				e.Before()
				heard++
				e.now += slow
				e.submit(quota.Microtasks, e.branching(quota.Internal, ms, 2))
			})
		}
		e.run()
		require.Equal(t, awaited, heard)
		own := e.now - began - awaited*slow
		if spent {
			require.Zero(t, own)
		} else {
			require.Greater(t, own, int64(quota.Time*9/10))
			require.Less(t, own, int64(quota.Time*11/10))
		}
	}
}

// What nobody has submitted is accepted when it starts, by the same account; what waited is in any case.
func TestEndOfWhatIsUnasked(t *testing.T) {
	for _, takes := range []int64{0, ms} {
		e := ending(t, func(e *end) { e.reports = 3 })
		start := func() bool {
			accepted := e.Start(quota.Reports, e.now)
			e.now += takes
			return accepted
		}
		n := 0
		for ; n < quota.Functions+1000 && start(); n++ {
		}
		if takes == 0 {
			require.Equal(t, 3+quota.Functions+3*quota.Each, n)
		} else {
			require.Equal(t, 3+quota.Time/ms, n)
		}
		require.False(t, start())
		require.Equal(t, takes > 0, e.Over())
		require.False(t, e.Over(), "it is told once")
		for range 3 {
			require.False(t, e.Resume())
		}
		e.FromWorker()
		for range quota.Each {
			require.True(t, e.Resume())
		}
		require.False(t, e.Resume())
	}
}
