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
	Note    string // what to know about all its figures
	Ranked  bool   // false for controls
	Bounded bool   // Submit blocks while the queue is full, so nothing that piles up work can be asked of it

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
	ChannelControl   = "channel"   // tasks
	RuntimeControl   = "runtime"   // timers
	SocketControl    = "netpair"   // descriptors
	BlockingControl  = "blocking"  // descriptors
	NetControl       = "net"       // servers
	GnetControl      = "gnet"      // servers
	RedisControl     = "redis"     // servers
	GojaControl      = "goja"      // promises, scripts
	GoroutineControl = "goroutine" // promises, threadlets
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
	return Contestant{
		Entry: gojabaseline.Entry(), Ranked: true,
		Note: "goja_nodejs takes func(*goja.Runtime), so the interface's func() costs a closure per task, one of the two " +
			"allocations that it shows. BenchmarkAdapter in internal/gojabaseline measures what that takes.",
	}
}

func controls() []Contestant {
	control := func(name, philosophy, note string) Contestant {
		return Contestant{Entry: looptest.Entry{Name: name, Philosophy: philosophy}, Note: note}
	}
	return []Contestant{
		{
			Entry: looptest.Entry{
				Name: ChannelControl, Folder: "internal/tournament",
				Philosophy:  "control: a goroutine that ranges over a buffered chan func()",
				New:         newChannel,
				VirtualTime: true,
			},
			Note: "its buffer has 4096 slots, and 128 where the lives of loops and the memory of idle ones are measured: such a loop holds " +
				"few tasks, and 32 KiB of slots would be all that shows.",
			Bounded: true,
		},
		control(RuntimeControl, "control for timers: time.AfterFunc and Timer.Stop, without any loop", ""),
		control(SocketControl, "control for descriptors: a goroutine that blocks in Read and Write of an os.File, without any loop", ""),
		control(BlockingControl,
			"control for descriptors: a loop as one is usually written, which blocks in the system's poller when it has nothing to do",
			"the rivals block there too, but look out for more work for a while before, so that what comes at once finds them "+
				"awake. This one does not."),
		control(NetControl,
			"control for servers: a goroutine per connection that blocks in Read and Write of a net.Conn, without any loop",
			"its goroutines run on all processors, where a loop serves from one. With few processors the client needs one of "+
				"them, so this is little of an advantage; with many it is more."),
		control(GnetControl, "control for servers: gnet, a framework of event loops over epoll or kqueue",
			"runs one event loop (WithMulticore(false), WithNumEventLoop(1)), which accepts and serves, as a contestant's one loop "+
				"does. It can run more of them. It is a framework, with connections, buffers, and a queue for what a socket does not take at once; "+
				"the contestants' servers are a callback over raw descriptors that has none of these: a message that does not fit into a "+
				"socket's buffer in one piece fails the cell. So this comparison flatters the loops."),
		control(RedisControl, "control for servers: redis-server, as it is installed",
			"it keeps nothing on disk (no snapshots, no append-only file), and has what the server beside it lacks: expiry, eviction, "+
				"a hundred more commands."),
		control(GojaControl, "control for promises and scripts: programs in JavaScript on goja_nodejs' loop, which is baseline's",
			"its figures are an interpreter's, which is what such a program pays, and not those of the loop below "+
				"alone: so they do not count as baseline's."),
		control(GoroutineControl, "control for Promisify and threadlets: goroutines that send over a channel to the one that waits for it",
			"each call beside Promisify has a channel of its own, as each call of that has a promise."),
	}
}

// Goja is the control of that name as a loop, a *gojabaseline.Loop. It takes part where programs in JavaScript can.
func Goja() Contestant {
	c := reference()
	c.Name = GojaControl
	return c
}

// refuse is for loops without options.
func refuse(cfg looptest.Config, who string) error {
	if cfg.IsZero() {
		return nil
	}
	return fmt.Errorf("%s has no options: %w", who, errors.ErrUnsupported)
}
