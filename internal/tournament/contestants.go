// Package tournament holds event loops to the same conformance suite and the same benchmarks. Command tournament
// (cmd/tournament) runs the benchmarks and judges; this package knows who competes, what is measured and why.
package tournament

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/contestants"
	"github.com/turnloop/turnloop/internal/gojabaseline"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// Contestant is one competitor, or one control to measure the competitors by.
type Contestant struct {
	// New is nil for a control that is not a loop, or that takes part in some benchmarks only. Those benchmarks have a function
	// for it, by its name.
	looptest.Entry
	Ranked  bool // false for controls
	Bounded bool // Submit blocks while the queue is full, so nothing that piles up work can be asked of it

	// Program and its arguments are for an entrant in any language that speaks the line protocol (package runner); New is nil then.
	Program []string
}

// A Program is an entrant that speaks the line protocol.
type Program struct {
	Name, Philosophy string
	Args             []string
}

// A Field says who takes part in a tournament, in the order of reports, and in which roles.
type Field struct {
	Contestants []Contestant
	record.Roles
}

// The names of the reference, to which ratios are taken, and of the controls, which are what Go itself and others offer.
const (
	ChannelControl  = "channel"  // tasks
	RuntimeControl  = "runtime"  // timers
	SocketControl   = "netpair"  // descriptors
	BlockingControl = "blocking" // descriptors
	NetControl      = "net"      // servers
	GnetControl     = "gnet"     // servers
)

// Own is the field of this repository: its loops, with the outside reference, and all controls.
func Own() Field {
	var f Field
	for _, entry := range contestants.All() {
		f.Contestants = append(f.Contestants, Contestant{Entry: entry, Ranked: true})
	}
	return f.completed()
}

// With is the field for entries from elsewhere: they, the production loop, the reference and the controls.
func With(entries ...looptest.Entry) Field {
	var f Field
	for _, entry := range append(entries, contestants.All()[0]) {
		f.Contestants = append(f.Contestants, Contestant{Entry: entry, Ranked: true})
	}
	return f.completed()
}

// completed adds the reference and the controls. The first contestant is the subject.
func (f Field) completed() Field {
	f.Contestants = append(f.Contestants, reference())
	f.Contestants = append(f.Contestants, controls()...)
	f.Roles = record.Roles{Subject: f.Contestants[0].Name, Reference: reference().Name, Control: ChannelControl}
	return f
}

// WithPrograms adds entrants in other languages, which are shown beside the ranking.
func (f Field) WithPrograms(programs []Program) (Field, error) {
	f.Contestants = slices.Clip(f.Contestants)
	for _, p := range programs {
		about := cmp.Or(p.Philosophy, "another world: "+strings.Join(p.Args, " "))
		f.Contestants = append(f.Contestants, Contestant{Entry: looptest.Entry{Name: p.Name, Philosophy: about}, Program: p.Args})
	}
	return f, f.Check()
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_.]+(-[A-Za-z0-9_.]*[A-Za-z_.][A-Za-z0-9_.]*)*$`)

// Check tells what is wrong with the field, for those who enter it.
func (f Field) Check() error {
	names := map[string]bool{}
	for _, c := range f.Contestants {
		switch {
		case !validName.MatchString(c.Name) || strings.HasSuffix(c.Name, record.Again):
			return fmt.Errorf("an entry is called %q; a name has letters, digits and dashes, and no number behind a dash", c.Name)
		case names[c.Name]:
			return fmt.Errorf("two contestants are called %q", c.Name)
		case c.Ranked && c.New == nil:
			return fmt.Errorf("entry %q has no New", c.Name)
		}
		names[c.Name] = true
		for _, declared := range []map[string]string{c.Divergences, c.MayDiverge} {
			for check, reason := range declared {
				if !slices.ContainsFunc(looptest.Checks(), func(known looptest.Check) bool { return known.Name == check }) || reason == "" {
					return fmt.Errorf("entry %q declares the divergence %q because of %q; there has to be such a check, and a reason",
						c.Name, check, reason)
				}
			}
		}
	}
	return nil
}

func reference() Contestant {
	return Contestant{Entry: gojabaseline.Entry(), Ranked: true}
}

func controls() []Contestant {
	control := func(name, philosophy string) Contestant {
		return Contestant{Entry: looptest.Entry{Name: name, Philosophy: philosophy}}
	}
	return []Contestant{
		{
			Entry: looptest.Entry{
				Name: ChannelControl, Folder: "internal/tournament",
				Philosophy:  "control: a goroutine that ranges over a buffered chan func()",
				New:         newChannel,
				VirtualTime: true,
			},
			Bounded: true,
		},
		control(RuntimeControl, "control for timers: time.AfterFunc and Timer.Stop, without any loop"),
		control(SocketControl, "control for descriptors: a goroutine that blocks in Read and Write of an os.File, without any loop"),
		// The rivals look out for more work for a while before they block; this one does not.
		control(BlockingControl, "control for descriptors: a loop as one is usually written, which blocks in the system's poller when it has nothing to do"),
		// Its goroutines run on all processors, where a loop serves from one.
		control(NetControl, "control for servers: a goroutine per connection that blocks in Read and Write of a net.Conn, without any loop"),
		// It is a framework, with connections and buffers of its own; the contestants' servers are a callback over raw descriptors.
		control(GnetControl, "control for servers: gnet, a framework of event loops over epoll or kqueue, with one loop"),
	}
}

// refuse is for loops without options.
func refuse(cfg looptest.Config, who string) error {
	if cfg.IsZero() {
		return nil
	}
	return fmt.Errorf("%s has no options: %w", who, errors.ErrUnsupported)
}

// Requirements are the checks of the conformance suite, as far as Conform runs them.
func Requirements() (out []record.Requirement) {
	for _, check := range looptest.Checks() {
		if !check.Liveness {
			out = append(out, record.Requirement{Name: check.Name, Gate: check.Gate != ""})
		}
	}
	return out
}
