package looptest

// Sleep and wake (D03, D07): no work waits while the loop sleeps.

import (
	"sync/atomic"
	"time"
)

// An exchange with an idle loop that takes longer than stall counts as delayed. A busy machine delays a few; a loop that
// is not woken by the work itself delays many.
const (
	stall      = 50 * time.Millisecond
	stallsOK   = 10 // the allowed number of delayed exchanges
	spinRounds = 7  // a player pauses every so many rounds, to meet the loop awake, going to sleep, and asleep
)

// pingPong passes a token between a goroutine and the loop through one lane, many times. Each exchange finds the loop
// about to sleep; a loop that does not look at its queues again before it sleeps never answers.
func pingPong(t *trial, k kind) {
	l := t.start(Config{})
	l.pingPong(k, t.scale(16000))
	l.finish()
}

func (l *loop) pingPong(k kind, rounds int) {
	t := l.trial
	token := make(chan struct{}, 1)
	pong := func() { token <- struct{}{} }
	slow := 0
	for i := range rounds {
		begin := time.Now()
		t.must(k.name, k.run(l, pong))
		t.wait(token, "the answer to ping %d (%s): the wake-up was lost", i, k.name)
		if time.Since(begin) > stall {
			slow++
		}
		pause(i)
	}
	if slow > stallsOK {
		t.Errorf("%d exchanges (%s) took more than %v: the loop is not woken by the work", slow, k.name, stall)
	}
}

// pause varies the moment at which the next ping meets the loop.
func pause(i int) {
	if i%spinRounds == 0 {
		for spin := time.Now().Add(time.Duration(i%37) * time.Microsecond); time.Now().Before(spin); {
		}
	}
	if i%(spinRounds*71) == 0 {
		time.Sleep(200 * time.Microsecond)
	}
}

func pingPongExternal(t *trial)  { pingPong(t, lanes[0]) }
func pingPongInternal(t *trial)  { pingPong(t, lanes[1]) }
func pingPongMicrotask(t *trial) { pingPong(t, lanes[2]) }

// pingPongMany has several players at once, on all lanes in turn: wakes coalesce, and none may be lost.
func pingPongMany(t *trial) {
	l := t.start(Config{})
	ks := l.available()
	rounds := t.scale(3000)
	t.parallel(4, func(p int) {
		token := make(chan struct{}, 1)
		pong := func() { token <- struct{}{} }
		for i := range rounds {
			k := ks[(p+i)%len(ks)]
			if err := k.run(l, pong); err != nil {
				t.Errorf("%s: %v", k.name, err)
				return
			}
			if !within(token, t.patience) {
				t.Errorf("ping %d of player %d (%s) was not answered: the wake-up was lost", i, p, k.name)
				return
			}
			pause(i + p)
		}
	})
	l.finish()
}

// earlierTimer schedules timers from another goroutine while the loop sleeps until a far deadline (bug 2 of
// docs/reliability.md).
func earlierTimer(t *trial) {
	l := t.start(Config{})
	l.earlierTimer(t.scale(800))
	l.finish()
}

func (l *loop) earlierTimer(rounds int) {
	t := l.trial
	if _, err := l.timers.ScheduleTimer(time.Hour, func() { t.Errorf("a timer of one hour fired") }); err != nil {
		t.Fatalf("ScheduleTimer: %v", err)
	}
	token := make(chan struct{}, 1)
	pong := func() { token <- struct{}{} }
	for i := range rounds {
		if i%20 == 0 {
			l.rest()
		}
		if _, err := l.timers.ScheduleTimer(time.Duration(i%5)*50*time.Microsecond, pong); err != nil {
			t.Fatalf("ScheduleTimer: %v", err)
		}
		t.wait(token, "timer %d, which became the earliest while the loop slept", i)
		pause(i)
	}
}

// wakeStorm lets many producers submit to a sleeping loop at the same moment, again and again.
func wakeStorm(t *trial) {
	l := t.start(Config{})
	ks := l.available()
	const producers, each = 16, 50
	for round := range t.scale(120) {
		l.rest()
		all := newLatch(producers * each)
		var ran atomic.Int64
		t.parallel(producers, func(p int) {
			for i := range each {
				k := ks[(p+i)%len(ks)]
				t.want(k.name, k.run(l, func() { ran.Add(1); all.done() }), nil)
			}
		})
		if !within(all.ch, t.patience) {
			t.Fatalf("storm %d: %d of %d functions ran", round, ran.Load(), producers*each)
		}
	}
	l.finish()
}
