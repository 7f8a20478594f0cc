package looptest

// The tiers of timers: their order, the delay of background timers, and progress of all.

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// byUrgency lists the tiers, the most urgent first.
var byUrgency = []loopapi.TimerTier{loopapi.TimerCritical, loopapi.TimerNormal, loopapi.TimerBackground}

// latestBackground is about the lateness of background timers on a loop that always has other work.
const latestBackground = time.Second

// tier schedules fn from any goroutine; a refusal is a failure.
func (l *loop) tier(tier loopapi.TimerTier, d time.Duration, fn func()) loopapi.TimerID {
	id, err := l.tiers.ScheduleTimerAs(tier, d, fn)
	if err != nil {
		l.trial.Errorf("ScheduleTimerAs(%d, %v): %v", tier, d, err)
	}
	return id
}

// tierOrder lets timers of all tiers become due together. The first one submits tasks, which must run before the
// background timers.
func tierOrder(t *trial) {
	l := t.start(Config{})
	rng := rand.New(rand.NewPCG(1, 4))
	for range max(few(20), 5) {
		const n = 60
		type entry struct {
			tier loopapi.TimerTier
			d    time.Duration
			i    int
		}
		var want, order []entry   // only the loop touches these until all have run
		var first, last time.Time // when the first one fired, and the last one
		all := newLatch(n + 2)
		behind := func(name string) func() {
			return func() {
				if slices.ContainsFunc(order, func(e entry) bool { return e.tier == loopapi.TimerBackground }) {
					t.Errorf("%s waited for background timers", name)
				}
				all.done()
			}
		}
		began, exact := time.Now(), true
		l.do(func() {
			for i := range n {
				e := entry{byUrgency[rng.IntN(len(byUrgency))], time.Duration(rng.IntN(5)) * time.Millisecond, i}
				want = append(want, e)
				l.tier(e.tier, e.d, func() {
					if order, last = append(order, e), time.Now(); len(order) == 1 {
						first = last
						t.want("Submit", l.Submit(behind("a task")), nil)
						t.want("SubmitInternal", l.SubmitInternal(behind("an internal task")), nil)
					}
					all.done()
				})
			}
			exact = time.Since(began) < time.Millisecond
			time.Sleep(6 * time.Millisecond) // all are due when the callback ends
		})
		t.wait(all.ch, "%d timers of all tiers, and two tasks", n)
		slices.SortStableFunc(want, func(a, b entry) int {
			return cmp.Or(slices.Index(byUrgency, a.tier)-slices.Index(byUrgency, b.tier), cmp.Compare(a.d, b.d))
		})
		// If the machine stalls, those of a tier may have had their time in the tick, and deadlines be in another order than delays.
		if exact && last.Sub(first) < longTick {
			wantOrder(t, "timers of all tiers that were due together", order, want)
		}
	}
	l.finish()
}

// tierBackground looks at when background timers fire on an idle loop and on one that always has work.
func tierBackground(t *trial) {
	l := t.start(Config{})
	if late := l.backgroundLateness(); late > slack && t.virtual {
		t.Errorf("on a loop with nothing to do a background timer is %v late", late)
	}
	idle := l.endless(lanes[external], 1, func() { time.Sleep(time.Millisecond) })
	late := l.backgroundLateness()
	if late < latestBackground/2 || t.virtual && late > latestBackground+20*time.Millisecond {
		t.Errorf("on a loop with always something to do a background timer is %v late, want about %v", late, latestBackground)
	}
	idle()
	l.finish()
}

// backgroundLateness returns by how much a background timer was late.
func (l *loop) backgroundLateness() time.Duration {
	due, late := time.Now().Add(5*time.Millisecond), make(chan time.Duration, 1)
	l.tier(loopapi.TimerBackground, 5*time.Millisecond, func() { late <- time.Since(due) })
	return receive(l.trial, late, "a background timer")
}

