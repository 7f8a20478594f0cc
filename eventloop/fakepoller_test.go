package eventloop_test

// The system's poller under observation, and what else the tests of descriptors share.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/poller"
)

// operation is what a poller can be asked for, and what it can tell a watch.
type operation int

const (
	opNew operation = iota
	opAdd
	opAddAgain // by the loop, after Reset
	opModify
	opRemove
	opWait
	opPark
	opWatch
	opNotify
	opWake
	opReset
	opClose
	operations
)

var operationNames = [operations]string{"New", "Add", "Add again", "Modify", "Remove", "Wait", "Park", "Watch", "notify", "Wake", "Reset", "Close"}

func (o operation) String() string { return operationNames[o] }

// fakePoller passes on to the system's poller, counts, makes every k-th call of one operation fail, and holds the loop
// to the contract. It is not a poller.Parker; parkingPoller is.
type fakePoller struct {
	real   eventloop.SystemPoller
	loop   *eventloop.Loop // of a test that registers nothing on the loop; set before Run
	parker poller.Parker   // nil where the system's poller is none
	parks  bool            // show it to the loop

	broken operation
	err    error // nil breaks nothing
	every  int64
	most   int64                                                    // failures; 0 is no limit
	early  func(timeout time.Duration) (cut time.Duration, is bool) // makes waits end early, with nothing

	waking func() // goes before a Wake

	mute atomic.Bool // a watch has no turn to tell

	calls, failed [operations]atomic.Int64
	blocking      atomic.Int64 // Waits that might have waited

	mu                     sync.Mutex // guards what follows
	busy, watching, closed bool
	breaches               []string
}

type parkingPoller struct{ *fakePoller }

func (f *fakePoller) open() (eventloop.SystemPoller, error) {
	if err := f.fail(opNew); err != nil {
		return nil, err
	}
	p, err := poller.New()
	if err != nil {
		return nil, err
	}
	f.real = p
	if f.parker, _ = any(p).(poller.Parker); f.parker != nil && f.parks {
		return parkingPoller{f}, nil
	}
	return f, nil
}

// fail counts a call, and says how it fails.
func (f *fakePoller) fail(op operation) error {
	n := f.calls[op].Add(1)
	if op != f.broken || f.err == nil || n%f.every != 0 || f.most > 0 && f.failed[op].Load() >= f.most {
		return nil
	}
	f.failed[op].Add(1)
	if errors.Is(f.err, eventloop.ErrPollerClosed) {
		return f.err // which is no error of the system's
	}
	return os.NewSyscallError(op.String(), f.err)
}

// begin is the beginning of a call that only the owner may make, of one that excludes a watch, and of a failure.
func (f *fakePoller) begin(op operation, alone bool) error {
	f.mu.Lock()
	switch {
	case f.busy:
		f.breaches = append(f.breaches, op.String()+" beside another call of its owner's")
	case f.closed:
		f.breaches = append(f.breaches, op.String()+" after Close")
	case alone && f.watching:
		f.breaches = append(f.breaches, op.String()+" while a watch goes on")
	}
	f.busy = true
	f.mu.Unlock()
	return f.fail(op)
}

func (f *fakePoller) finish() {
	f.mu.Lock()
	f.busy = false
	f.mu.Unlock()
}

func (f *fakePoller) Add(fd int, events eventloop.IOEvents, tag uint32) error {
	op := opAdd
	if f.loop != nil && f.loop.OnLoop() {
		op = opAddAgain
	}
	if err := f.fail(op); err != nil {
		return err
	}
	return f.real.Add(fd, events, tag)
}

func (f *fakePoller) Modify(fd int, old, events eventloop.IOEvents, tag uint32) error {
	if err := f.fail(opModify); err != nil {
		return err
	}
	return f.real.Modify(fd, old, events, tag)
}

func (f *fakePoller) Remove(fd int, events eventloop.IOEvents) error {
	if err := f.fail(opRemove); err != nil {
		return err
	}
	return f.real.Remove(fd, events)
}

func (f *fakePoller) Wait(timeout time.Duration) ([]poller.Event, error) {
	defer f.finish()
	if err := f.begin(opWait, timeout != 0); err != nil {
		return nil, err
	}
	if timeout != 0 {
		f.blocking.Add(1)
		if f.early != nil {
			if cut, is := f.early(timeout); is {
				_, err := f.real.Wait(cut) // what it finds will be there for the next one
				return nil, err
			}
		}
	}
	return f.real.Wait(timeout)
}

func (p parkingPoller) Park() ([]poller.Event, error) {
	defer p.finish()
	if err := p.begin(opPark, true); err != nil {
		return nil, err
	}
	if p.early != nil {
		if _, is := p.early(-1); is {
			return nil, nil
		}
	}
	return p.parker.Park()
}

func (f *fakePoller) Watch(notify func(error)) (func(), error) {
	defer f.finish()
	if err := f.begin(opWatch, true); err != nil {
		return nil, err
	}
	var over atomic.Bool
	stop, err := f.real.Watch(func(err error) {
		if over.Load() {
			return // the error was the last
		}
		if err == nil {
			err = f.fail(opNotify)
		}
		if err == nil && f.mute.Load() {
			return
		}
		over.Store(err != nil)
		notify(err)
	})
	if err != nil {
		return nil, err
	}
	f.watch(true)
	return func() {
		stop()
		f.watch(false)
	}, nil
}

