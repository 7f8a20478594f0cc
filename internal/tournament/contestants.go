// Package tournament holds event loops to the same conformance suite and the same benchmarks. Command tournament
// (cmd/tournament) runs the benchmarks and judges; this package knows who competes, what is measured and why.
package tournament

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/gojabaseline"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Contestant is one competitor, or one control to measure the competitors by.
type Contestant struct {
	Name       string // as in reports and in impl=NAME
	Package    string // import path below the module
	Philosophy string // one line
	Note       string // what to know about all its figures
	Ranked     bool   // false for controls
	Bounded    bool   // Submit blocks while the queue is full, so nothing that piles up work can be asked of it

	// New makes a loop. It is nil for a control that is not a loop; the benchmarks it serves know it by name.
	New looptest.Factory

	Divergences map[string]string // check of the conformance kit -> why this contestant is known not to meet it
	MayDiverge  map[string]string // the same for checks that it fails only when it loses a race
	VirtualTime bool              // parks on channels only, so that checks of time may run in a testing/synctest bubble
}

// Contestants returns everyone, in the order of reports.
func Contestants() []Contestant {
	return []Contestant{
		{
			Name:        "main",
			Package:     "eventloop",
			Philosophy:  "production: as fast as the fastest, as safe as the safest, and simple",
			Ranked:      true,
			New:         newMain,
			VirtualTime: true,
		},
		{
			Name:        "alternateone",
			Package:     "internal/alternateone",
			Philosophy:  "safety first: one lock, every invariant checked at run time, rich errors",
			Ranked:      true,
			New:         factory(func(cfg loopapi.Config) (*alternateone.Loop, error) { return alternateone.New(cfg) }),
			Divergences: alternateone.Divergences(),
			MayDiverge:  alternateone.MayDiverge(),
		},
		{
			Name:        "alternatetwo",
			Package:     "internal/alternatetwo",
			Philosophy:  "maximum performance: lock-free, zero allocation, minimal validation",
			Ranked:      true,
			New:         factory(func(cfg loopapi.Config) (*alternatetwo.Loop, error) { return alternatetwo.New(cfg) }),
			Divergences: alternatetwo.Divergences(),
			MayDiverge:  alternatetwo.MayDiverge(),
		},
		{
			Name:        "alternatethree",
			Package:     "internal/alternatethree",
			Philosophy:  "balanced: mutexes and RWMutex, full error handling, easy to read",
			Ranked:      true,
			New:         factory(func(cfg loopapi.Config) (*alternatethree.Loop, error) { return alternatethree.New(cfg) }),
			Divergences: alternatethree.Divergences(),
			MayDiverge:  alternatethree.MayDiverge(),
		},
		{
			Name:       "baseline",
			Package:    "internal/gojabaseline",
			Philosophy: "the outside reference: github.com/dop251/goja_nodejs/eventloop behind the interface",
			Note: "goja_nodejs takes func(*goja.Runtime), so the interface's func() costs a closure per task, one of the two " +
				"allocations that it shows. BenchmarkAdapter in internal/gojabaseline measures what that takes.",
			Ranked:      true,
			New:         newBaseline,
			Divergences: gojabaseline.Divergences(),
			MayDiverge:  gojabaseline.MayDiverge(),
			VirtualTime: true,
		},
		{
			Name:        "channel",
			Package:     "internal/tournament",
			Philosophy:  "control: a goroutine that ranges over a buffered chan func()",
			Bounded:     true,
			New:         newChannel,
			VirtualTime: true,
		},
		{
			Name:       RuntimeControl,
			Package:    "time",
			Philosophy: "control for timers: time.AfterFunc and Timer.Stop, without any loop",
		},
		{
			Name:       SocketControl,
			Package:    "os",
			Philosophy: "control for descriptors: a goroutine that blocks in Read and Write of an os.File, without any loop",
		},
		{
			Name:       BlockingControl,
			Package:    "internal/tournament",
			Philosophy: "control for descriptors: a loop as one is usually written, which blocks in the system's poller when it has nothing to do",
			Note: "the rivals block there too, but look out for more work for a while before, so that what comes at once finds them " +
				"awake. This one does not.",
		},
		{
			Name:       NetControl,
			Package:    "net",
			Philosophy: "control for servers: a goroutine per connection that blocks in Read and Write of a net.Conn, without any loop",
			Note: "its goroutines run on all processors, where a loop serves from one. With few processors the client needs one of " +
				"them, so this is little of an advantage; with many it is more.",
		},
		{
			Name:       GnetControl,
			Package:    "github.com/panjf2000/gnet/v2",
			Philosophy: "control for servers: gnet, a framework of event loops over epoll or kqueue",
			Note: "runs one event loop (WithMulticore(false), WithNumEventLoop(1)), which accepts and serves, as a contestant's one loop " +
				"does. It can run more of them.",
		},
		{
			Name:       GojaControl,
			Package:    "github.com/dop251/goja",
			Philosophy: "control for promises: goja's, and goja_nodejs' timeouts, in a program in JavaScript on baseline's loop",
			Note: "its figures are an interpreter's, which is what such a program pays, and not those of the loop below " +
				"alone: so they do not count as baseline's.",
		},
		{
			Name:       GoroutineControl,
			Package:    "internal/tournament",
			Philosophy: "control for Promisify: a goroutine that sends its result over a channel to the one that waits for it",
			Note:       "each call has a channel of its own, as each call of Promisify has a promise.",
		},
	}
}

