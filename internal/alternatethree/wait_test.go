package alternatethree_test

// Sleep and wake, on a poller that the test holds in its hand.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// fakePoller reports what the test feeds it.
type fakePoller struct {
	asleep chan struct{} // a token for each Wait that blocks
	wakeUp chan struct{}
	feed   chan []poller.Event
	gate   sync.Mutex // taken for a moment by each Wait that was woken

	mu    sync.Mutex // guards all below
	on    map[string]func() error
	calls map[string]int
	tags  map[int]uint32
}

func newFake() *fakePoller {
	return &fakePoller{
		asleep: make(chan struct{}, 1000), wakeUp: make(chan struct{}, 1), feed: make(chan []poller.Event, 10),
		on: map[string]func() error{}, calls: map[string]int{}, tags: map[int]uint32{},
	}
}

// when has a method call fn first; an error is what the method returns.
func (p *fakePoller) when(method string, fn func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on[method] = fn
}

// failing has the next calls of a method fail.
func (p *fakePoller) failing(method string, err error, times int) {
	p.when(method, func() error {
		if times--; times < 0 {
			return nil
		}
		return err
	})
}

func (p *fakePoller) record(method string) error {
	p.mu.Lock()
	p.calls[method]++
	fn := p.on[method]
	p.mu.Unlock()
	if fn == nil {
		return nil
	}
	return fn()
}

func (p *fakePoller) count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[method]
}

func (p *fakePoller) tag(fd int) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tags[fd]
}

func (p *fakePoller) Add(fd int, _ loopapi.IOEvents, tag uint32) error {
	p.mu.Lock()
	p.tags[fd] = tag
	p.mu.Unlock()
	return p.record("Add")
}

func (p *fakePoller) Modify(int, loopapi.IOEvents, loopapi.IOEvents, uint32) error {
	return p.record("Modify")
}
func (p *fakePoller) Remove(int, loopapi.IOEvents) error { return p.record("Remove") }
func (p *fakePoller) Reset() error                       { return p.record("Reset") }
func (p *fakePoller) Close() error                       { return p.record("Close") }

func (p *fakePoller) Wake() error {
	err := p.record("Wake")
	if err == nil {
		select {
		case p.wakeUp <- struct{}{}:
		default:
		}
	}
	return err
}

func (p *fakePoller) Wait(timeout time.Duration) ([]poller.Event, error) {
	if timeout == 0 {
		select {
		case events := <-p.feed:
			return events, nil
		default:
			return nil, nil
		}
	}
	if err := p.record("Wait"); err != nil {
		return nil, err
	}
	p.asleep <- struct{}{}
	var deadline <-chan time.Time
	if timeout > 0 {
		deadline = time.After(timeout)
	}
	select {
	case <-p.wakeUp:
		p.gate.Lock()
		defer p.gate.Unlock()
	case events := <-p.feed:
		return events, nil
	case <-deadline:
	}
	return nil, nil
}

// diary is a log that can be read.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

func (d *diary) count(part string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Count(d.text.String(), part)
}

// newDiary has the log written into a diary until the test ends.
func newDiary(t *testing.T) *diary {
	d := &diary{}
	logTo(t, slog.NewTextHandler(d, nil))
	return d
}

func logTo(t *testing.T, h slog.Handler) {
	before := slog.Default()
	slog.SetDefault(slog.New(h))
	t.Cleanup(func() { slog.SetDefault(before) })
}