// tierStorm keeps many timers of one tier due, which together take longer than a tick may last. All other work must make
// progress, background timers after a while.
func tierStorm(t *trial) {
	for _, stormy := range byUrgency {
		l := t.start(Config{})
		const timers = 20
		var stop atomic.Bool
		t.onCleanup(func() { stop.Store(true) })
		var ran [timers]int // only the loop touches it until it has ended
		l.do(func() {       // so that all are scheduled before the first fires
			for i := range timers {
				var again func()
				again = func() {
					ran[i]++
					if time.Sleep(time.Millisecond); !stop.Load() {
						l.tier(stormy, 0, again)
					}
				}
				l.tier(stormy, 0, again)
			}
		})
		// serve waits for a callback that may run no earlier than least and, on virtual time, no later than a tenth of a second after.
		serve := func(what string, least time.Duration, run func(fn func())) {
			const most = 100 * time.Millisecond
			begin, at := time.Now(), make(chan time.Duration, 1)
			run(func() { at <- time.Since(begin) })
			switch took := receive(t, at, "a %s, in a storm of timers of tier %d", what, stormy); {
			case took < least:
				t.Errorf("in a storm of timers of tier %d a %s ran after %v, want at least %v: others were due", stormy, what, took, least)
			case took > least*2+most && t.virtual:
				t.Errorf("in a storm of timers of tier %d a %s took %v to get to run, want at most %v", stormy, what, took, least*2+most)
			}
		}
		rounds := few(10)
		if !t.virtual {
			rounds = 1 // a round may take a second
		}
		for range rounds {
			for _, k := range l.available() {
				serve(k.name, 0, func(fn func()) { t.must(k.name, k.run(l, fn)) })
			}
			for _, tier := range byUrgency {
				least := time.Duration(0)
				if tier == loopapi.TimerBackground {
					least = latestBackground / 2
				}
				if tier != stormy {
					serve("timer of another tier", least, func(fn func()) { l.tier(tier, 0, fn) })
				}
			}
		}
		stop.Store(true)
		l.sync()
		l.finish()
		if least, most := slices.Min(ran[:]), slices.Max(ran[:]); most-least > 1 {
			t.Errorf("of timers of tier %d that re-arm themselves one fired %d times, and another %d: the rest of a tick keeps its order",
				stormy, most, least)
		}
	}
}

// tierHandles cancels, refs and unrefs timers of each tier by their ID, and makes calls that must be refused.
func tierHandles(t *trial) {
	for _, tier := range byUrgency {
		l := t.start(Config{})
		dropped := func() { t.Errorf("a timer of tier %d fired that was cancelled, or pending at the end", tier) }
		id := l.tier(tier, time.Hour, dropped)
		t.want("CancelTimer of a timer of any tier", l.timers.CancelTimer(id), nil)
		t.want("CancelTimer of one that was cancelled", l.timers.CancelTimer(id), loopapi.ErrTimerNotFound)
		done := make(chan struct{})
		l.do(func() {
			var others []loopapi.TimerID
			l.tier(tier, 0, func() {
				for _, id := range others {
					t.want("CancelTimer of one that is due as well", l.timers.CancelTimer(id), nil)
				}
				close(done)
			})
			for _, other := range byUrgency {
				if slices.Index(byUrgency, other) >= slices.Index(byUrgency, tier) {
					others = append(others, l.tier(other, 0, dropped))
				}
			}
		})
		t.wait(done, "a timer of tier %d", tier)
		l.tier(tier, time.Hour, dropped)
		t.want("ScheduleTimerAs without a callback", scheduleAs(l, tier, nil), loopapi.ErrNilCallback)
		for _, unknown := range []loopapi.TimerTier{3, 255} {
			if err := scheduleAs(l, unknown, func() { t.Errorf("a timer of the tier %d fired", unknown) }); err == nil {
				t.Errorf("ScheduleTimerAs accepted the tier %d", unknown)
			}
		}
		l.finish()
		t.want("ScheduleTimerAs after the end", scheduleAs(l, tier, dropped), loopapi.ErrLoopTerminated)
		if l.refs != nil {
			t.tierRefs(tier)
		}
	}
}

func scheduleAs(l *loop, tier loopapi.TimerTier, fn func()) error {
	_, err := l.tiers.ScheduleTimerAs(tier, 0, fn)
	return err
}

// tierRefs keeps an auto-exit loop alive with a timer of a tier.
func (t *trial) tierRefs(tier loopapi.TimerTier) {
	var id loopapi.TimerID
	l := t.autoExit(func(l *loop) {
		id = l.tier(tier, time.Hour, noop)
		t.want("UnrefTimer", l.refs.UnrefTimer(id), nil)
		t.want("RefTimer", l.refs.RefTimer(id), nil)
	})
	l.stays("a timer of any tier")
	t.want("UnrefTimer of a timer of any tier", l.refs.UnrefTimer(id), nil)
	l.exits("when its last ref'd timer was unref'd")
}
