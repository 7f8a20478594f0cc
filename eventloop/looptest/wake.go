package looptest

// Sleep and wake (D03, D07): no work waits while the loop sleeps.

import (
	"sync/atomic"
	"time"
)

// pingPong passes a token between a goroutine and the loop through one lane, many times. Each exchange finds the loop
// about to sleep; a loop that does not look at its queues again before it sleeps never answers.
func pingPong(lane int) func(t *trial) {
	return func(t *trial) {
		l := t.start(Config{})
		l.pingPong(lanes[lane], t.scale(16000))
		l.finish()
	}
}

func (l *loop) pingPong(k kind, rounds int) {
	token := make(chan struct{}, 1)
	pong := func() { token <- struct{}{} }
	for i := range rounds {
		l.trial.must(k.name, k.run(l, pong))
		l.trial.wait(token, "the answer to ping %d (%s): the wake-up was lost", i, k.name)
		pause(i)
	}
}

// pause varies the moment at which the next ping meets the loop: awake, going to sleep, and asleep.
func pause(i int) {
	const rounds = 7 // without a pause
	if i%rounds == 0 {
		spin(time.Duration(i%37) * time.Microsecond)
	}
	if i%(rounds*71) == 0 {
		time.Sleep(200 * time.Microsecond)
	}
}

// spin computes for a while, to meet other goroutines at different moments. On virtual time it would not end.
func spin(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

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
			if !t.came(token) {
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
	l.timer(time.Hour, func() { l.trial.Errorf("a timer of one hour fired") })
	token := make(chan struct{}, 1)
	pong := func() { token <- struct{}{} }
	for i := range rounds {
		if i%20 == 0 {
			l.rest()
		}
		l.timer(time.Duration(i%5)*50*time.Microsecond, pong)
		l.trial.wait(token, "timer %d, which became the earliest while the loop slept", i)
		pause(i)
	}
}

// wakeStorm lets many producers submit to a sleeping loop at the same moment, again and again.
func wakeStorm(t *trial) {
	l := t.start(Config{})
	ks := l.available()
	const producers, each = 16, 50
	t.rounds(t.scale(120), func(round int) {
		l.rest()
		all := newLatch(producers * each)
		var ran atomic.Int64
		t.parallel(producers, func(p int) {
			for i := range each {
				k := ks[(p+i)%len(ks)]
				t.want(k.name, k.run(l, func() { ran.Add(1); all.done() }), nil)
			}
		})
		if !t.came(all.ch) {
			t.Fatalf("storm %d: %d of %d functions ran", round, ran.Load(), producers*each)
		}
	})
	l.finish()
}
