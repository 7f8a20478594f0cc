package park_test

// A loop that has nothing but its sleep, and tests of that.

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/park"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

const never = math.MaxInt64

// bed is a loop's sleep with its host. did is what its host was told.
type bed struct {
	park.Park
	state    park.StateWord
	earliest atomic.Int64

	answers
	look    func() // called with each look for news
	signal  func() // called with each signal
	did     []any  // Moments, and the timeouts of Blocks
	signals int    // of those to a Block
}

// answers are what a host tells.
type answers struct{ news, unneeded, blocks, timed bool }

func (b *bed) News() bool {
	if b.look != nil {
		b.look()
	}
	return b.news
}
func (b *bed) Needed() bool                 { return !b.unneeded }
func (b *bed) Note(m park.Moment)           { b.did = append(b.did, m) }
func (b *bed) Blocks() (blocks, timed bool) { return b.blocks, b.timed }
func (b *bed) Block(timeout time.Duration)  { b.did = append(b.did, timeout) }
func (b *bed) Signal() bool {
	if b.signal != nil {
		b.signal()
	}
	if b.blocks {
		b.signals++
	}
	return b.blocks
}

// made is a loop that runs and has nothing to do. What is known of the processors is forgotten at the end of the test.
func made(t testing.TB) *bed {
	b := new(bed)
	b.earliest.Store(never)
	b.Init(&b.state, &b.earliest, b)
	require.True(t, b.state.Start())
	b.Begin(b.Now())
	t.Cleanup(func() {
		park.Calm.Until.Store(0)
		park.Calm.NextAsk.Store(0)
	})
	return b
}

// setCalm says until when the processors are calm, and has nobody ask. Who has asked before may still answer.
func setCalm(until int64) {
	park.Calm.NextAsk.Store(never)
	park.Calm.Until.Store(until)
}

// undisturbed makes a check a few times, until it is passed. It is for checks that the system may disturb: it may take the
// processor away at any moment.
func undisturbed(t *testing.T, check func() error) {
	t.Helper()
	var err error
	for range 10 {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// A loop parks if it finds nothing when it looks once more, where its host says, and its host is told.
func TestSleep(t *testing.T) {
	const far = int64(time.Hour)
	parked := []any{park.Parks, park.Woke}
	for name, c := range map[string]struct {
		answers
		earliest int64
		ends     bool // the end was asked for before
		slept    bool
		wakes    int64 // that are counted
		did      []any
	}{
		"woken while it looks": {earliest: never, slept: true, wakes: 1, did: parked},
		"finds news":           {answers: answers{news: true}, earliest: never, slept: true, did: parked},
		"is not needed":        {answers: answers{unneeded: true}, earliest: never, slept: true, did: parked},
		"ends":                 {earliest: never, ends: true},
		"in a poller, for ever": {answers: answers{blocks: true, timed: true}, earliest: never, slept: true, wakes: 1,
			did: []any{park.Parks, time.Duration(-1), park.Woke}},
		"in a poller, for a timer": {answers: answers{blocks: true, timed: true}, earliest: far, slept: true, wakes: 1,
			did: []any{park.Parks, time.Hour, park.Woke}},
		"in a poller, with an alarm": {answers: answers{blocks: true}, earliest: far, slept: true, wakes: 1,
			did: []any{park.Parks, time.Duration(-1), park.Woke}},
		"in a poller, for what is past": {answers: answers{blocks: true, timed: true}, earliest: -1, slept: true, wakes: 1,
			did: []any{park.Parks, time.Duration(0), park.Woke}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := made(t)
				b.answers = c.answers
				b.earliest.Store(c.earliest)
				if c.wakes != 0 {
					b.look = b.Wake
				}
				if c.ends {
					_, ok := b.state.Terminate(0)
					require.True(t, ok)
				}
				require.Equal(t, c.slept, b.Sleep())
				require.Equal(t, c.did, b.did)
				require.Equal(t, c.wakes, b.Wakes.Load())
				require.Equal(t, len(c.did) != 0, b.Sleeps.Load() == 1)
				require.Equal(t, c.ends, b.state.Load().State() != loopapi.StateRunning)
				require.Equal(t, c.blocks, b.signals == 1)
				b.Stop()
			})
		})
	}
}