// The names of the controls that stand for what Go itself and others offer.
const (
	RuntimeControl   = "runtime"   // timers
	SocketControl    = "netpair"   // descriptors
	BlockingControl  = "blocking"  // descriptors
	NetControl       = "net"       // servers
	GnetControl      = "gnet"      // servers
	GojaControl      = "goja"      // promises
	GoroutineControl = "goroutine" // promises
)

// factory makes a looptest.Factory of a rival's New.
func factory[L looptest.EventLoop](create func(loopapi.Config) (L, error)) looptest.Factory {
	return func(cfg looptest.Config) (looptest.EventLoop, error) {
		loop, err := create(cfg)
		if err != nil {
			return nil, err // and not an interface that holds a nil loop
		}
		return loop, nil
	}
}

func newMain(cfg looptest.Config) (looptest.EventLoop, error) {
	options := []eventloop.Option{eventloop.WithAutoExit(cfg.AutoExit)}
	if cfg.QueueLimit != 0 {
		options = append(options, eventloop.WithQueueLimit(cfg.QueueLimit))
	}
	if cfg.TickBudget != 0 {
		options = append(options, eventloop.WithTickBudget(cfg.TickBudget))
	}
	if cfg.MicrotaskBudget != 0 {
		options = append(options, eventloop.WithMicrotaskBudget(cfg.MicrotaskBudget))
	}
	if cfg.OnOverload != nil {
		options = append(options, eventloop.WithOnOverload(cfg.OnOverload))
	}
	if cfg.OnPanic != nil {
		options = append(options, eventloop.WithPanicHandler(cfg.OnPanic))
	}
	return eventloop.New(options...)
}

func newBaseline(cfg looptest.Config) (looptest.EventLoop, error) {
	if err := refuse(cfg, "goja_nodejs"); err != nil {
		return nil, err
	}
	return gojabaseline.New(), nil
}

// Goja is the control of that name as a loop, a *gojabaseline.Loop. It takes part where programs in JavaScript can.
func Goja() Contestant { return Contestant{Name: GojaControl, New: newBaseline} }

// refuse is for loops without options: it names the first thing that cfg asks for.
func refuse(cfg looptest.Config, who string) error {
	for _, option := range []struct {
		asked bool
		name  string
	}{
		{cfg.AutoExit, "auto-exit"},
		{cfg.QueueLimit != 0, "queue limit"},
		{cfg.TickBudget != 0, "tick budget"},
		{cfg.MicrotaskBudget != 0, "microtask budget"},
		{cfg.OnOverload != nil, "overload report"},
		{cfg.OnPanic != nil, "panic report"},
	} {
		if option.asked {
			return fmt.Errorf("%s has no %s: %w", who, option.name, errors.ErrUnsupported)
		}
	}
	return nil
}