var errInjected = errors.New("injected")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newUnstarted(t *testing.T, cfg loopapi.Config) *alternatethree.Loop {
	t.Helper()
	l, err := alternatethree.New(cfg)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func newRunning(t *testing.T, cfg loopapi.Config) *alternatethree.Loop {
	t.Helper()
	l := newUnstarted(t, cfg)
	go func() { _ = l.Run(context.Background()) }()
	return l
}

// newOn makes a loop on p; run is what its Run returns.
func newOn(t *testing.T, p *fakePoller) (l *alternatethree.Loop, run <-chan error) {
	t.Helper()
	open := func() (rival.Poller, error) { return p, nil }
	l, err := alternatethree.NewOn(loopapi.Config{}, open)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	return l, result
}

func TestVerifySeesAllWork(t *testing.T) {
	noop := func() {}
	timer := func(l *alternatethree.Loop, delay time.Duration) error {
		_, err := l.ScheduleTimer(delay, noop)
		return err
	}
	for _, row := range []struct {
		what        string
		add         func(l *alternatethree.Loop) error
		least, most time.Duration
	}{
		{"nothing", func(*alternatethree.Loop) error { return nil }, -1, -1},
		{"an external task", func(l *alternatethree.Loop) error { return l.Submit(noop) }, 0, 0},
		{"an internal task", func(l *alternatethree.Loop) error { return l.SubmitInternal(noop) }, 0, 0},
		{"a microtask of another goroutine", func(l *alternatethree.Loop) error { return l.ScheduleMicrotask(noop) }, 0, 0},
		{"a timer that is due", func(l *alternatethree.Loop) error { return timer(l, -1) }, 0, 0},
		{"a timer", func(l *alternatethree.Loop) error { return timer(l, time.Hour) }, 1, time.Hour},
	} {
		l := newUnstarted(t, loopapi.Config{})
		must(t, row.add(l))
		if d := l.Verify(); d < row.least || d > row.most {
			t.Errorf("with %s the loop would sleep for %v", row.what, d)
		}
	}
}

// TestCommitComesBeforeVerify stops the loop in the midst of its second look. It must have committed already, so that
// who comes now wakes it.
func TestCommitComesBeforeVerify(t *testing.T) {
	p := newFake()
	l, _ := newOn(t, p)
	var unlock func()
	locked := make(chan struct{})
	must(t, l.Submit(func() { unlock = l.LockTimers(); close(locked) }))
	beat.Receive(t, locked, "a task")
	beat.Eventually(t, func() bool { return l.State() == loopapi.StateSleeping }, "the loop to commit before it looks")
	ran := make(chan struct{})
	must(t, l.Submit(func() { close(ran) }))
	if l.State() != loopapi.StateRunning || p.count("Wake") == 0 {
		t.Errorf("a task that came during the second look left the loop %v, with %d wake-ups", l.State(), p.count("Wake"))
	}
	unlock()
	beat.Receive(t, ran, "a task that came during the second look")
}

func TestWakesCoalesce(t *testing.T) {
	p := newFake()
	l, _ := newOn(t, p)
	beat.Receive(t, p.asleep, "the loop to sleep")
	for range 3 {
		before := p.count("Wake")
		p.gate.Lock() // the wait does not end before all have come
		var producers, ran sync.WaitGroup
		ran.Add(8 * 50)
		for range 8 {
			producers.Go(func() {
				for range 50 {
					if err := l.Submit(ran.Done); err != nil {
						t.Errorf("Submit: %v", err)
					}
				}
			})
		}
		producers.Wait()
		if got := p.count("Wake") - before; got != 1 {
			t.Errorf("400 tasks of 8 goroutines woke the sleeping loop %d times, want once", got)
		}
		p.gate.Unlock()
		ran.Wait()
		beat.Receive(t, p.asleep, "the loop to sleep again")
	}
}

// TestFailedWaitEndsTheLoop lets the system refuse to wait: what was accepted runs, and everyone hears.
func TestFailedWaitEndsTheLoop(t *testing.T) {
	p, log := newFake(), newDiary(t)
	ran := false
	var l *alternatethree.Loop
	ready := make(chan struct{})
	p.when("Wait", func() error {
		<-ready
		if err := l.Submit(func() { ran = true }); err != nil {
			t.Errorf("Submit: %v", err)
		}
		return errInjected
	})
	l, run := newOn(t, p)
	close(ready)
	if err := <-run; !errors.Is(err, errInjected) || !strings.Contains(err.Error(), "wait for events") {
		t.Errorf("Run returned %v", err)
	}
	if !ran {
		t.Error("an accepted task did not run")
	}
	if log.count("eventloop: wait for events: injected") != 1 {
		t.Error("the failure was not logged once")
	}
	if err := l.Shutdown(context.Background()); err != loopapi.ErrLoopTerminated {
		t.Errorf("Shutdown returned %v", err)
	}
}
