package eventloop

// Records: what a loop logs names whom it speaks of, as attributes. Each has the loop's id; "kind" is as in Activity, and
// "id" says which timer, descriptor or threadlet.

import (
	"log/slog"

	"github.com/turnloop/turnloop/internal/guest"
)

// calling is a callback, as far as the loop knows it without a probe. The loop notes it before each, where it knows it anyway.
type calling struct {
	kind kind
	id   uint64 // of a timer or a threadlet; of a descriptor the tag of its registration
}

// attributes are those of a record that speaks of a callback.
func (l *Loop) attributes(of calling) []any {
	as := []any{"kind", of.kind.String()}
	switch of.kind {
	case aTimer, aThreadlet:
		as = append(as, "id", of.id)
	case aDescriptor:
		if fd, is := l.descriptorOf(uint32(of.id)); is {
			as = append(as, "id", fd)
		}
	}
	if l.debug && of.kind != aHandler {
		if from := l.probe.place.Load(); from != nil {
			as = append(as, "from", from.where())
		}
	}
	return as
}

// queued tells how many functions of an urgent lane wait, those included that the loop has taken. The loop asks.
func (l *Loop) queued(at lane) int {
	u := &l.urgent
	l.lock(&u.spinLock)
	n := u.lane[at&1].len()
	u.Unlock()
	if at == internal {
		return n + l.priority.len()
	}
	return n + l.micro.len() + l.ticks.len()
}

// descriptorOf finds the descriptor of a registration, unless that has ended.
func (l *Loop) descriptorOf(tag uint32) (fd int, is bool) {
	d := &l.fds
	d.mu.Lock()
	defer d.mu.Unlock()
	for fd, its := range d.table {
		if its == tag {
			return fd, true
		}
	}
	return 0, false
}

// blame notes what has ended an attempt. A threadlet says itself which it was.
func (l *Loop) blame(value any) {
	if f, ok := value.(guest.Fault); ok {
		l.calling = calling{aThreadlet, f.Serial}
	}
	l.fault = faultOf(value)
}

// LogValue has an Activity logged as a group: kind, and what there is of name, detail and since.
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

// LogValue has a Stall logged as a group: loop, kind, running, stack, and from if it is known.
func (s Stall) LogValue() slog.Value {
	as := []slog.Attr{slog.Uint64("loop", s.Loop), slog.String("kind", s.Kind), slog.Duration("running", s.Running),
		slog.String("stack", string(s.Stack))}
	if s.From != "" {
		as = append(as, slog.String("from", s.From))
	}
	return slog.GroupValue(as...)
}
