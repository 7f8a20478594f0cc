package main

// --explore and --seed: a script runs in many legal orders of timers, files and requests, on virtual time. A seed
// determines all that happens in its run.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/gojaloop/modules"
	"golang.org/x/term"
)

// explore runs the script as often as the options say, until a run fails, and returns the exit code.
func explore(o *options, c *modules.Cache) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if o.seed != nil {
		code, tooLong := once(ctx, o, c, *o.seed, os.Stdout, os.Stderr)
		if tooLong {
			fmt.Fprintln(os.Stderr, "loopjs: it was ended, as it goes on")
		}
		if ctx.Err() != nil {
			code = interruptedCode
		}
		return code
	}
	var done atomic.Uint64 // runs that have ended
	defer showProgress(&done, o.explore)()
	outputs := map[string][]uint64{} // seeds by their output
	var order []string
	long := 0 // runs that did not end
	for seed := uint64(1); seed <= uint64(o.explore); seed++ {
		var stdout, all bytes.Buffer
		code, tooLong := once(ctx, o, c, seed, io.MultiWriter(&stdout, &all), &all)
		if ctx.Err() != nil {
			fmt.Fprintf(os.Stderr, "loopjs: interrupted in run %d of %d; none before it fails\n", seed, o.explore)
			return interruptedCode
		}
		done.Store(seed)
		if tooLong {
			long++
		}
		if code != 0 {
			_, _ = os.Stdout.Write(all.Bytes())
			fmt.Fprintf(os.Stderr, "loopjs: run %d of %d fails with exit code %d; --seed %d repeats it\n", seed, o.explore, code, seed)
			return 1
		}
		key := stdout.String()
		if outputs[key] == nil {
			order = append(order, key)
		}
		outputs[key] = append(outputs[key], seed)
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(outputs[b]) - len(outputs[a]) })
	fmt.Fprintf(os.Stderr, "loopjs: %d runs, none fails\n", o.explore)
	if long > 0 {
		fmt.Fprintf(os.Stderr, "loopjs: %d were ended after an hour of their time, or a million steps\n", long)
	}
	if len(order) > 1 {
		fmt.Fprintf(os.Stderr, "loopjs: they print %d different things:\n", len(order))
		for i, key := range order {
			if i == 10 {
				fmt.Fprintf(os.Stderr, "  and so on\n")
				break
			}
			fmt.Fprintf(os.Stderr, "  %d of them one, as --seed %d\n", len(outputs[key]), outputs[key][0])
		}
	}
	return 0
}

// showProgress says once a second how many runs have ended, until stop is called. It does nothing without a terminal.
func showProgress(done *atomic.Uint64, runs int) (stop func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	stopped := make(chan struct{})
	ticker := time.NewTicker(time.Second)
	go func() {
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(os.Stderr, "loopjs: %d of %d runs\n", done.Load(), runs)
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(stopped)
	}
}

// once runs the script in the order of a seed. It returns the exit code, and whether the run had to be ended.
func once(ctx context.Context, o *options, c *modules.Cache, seed uint64, stdout, stderr io.Writer) (code int, tooLong bool) {
	w := &world{chance: rand.New(rand.NewPCG(seed, 0))}
	script := rand.New(rand.NewPCG(seed, 1))
	p, err := newProgram(o, c, stdout, stderr, gojaloop.WithSchedule(w))
	if err != nil {
		fmt.Fprintln(stderr, "loopjs:", err)
		return 1, false
	}
	w.loop, w.host = p.loop, p.host
	p.host.Runtime().SetRandSource(script.Float64)
	p.host.Runtime().SetTimeSource(func() time.Time { return epoch.Add(w.Now()) })
	code = p.run(ctx)
	if w.tooLong {
		code = 0
	}
	return code, w.tooLong
}

// epoch is where virtual time begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	// lifetime and most are the virtual time and the number of steps after which a run is ended.
	lifetime = time.Hour
	most     = 1_000_000
)

// world is the host's schedule: it has virtual time, and runs timers and Go work in random order. While events are
// pending, one callback is queued at the loop, which runs at most one of them. Used on the loop alone.
type world struct {
	chance  *rand.Rand
	loop    *eventloop.Loop
	host    *gojaloop.Host
	now     time.Duration
	events  []*event // pending, in no order
	last    eventloop.TimerID
	armed   bool // step is queued at the loop
	looks   int  // how often Now was called
	seen    int  // the value of looks at the last step
	steps   int
	tooLong bool
}

// event is a timer or Go work that is pending.
type event struct {
	id  eventloop.TimerID
	at  time.Duration
	run func()
}

// Now returns the virtual time. Each call takes some, so that a script that polls the clock comes to an end.
func (w *world) Now() time.Duration {
	w.looks++
	w.now += time.Duration(1 + w.chance.IntN(20_000))
	return w.now
}

// ScheduleTimer arranges a call of fn after the delay, sometimes a little later.
func (w *world) ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error) {
	late := time.Duration(0)
	if w.chance.IntN(4) == 0 {
		late = w.some(3 * time.Millisecond)
	}
	return w.add(max(delay, 0)+late, fn)
}

// Work arranges a call of fn after a random time.
func (w *world) Work(fn func()) {
	takes := w.some(time.Millisecond)
	switch n := w.chance.IntN(10); {
	case n == 0:
		takes = w.some(200 * time.Millisecond)
	case n < 5:
		takes = w.some(10 * time.Millisecond)
	}
	_, _ = w.add(takes, fn)
}

func (w *world) some(most time.Duration) time.Duration {
	return time.Duration(w.chance.Int64N(int64(most)))
}

func (w *world) add(after time.Duration, fn func()) (eventloop.TimerID, error) {
	w.last++
	w.events = append(w.events, &event{id: w.last, at: w.now + after, run: fn})
	return w.last, w.arm()
}

func (w *world) arm() error {
	if w.armed || len(w.events) == 0 {
		return nil
	}
	if err := w.loop.Submit(w.step); err != nil {
		return err
	}
	w.armed = true
	return nil
}

func (w *world) find(id eventloop.TimerID) int {
	return slices.IndexFunc(w.events, func(e *event) bool { return e.id == id })
}

// CancelTimer cancels a timer.
func (w *world) CancelTimer(id eventloop.TimerID) error {
	i := w.find(id)
	if i < 0 {
		return eventloop.ErrTimerNotFound
	}
	w.events = slices.Delete(w.events, i, i+1)
	return nil
}

// RefTimer and UnrefTimer do nothing: the host itself counts what Run waits for.
func (w *world) RefTimer(eventloop.TimerID) error   { return nil }
func (w *world) UnrefTimer(eventloop.TimerID) error { return nil }

// step lets some time pass, and runs the first event if it is due then. If the script has not asked for the time since the
// last step, it counts as idle, and time passes until that event.
func (w *world) step() {
	w.armed = false
	if w.steps++; w.steps > most || w.now > lifetime {
		w.tooLong = true
		w.host.Close()
		return
	}
	idle := w.looks == w.seen
	switch n := w.chance.IntN(10); {
	case n == 0:
		w.now += w.some(20 * time.Millisecond)
	case n < 4:
		w.now += w.some(2 * time.Millisecond)
	default:
		w.now += w.some(100 * time.Microsecond)
	}
	first := -1
	for i, e := range w.events {
		if first < 0 || e.at < w.events[first].at {
			first = i
		}
	}
	if first >= 0 && (idle || w.events[first].at <= w.now) {
		e := w.events[first]
		w.events = slices.Delete(w.events, first, first+1)
		w.now = max(w.now, e.at)
		e.run()
	}
	w.seen = w.looks
	_ = w.arm()
}