// A loop that sleeps is woken once, by the first of all who try, and by the alarm; one that is awake by nobody.
func TestWake(t *testing.T) {
	for name, wake := range map[string]func(*bed) bool{
		"whoever":    func(b *bed) bool { b.Wake(); return true },
		"a producer": func(b *bed) bool { return b.WakeFor(true) },
		"the end": func(b *bed) bool {
			from, ok := b.state.Terminate(0)
			if from.Sleeping() {
				b.Park.Signal()
			}
			return ok
		},
		"the alarm": func(*bed) bool { time.Sleep(time.Hour); return true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := made(t)
				require.False(t, b.WakeFor(true), "it is awake")
				b.earliest.Store(b.Now() + int64(time.Hour))
				require.True(t, b.Idle())
				slept := make(chan bool)
				go func() { slept <- b.Sleep() }()
				synctest.Wait()
				require.Equal(t, loopapi.StateSleeping, b.state.Load().State())
				require.True(t, wake(b))
				require.True(t, <-slept)
				require.False(t, b.WakeFor(true), "it is awake again")
				require.EqualValues(t, 1, b.Wakes.Load())
				require.Equal(t, name == "the alarm", b.ByTimer())
				require.Equal(t, name != "the alarm", b.Stop())
			})
		})
	}
}

// The signal of a sleep that the loop has left stays for its next park, and keeps no later waker waiting.
func TestLateSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := made(t)
		b.news, b.look = true, b.Wake
		for range 3 {
			require.True(t, b.Sleep())
		}
		b.news, b.look = false, nil
		require.True(t, b.Sleep(), "the signal ends it")
		require.EqualValues(t, 3, b.Wakes.Load())
	})
}

// An alarm that is set for an earlier time stays so, since an idle tick costs less than to set it anew; one that has rung is set anew.
func TestAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := made(t)
		defer b.Stop()
		var woke []time.Duration
		begun := time.Now()
		for i, at := range []time.Duration{5, 3, 4, 9} {
			b.news = i < 2 // it does not park, but has set the alarm
			b.earliest.Store(int64(at * time.Second))
			require.True(t, b.Sleep())
			woke = append(woke, time.Since(begun)/time.Second)
		}
		require.Equal(t, []time.Duration{0, 0, 3, 9}, woke)
	})
}

// A loop does not go to sleep while a timer is due, work comes, or it has used all its pauses.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := made(t)
		require.True(t, b.Idle())
		b.earliest.Store(b.Tick.Load())
		require.False(t, b.Idle(), "a timer is due")
		b.earliest.Store(b.Tick.Load() + 1)
		require.True(t, b.Idle())
		time.Sleep(time.Nanosecond)
		require.False(t, b.Idle(), "a timer has become due in the tick")
	})
}

// An ending loop rests until it is woken, or closed, on its channel alone, and only when it finds nothing to do.
func TestRest(t *testing.T) {
	for name, c := range map[string]struct {
		news, closed bool
		end          func(b *bed)
		parks        bool
	}{
		"woken":      {end: func(b *bed) { b.Wake() }, parks: true},
		"closed":     {end: func(b *bed) { b.state.Terminate(park.CauseClose); b.Park.Signal() }, parks: true},
		"finds news": {news: true},
		"is closed":  {closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := made(t)
				_, ok := b.state.Terminate(0)
				require.True(t, ok)
				if b.news = c.news; c.closed {
					b.state.Terminate(park.CauseClose)
				}
				done := make(chan struct{})
				go func() { b.Rest(); close(done) }()
				synctest.Wait()
				require.Equal(t, c.parks, b.state.Load().Sleeping())
				if c.end != nil {
					c.end(b)
				}
				<-done
				require.Equal(t, loopapi.StateTerminating, b.state.Load().State())
				require.False(t, b.state.Load().Sleeping())
				var did []any
				if c.parks {
					did = []any{park.Parks, park.Woke}
				}
				require.Equal(t, did, b.did)
				require.EqualValues(t, len(did)/2, b.Wakes.Load())
			})
		})
	}
}
