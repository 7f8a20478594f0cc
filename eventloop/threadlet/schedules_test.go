//go:build schedules

package threadlet_test

// Threadlets under every schedule with a preemption, and under many that chance decides. Run by "make schedules".

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/sched"
)

// Everything that may end a wait comes at once, from everywhere: data, the deadline, a signal, and the end. Each wait ends
// once, for a reason that there was; so every wait that follows begins anew, and the last one ends too.
func TestSchedules(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	random := 3000
	if n, err := strconv.Atoi(os.Getenv("TURNLOOP_SCHEDULES")); err == nil {
		random = n / 60
	}
	t.Run("identities", func(t *testing.T) {
		if n, failure := sched.Random(1, random, identities); failure != nil {
			t.Fatalf("random schedule %d: %v", n, failure)
		}
	})
	// Two preemptions would take hours: there are hundreds of steps, and a timer may fire at each of them.
	preemptions := 0
	if os.Getenv("TURNLOOP_PREEMPTIONS") == "2" { // "make schedules"
		preemptions = 1
	}
	for name, end := range map[string]func(*eventloop.Loop){
		"Close":    func(l *eventloop.Loop) { _ = l.Close() },
		"Shutdown": func(l *eventloop.Loop) { _ = l.Shutdown(background) },
		"nobody":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			bounded, failure := sched.Bounded(preemptions, 0, func() sched.Case { return raceOf(end, 1) })
			if failure != nil {
				t.Fatalf("schedule %d of those with at most %d preemptions: %v", bounded, preemptions, failure)
			}
			n, failure := sched.Random(1, random, func() sched.Case { return raceOf(end, 3) })
			if failure != nil {
				t.Fatalf("random schedule %d: %v", n, failure)
			}
			t.Logf("all %d schedules with at most %d preemptions, and %d random ones", bounded, preemptions, n)
		})
	}
}

func raceOf(end func(*eventloop.Loop), rounds int) sched.Case {
	l, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	const data, deadline = 7, time.Millisecond
	ch := threadlet.NewChan[int](l, 0)
	var wrong []error
	fault := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	ends, signals, received, sent := 0, 0, 0, 0
	told := func(err error) bool {
		switch {
		case errors.Is(err, threadlet.ErrSignaled):
			signals++
		case errors.Is(err, eventloop.ErrLoopTerminated) && end != nil:
			return true
		case err != nil:
			fault("a wait has ended with %v", err)
		}
		return false
	}
	th, err := threadlet.Go(l, func() {
		defer func() { ends++ }()
		self := threadlet.Current()
		over := false
		for range rounds {
			id, _ := l.ScheduleTimer(deadline, func() { ch.TrySend(-1) })
			v, err := ch.Receive()
			_ = l.CancelTimer(id)
			switch {
			case over && err == nil, err == nil && v != data && v != -1:
				fault("received %d, %v", v, err)
			case err == nil && v == data:
				received++
			}
			over = told(err) || over
			before := l.CurrentTickTime()
			if err := threadlet.Sleep(deadline); err == nil {
				if since := l.CurrentTickTime().Sub(before); since < deadline {
					fault("slept for %v", since)
				}
			} else if over = told(err) || over; over && !errors.Is(err, eventloop.ErrLoopTerminated) {
				fault("after the end a wait has ended with %v", err)
			}
		}
		if threadlet.Current() != self {
			fault("somebody else has been resumed")
		}
		_ = l.Shutdown(background)
	})
	if err != nil {
		panic(err)
	}
	var run, join error
	threads := []sched.Thread{
		{Name: "loop", Run: func() { run = l.Run(background) }},
		{Name: "data", Run: func() {
			_ = l.SubmitInternal(func() {
				if ch.TrySend(data) {
					sent++
				}
			})
		}},
		{Name: "signal", Run: th.Signal},
	}
	if end != nil {
		threads = append(threads, sched.Thread{Name: "end", Run: func() { end(l) }})
	}
	return sched.Case{Threads: threads, Check: func() error {
		<-l.Done()
		join = th.Join(context.Background())
		switch {
		case run != nil && end == nil, run != nil && !errors.Is(run, eventloop.ErrLoopTerminated):
			fault("Run: %v", run)
		case ends > 1, signals > 1, received > sent:
			fault("%d ends, %d signals, %d of %d received", ends, signals, received, sent)
		case ends == 0 && !errors.Is(join, eventloop.ErrLoopTerminated), ends == 1 && join != nil:
			fault("%d ends, Join: %v", ends, join)
		case end == nil && ends != 1:
			fault("it has not ended")
		}
		return errors.Join(wrong...)
	}}
}

// identities has goroutines begin while threadlets, and a callback, call runtime.Goexit. Each begins where another has ended,
// and so may have its identity; but it is neither on the loop nor a threadlet.
func identities() sched.Case {
	l, err := eventloop.New(eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
	if err != nil {
		panic(err)
	}
	var wrong error
	var stranger func(left int)
	stranger = func(left int) {
		if l.OnLoop() || threadlet.Yield() != threadlet.ErrNotThreadlet {
			wrong = errors.New("a goroutine is taken for one that has ended")
		}
		if left == 5 {
			sched.Go(func() { _ = l.Shutdown(background) })
		}
		if left > 0 {
			sched.Go(func() { stranger(left - 1) })
		}
	}
	for i := range 3 {
		if _, err := threadlet.Go(l, func() {
			if _ = threadlet.Yield(); i > 0 {
				runtime.Goexit()
			}
		}); err != nil {
			panic(err)
		}
	}
	return sched.Case{Threads: []sched.Thread{
		{Name: "loop", Run: func() { _ = l.Run(background) }},
		{Name: "exit", Run: func() { _ = l.SubmitInternal(runtime.Goexit) }},
		{Name: "stranger", Run: func() { stranger(10) }},
	}, Check: func() error {
		<-l.Done()
		return wrong
	}}
}
