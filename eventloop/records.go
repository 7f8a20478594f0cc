package eventloop

// Log records: their attributes. Each has the loop's id; "kind" is as in Activity, and "id" is that of the timer,
// descriptor or threadlet.

import (
	"log/slog"

	"github.com/turnloop/turnloop/internal/observe"
)

// attributes returns the attributes of a record about a callback. Only the loop calls it.
func (l *Loop) attributes(of call) []any {
	as := []any{"kind", of.kind.String()}
	switch of.kind {
	case observe.Timer, observe.Threadlet, observe.Descriptor:
		as = append(as, "id", of.id)
	}
	if l.debug && of.kind != observe.Handler {
		if from := l.probe.Place(); from != nil {
			as = append(as, "from", from.String())
		}
	}
	return as
}

// queued returns how many functions of an urgent lane wait, including those that the loop has taken. Only the loop
// calls it.
func (l *Loop) queued(at lane) int {
	b := l.inboxOf(at)
	l.lock(&b.Lock)
	n := b.Len()
	b.Unlock()
	if at == internal {
		return n + l.internals.Len()
	}
	return n + l.micro.Len() + l.ticks.Len()
}

// LogValue makes slog log an Activity as a group: kind, and name, detail and since where they are set.
func (a Activity) LogValue() slog.Value {
	as := []slog.Attr{slog.String("kind", a.Kind)}
	if a.Name != "" {
		as = append(as, slog.String("name", a.Name))
	}
	if a.Detail != "" {
		as = append(as, slog.String("detail", a.Detail))
	}
	if !a.Since.IsZero() {
		as = append(as, slog.Time("since", a.Since))
	}
	return slog.GroupValue(as...)
}

// LogValue makes slog log a Stall as a group: loop, kind, running, ended, stack, and from and hint if they are known.
func (s Stall) LogValue() slog.Value {
	as := []slog.Attr{slog.Uint64("loop", s.Loop), slog.String("kind", s.Kind), slog.Duration("running", s.Running),
		slog.Bool("ended", s.Ended), slog.String("stack", string(s.Stack))}
	if s.From != "" {
		as = append(as, slog.String("from", s.From))
	}
	if s.Hint != "" {
		as = append(as, slog.String("hint", s.Hint))
	}
	return slog.GroupValue(as...)
}