func (f *fakePoller) watch(on bool) {
	f.mu.Lock()
	f.watching = on
	f.mu.Unlock()
}

func (f *fakePoller) Wake() error {
	if err := f.fail(opWake); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.closed {
			return eventloop.ErrPollerClosed
		}
		return err
	}
	if f.waking != nil {
		f.waking()
	}
	return f.real.Wake()
}

func (f *fakePoller) Reset() error {
	defer f.finish()
	if err := f.begin(opReset, true); err != nil {
		return err
	}
	return f.real.Reset()
}

// Close has closed, also when it reports an error.
func (f *fakePoller) Close() error {
	defer f.finish()
	err := f.begin(opClose, true)
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	return errors.Join(err, f.real.Close())
}

// asks counts the calls by which the loop looks for events.
func (f *fakePoller) asks() int64 { return f.calls[opWait].Load() + f.calls[opPark].Load() }

// journal is a logger that remembers, and then does what a test has it do.
type journal struct {
	mu    sync.Mutex
	lines []string
	then  func()
}

func (*journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler     { return j }
func (j *journal) WithGroup(string) slog.Handler          { return j }
func (j *journal) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += fmt.Sprintf(" %v", a.Value); return true })
	j.mu.Lock()
	j.lines = append(j.lines, line)
	j.mu.Unlock()
	if j.then != nil {
		j.then()
	}
	return nil
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprintf("%q", j.lines)
}

// count tells how many lines have all the words.
func (j *journal) count(words ...string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range j.lines {
		found := 0
		for _, w := range words {
			if strings.Contains(line, w) {
				found++
			}
		}
		if found == len(words) {
			n++
		}
	}
	return n
}

// reaches waits until something is so, and tells whether it came to be. It looks without pause at first, and then it is
// in no haste: others may be waiting beside it.
func reaches(is func() bool) bool {
	for range 50 {
		if is() {
			return true
		}
		runtime.Gosched()
	}
	return beat.Until(is)
}

func eventually(t testing.TB, is func() bool, what string, args ...any) {
	t.Helper()
	if !reaches(is) {
		t.Fatalf("%s; all goroutines:\n%s", fmt.Sprintf(what, args...), beat.Stacks())
	}
}

func asleep(l *eventloop.Loop) func() bool {
	return func() bool { return l.State() == eventloop.StateSleeping }
}

// rest waits until loops sleep, as each does at once when it has nothing to do.
func rest(loops ...*eventloop.Loop) {
	for _, l := range loops {
		for !asleep(l)() {
			runtime.Gosched()
		}
	}
}

// undisturbed makes a check a few times, until it is passed. It is for checks that the system may disturb: it may take the
// processor away at any moment, for longer than the scheduler lets a goroutine run, and so let others run.
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

// run runs a loop under observation until the test ends.
func run(t *testing.T, f *fakePoller, opts ...eventloop.Option) *eventloop.Loop {
	t.Helper()
	l := made(t, append(opts, eventloop.WithPoller(f.open), eventloop.WithLogger(slog.New(&journal{})))...)
	go l.Run(context.Background())
	t.Cleanup(func() {
		if err := l.Shutdown(context.Background()); !errors.Is(err, eventloop.ErrLoopTerminated) {
			require.NoError(t, err)
		}
		require.Empty(t, f.breaches)
	})
	return l
}

// echo registers a descriptor whose callback reads, and returns what makes it ready and waits for that.
func echo(t *testing.T, l *eventloop.Loop) (exchange func()) {
	t.Helper()
	far, arrived := ring(t, l)
	return func() {
		send(far, 1)
		beat.Receive(t, arrived, "an event")
	}
}

// ring registers a descriptor whose callback tells that something could be read of what was sent to the far one.
func ring(t *testing.T, l *eventloop.Loop) (far int, arrived <-chan struct{}) {
	t.Helper()
	near, far := newPair(t)
	bell := make(chan struct{}, 1)
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {
		if n, _ := receive(near); n > 0 {
			bell <- struct{}{}
		}
	}))
	return far, bell
}

// quiet expects that the loop stops asking. One quiet moment is enough.
func quiet(t *testing.T, f *fakePoller, what string) {
	t.Helper()
	moment := time.Duration(scale(10, 30, 30)) * time.Millisecond
	beat.Eventually(t, func() bool {
		before := f.asks() + f.calls[opReset].Load() + f.calls[opWatch].Load()
		time.Sleep(moment)
		return f.asks()+f.calls[opReset].Load()+f.calls[opWatch].Load() == before
	}, "the loop stops asking for events: "+what)
}

// spins tells that the loop goes round and round, and how: it asks more than a few times in each millisecond in which it may try again.
func (f *fakePoller) spins() string {
	const perMillisecond = 20
	begin, before := time.Now(), f.asks()
	time.Sleep(3 * time.Millisecond)
	asks := f.asks() - before
	took := time.Since(begin)
	if asks <= 100+perMillisecond*took.Milliseconds() {
		return ""
	}
	return fmt.Sprintf("the loop asked %d times in %v", asks, took)
}

// failer is what says that a test fails: a testing.T, or failures where the failure is what is tested.
type failer interface {
	Errorf(format string, args ...any)
}

type failures []string

func (c *failures) Errorf(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}
