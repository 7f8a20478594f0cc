package eventloop_test

// Why a loop is alive: one model against all who answer that.

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// A reason is something that may keep a loop alive.
type reason struct {
	name  string
	keeps bool
	early bool // may begin before Run
	begin func(t *testing.T, l *eventloop.Loop) (end func())
}

var reasons = []reason{
	{"hold", true, true, func(_ *testing.T, l *eventloop.Loop) func() { return l.Hold() }},
	{"timer", true, true, func(t *testing.T, l *eventloop.Loop) func() {
		id, err := l.ScheduleTimer(time.Hour, func() {})
		require.NoError(t, err)
		return func() { _ = l.CancelTimer(id) }
	}},
	{"unreferenced timer", false, true, func(t *testing.T, l *eventloop.Loop) func() {
		id, err := l.ScheduleTimer(time.Hour, func() {})
		require.NoError(t, err)
		require.NoError(t, l.UnrefTimer(id))
		return func() { _ = l.CancelTimer(id) }
	}},
	{"worker", true, true, func(t *testing.T, l *eventloop.Loop) func() {
		release := make(chan struct{})
		p := l.Promisify(context.Background(), func(context.Context) (any, error) { <-release; return nil, nil })
		return func() { close(release); _, _ = p.Await(context.Background()) }
	}},
	{"promise that is waited for", false, true, func(_ *testing.T, l *eventloop.Loop) func() {
		p, resolve, _ := l.NewPromise()
		p.ToChannel()
		return func() { resolve(nil) }
	}},
	{"threadlet that waits for a promise", false, false, func(t *testing.T, l *eventloop.Loop) func() {
		p, resolve, _ := promise.New[int](l.Promises())
		_, err := threadlet.Go(l, func() { _, _ = threadlet.Await(p) })
		require.NoError(t, err)
		return func() { resolve(1) }
	}},
	{"connection that nobody waits for", false, false, func(t *testing.T, l *eventloop.Loop) func() {
		c, end := connection(t, l)
		read(t, l, c, true)
		return end
	}},
	{"connection that a threadlet reads", true, false, func(t *testing.T, l *eventloop.Loop) func() {
		c, end := connection(t, l)
		read(t, l, c, false)
		return end
	}},
}

// connection returns a connection of the loop.
func connection(t *testing.T, l *eventloop.Loop) (c net.Conn, end func()) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dialed := make(chan error, 1)
	_, err = threadlet.Go(l, func() {
		var err error
		c, err = threadlet.Dial(context.Background(), "tcp", ln.Addr().String())
		dialed <- err
	})
	require.NoError(t, err)
	require.NoError(t, <-dialed)
	return c, func() { _ = c.Close(); _ = ln.Close() }
}

// read has a threadlet wait for c, which registers it. If the wait is to end, it ends before read returns.
func read(t *testing.T, l *eventloop.Loop, c net.Conn, ends bool) {
	reader, err := threadlet.Go(l, func() { _, _ = c.Read(make([]byte, 1)) })
	require.NoError(t, err)
	waits := func() bool {
		answer := make(chan int, 1)
		_ = l.Submit(func() { answer <- l.Metrics().Descriptors })
		return <-answer > 0
	}
	beat.Eventually(t, waits, "the registration")
	if ends {
		reader.Signal()
		require.NoError(t, reader.Join(context.Background()))
	}
}

// saysAlive asks Alive and Active, and wants one answer.
func saysAlive(t *testing.T, l *eventloop.Loop, want bool, where string) {
	t.Helper()
	is, all := l.Alive(), l.Active()
	if is != want || keeps(all) != want {
		t.Errorf("%s: Alive %v, Active %v, want %v: %v", where, is, keeps(all), want, all)
	}
}

func keeps(all []eventloop.Activity) bool {
	return slices.ContainsFunc(all, func(a eventloop.Activity) bool { return a.Keeps })
}

// Row 87: for sets of reasons, in every state, and from everywhere, Alive and Active say what the model says, and a loop with
// WithAutoExit ends when it says no.
func TestReasonsToStayAlive(t *testing.T) {
	for set := range 1 << len(reasons) {
		if !testing.Short() || set%7 == 0 {
			stayAlive(t, set, false)
			stayAlive(t, set, true)
		}
	}
}

