package loopapi_test

// Tests of the vocabulary.

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Sets of events, states and tiers print as words, wherever something is printed.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{loopapi.IOEvents(0), "none"},
		{loopapi.EventRead, "read"},
		{loopapi.EventWrite, "write"},
		{loopapi.EventError, "error"},
		{loopapi.EventHangup, "hangup"},
		{loopapi.EventRead | loopapi.EventWrite, "read|write"},
		{loopapi.EventHangup | loopapi.EventError | loopapi.EventWrite | loopapi.EventRead, "read|write|error|hangup"},
		{loopapi.IOEvents(1 << 4), "0x10"},
		{loopapi.EventWrite | 1<<31 | 1<<4, "write|0x80000010"},
		{loopapi.StateAwake, "awake"},
		{loopapi.StateTerminated, "terminated"},
		{loopapi.StateSleeping, "sleeping"},
		{loopapi.State(3), "State(3)"},
		{loopapi.StateRunning, "running"},
		{loopapi.StateTerminating, "terminating"},
		{loopapi.State(7), "State(7)"},
		{loopapi.State(-1), "State(-1)"},
		{loopapi.TimerNormal, "normal"},
		{loopapi.TimerCritical, "critical"},
		{loopapi.TimerBackground, "background"},
		{loopapi.TimerTier(3), "TimerTier(3)"},
	} {
		if got := fmt.Sprint(c.value); got != c.want {
			t.Errorf("%d prints as %q, want %q", c.value, got, c.want)
		}
		var line strings.Builder
		slog.New(slog.NewTextHandler(&line, nil)).Info("", "it", c.value)
		if !strings.HasSuffix(line.String(), " it="+c.want+"\n") {
			t.Errorf("%d is logged as %q, want %q", c.value, line.String(), c.want)
		}
	}
}

// mute is an error that panics with itself when its text is asked for. Package fmt then panics, too.
type mute struct{}

func (m mute) Error() string { panic(m) }

// counter counts how often its text was asked for.
type counter struct{ n *int }

func (c *counter) Error() string { *c.n++; return "counted" }

// An error tells once whose it is, however often it was wrapped, and is found in what wraps it.
func TestErrorTexts(t *testing.T) {
	foreign := &fs.PathError{Op: "watch", Path: "a", Err: errors.New("no room")}
	for _, c := range []struct {
		err  error
		is   error
		want string
	}{
		{loopapi.ErrFDAlreadyRegistered, loopapi.ErrFDAlreadyRegistered, "eventloop: descriptor already registered"},
		{loopapi.Wrap(loopapi.ErrFDAlreadyRegistered, "register descriptor %d", 5), loopapi.ErrFDAlreadyRegistered,
			"eventloop: register descriptor 5: descriptor already registered"},
		{loopapi.Wrap(loopapi.Wrap(loopapi.ErrPollerClosed, "wait"), "run"), loopapi.ErrPollerClosed,
			"eventloop: run: wait: poller closed"},
		{loopapi.Wrap(foreign, "register descriptor %d", 5), foreign, "eventloop: register descriptor 5: watch a: no room"},
		{&loopapi.PanicError{Value: loopapi.ErrGoexit}, loopapi.ErrGoexit,
			"eventloop: callback panicked: callback called runtime.Goexit"},
		{&loopapi.PanicError{Value: foreign}, foreign, "eventloop: callback panicked: watch a: no room"},
		{&loopapi.PanicError{Value: 7}, nil, "eventloop: callback panicked: 7"},
		{&loopapi.PanicError{}, nil, "eventloop: callback panicked: <nil>"},
		{&loopapi.PanicError{Value: "a\r\nb"}, nil, `eventloop: callback panicked: a\r\nb`},
		{&loopapi.PanicError{Value: mute{}}, mute{}, "eventloop: callback panicked: loopapi_test.mute, whose text panics"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("%q is not found in %q", c.is, c.err)
		}
	}
	asked := 0
	err := loopapi.Errorf("eventloop: attempt %d: %v; %v", 3, &counter{&asked}, foreign)
	if asked != 0 {
		t.Error("a text is made before somebody wants it")
	}
	if got, want := err.Error(), "eventloop: attempt 3: counted; watch a: no room"; got != want || asked != 1 || !errors.Is(err, foreign) {
		t.Errorf("%q, asked %d times, want %q", got, asked, want)
	}
	if got, want := loopapi.Errorf("attempt %d: %v", 3, mute{}).Error(), "attempt 3: loopapi_test.mute, whose text panics"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var path *fs.PathError
	if err := loopapi.Wrap(foreign, "register"); !errors.As(err, &path) || path != foreign {
		t.Errorf("the system's error is not found in %q", err)
	}
}

// A constructor that fails makes no loop: an interface that holds a nil one would look like one.
func TestNewOf(t *testing.T) {
	type loop struct{ loopapi.EventLoop }
	refused := errors.New("refused")
	for _, want := range []error{nil, refused} {
		made := &loop{}
		if want != nil {
			made = nil
		}
		got, err := loopapi.NewOf(func(loopapi.Config) (*loop, error) { return made, want })(loopapi.Config{})
		if err != want || (got != nil) != (want == nil) {
			t.Errorf("of %v and %v come %v and %v", made, want, got, err)
		}
	}
}

// A panic that was caught before goes on as the report that was made of it then; any other is reported with its own value and stack.
func TestFaultOf(t *testing.T) {
	caught := &loopapi.PanicError{Value: "caught"}
	for _, value := range []any{caught, loopapi.Fault{PanicError: caught, Threadlet: 7}} {
		if f := loopapi.FaultOf(value); f.PanicError != caught {
			t.Errorf("%#v is reported as %#v", value, f)
		}
	}
	for _, value := range []any{"value", nil, (*loopapi.PanicError)(nil)} {
		if f := loopapi.FaultOf(value); f.PanicError == nil || f.Value != value || len(f.Stack) == 0 || f.Threadlet != 0 {
			t.Errorf("%#v is reported as %#v", value, f)
		}
	}
}