func stayAlive(t *testing.T, set int, exits bool) {
	l := made(t, eventloop.WithAutoExit(exits), eventloop.WithMetrics(set%2 == 0), eventloop.WithLogger(slog.New(slog.DiscardHandler)))
	names := ""
	asked := func(want bool, state string) {
		t.Helper()
		saysAlive(t, l, want, fmt.Sprintf("%s%s; auto-exit %v", state, names, exits))
	}
	// quiet waits until the loop has run everything and sleeps.
	quiet := func() {
		ran := make(chan struct{})
		require.NoError(t, l.Submit(func() { close(ran) }))
		beat.Receive(t, ran, "a task"+names)
		beat.Eventually(t, func() bool { return l.State() == eventloop.StateSleeping }, "sleep"+names)
	}
	asked(false, "new")
	var begun []reason
	var ends []func()
	keeping := 0
	begin := func(early bool) {
		for i, r := range reasons {
			if set&(1<<i) == 0 || r.early != early {
				continue
			}
			names += ", " + r.name
			if ends, begun = append(ends, r.begin(t, l)), append(begun, r); r.keeps {
				keeping++
			}
			if early {
				asked(keeping != 0, "not running")
			}
		}
	}
	begin(true)
	release := l.Hold()
	go l.Run(context.Background())
	begin(false)
	quiet()
	asked(true, "held")
	release()
	for i := 0; !exits || keeping != 0; i++ {
		quiet()
		// A wake-up that found no work may still be under way: that tick counts as a reason while it lasts.
		if !beat.Until(func() bool { is, all := l.Alive(), l.Active(); return is == keeps(all) && is == (keeping != 0) }) {
			asked(keeping != 0, "asleep")
		}
		asks, blocked, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
		require.NoError(t, l.Submit(func() { asked(keeping != 0, "inside"); close(asks) }))
		beat.Receive(t, asks, "a task"+names)
		last := i == len(ends) // only of a loop that does not exit by itself
		require.NoError(t, l.Submit(func() {
			if last {
				end := map[bool]func() error{true: l.Close, false: func() error { return l.Shutdown(context.Background()) }}
				_ = end[set%2 == 0]()
				asked(true, "ending, inside")
			}
			close(blocked)
			<-goOn
		}))
		beat.Receive(t, blocked, "a task"+names)
		asked(true, "running or ending")
		if last {
			close(goOn)
			break
		}
		close(goOn)
		quiet()
		names += " without " + begun[i].name
		if begun[i].keeps {
			keeping--
		}
		ends[i]()
		ends[i] = func() {}
	}
	beat.Receive(t, l.Done(), "the end"+names)
	asked(false, "ended")
	for _, end := range ends {
		end()
	}
}

// The last descriptor that keeps a loop alive is unregistered elsewhere, and one that nobody waits for stays: the loop ends.
func TestLastNeededDescriptor(t *testing.T) {
	for name, unregister := range map[string]func(l *eventloop.Loop, fd int) error{
		"UnregisterFD":     (*eventloop.Loop).UnregisterFD,
		"UnregisterFDThen": func(l *eventloop.Loop, fd int) error { return l.UnregisterFDThen(fd, func() {}) },
	} {
		l := made(t, eventloop.WithAutoExit(true))
		needed, _ := newPair(t)
		require.NoError(t, l.RegisterFD(needed, eventloop.EventRead, func(eventloop.IOEvents) {}))
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		sender, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		defer sender.Close()
		accepted, err := listener.Accept()
		require.NoError(t, err)
		unused, err := threadlet.Wrap(l, accepted)
		require.NoError(t, err)
		th, err := threadlet.Go(l, func() {
			_, _ = l.ScheduleTimer(time.Millisecond, func() { _, _ = sender.Write([]byte("x")) })
			_, _ = unused.Read(make([]byte, 1)) // registers it
		})
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- l.Run(context.Background()) }()
		require.NoError(t, th.Join(context.Background()))
		beat.Eventually(t, func() bool { return l.State() == eventloop.StateSleeping }, name+": the sleep")
		require.True(t, l.Alive(), name)
		require.NoError(t, unregister(l, needed), name)
		require.NoError(t, beat.Receive(t, ended, name+": the end"))
	}
}
