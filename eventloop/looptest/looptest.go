// Package looptest is the conformance kit for event loops. Run checks a loop against the requirements of
// docs/requirements.md in one named sub-test per requirement; a failure states the rule and why it matters.
//
// To check a loop of your own, call Run from one of your tests:
//
//	func TestConformance(t *testing.T) {
//		looptest.Run(t, func(cfg looptest.Config) (looptest.EventLoop, error) {
//			if cfg.QueueLimit != 0 {
//				return nil, errors.ErrUnsupported // the checks that need it are reported as n/a
//			}
//			return myloop.New(myloop.WithOverload(cfg.OnOverload), ...)
//		}, looptest.Name("myloop"))
//	}
//
// The loop must have the five methods of EventLoop. The kit discovers its other capabilities by type assertion to
// [MicrotaskScheduler] and the interfaces beside it. A check that needs a missing capability is skipped as "n/a". Diverges declares a check that the loop is known to fail; that check is skipped with the declared
// reason. The suite fails when a check passes although it is declared, so that the declarations stay true. The checks of
// the gate (Check.Gate) cannot be declared.
//
// Each sub-test is called impl=NAME/CHECK. It writes two attributes to the output of go test -v, for reports:
// "outcome" (pass, fail, n/a or diverges) and "reason" (one line, empty for a pass).
//
// # On a busy machine
//
// Run is made for continuous integration, where the machine is always busy: no verdict of it rests on a duration. Its
// checks look at order, at counts, at virtual time, and at whether something comes at all. What does not come is given up
// after 3000 beats, in which none of the check's waits has ended: a beat is a goroutine of the same process that sleeps for
// 10 ms and hands over a token, so a process that gets no processor waits longer. After the first wait in vain the others
// are worth fewer beats, as the loop has failed by then, and so are those of checks that are declared as failing.
//
// How late a loop is, and what it costs at rest, is asked by RunLiveness. Its verdicts compare the loop with what the Go
// runtime offers, measured at the same moment, and a bad one is tried again; keep the machine quiet for it all the same.
//
// Checks run one after the other, each on loops of its own. Every loop has ended before the next check begins.
// Checks of allocation and of leaks measure the whole process: do not run other tests in parallel with the suite.
package looptest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// EventLoop is the interface of the loops that a Factory makes: Run(ctx) error, Shutdown(ctx) error, Submit(fn func()) error,
// SubmitInternal(fn func()) error, Close() error.
type EventLoop = loopapi.EventLoop

// The capabilities. A check finds them by type assertion; eventloop.Loop has them all.
type (
	MicrotaskScheduler = loopapi.MicrotaskScheduler // ScheduleMicrotask(fn func()) error
	TimerScheduler     = loopapi.TimerScheduler     // ScheduleTimer(time.Duration, func()) (TimerID, error), CancelTimer(TimerID) error
	TierScheduler      = loopapi.TierScheduler      // ScheduleTimerAs(TimerTier, time.Duration, func()) (TimerID, error)
	TimerReferencer    = loopapi.TimerReferencer    // RefTimer and UnrefTimer, both (TimerID) error
	FDRegistrar        = loopapi.FDRegistrar        // RegisterFD(int, IOEvents, func(IOEvents)) error; ModifyFD, UnregisterFD
	StateReporter      = loopapi.StateReporter      // State() State
	Completer          = loopapi.Completer          // Done() <-chan struct{}
	OwnerReporter      = loopapi.OwnerReporter      // OnLoop() bool
	Clock              = loopapi.Clock              // CurrentTickTime() time.Time
	Holder             = loopapi.Holder             // Hold() (release func())
)

// Config is the configuration that a check wants for its loop. A zero value means the loop's own default. A
// factory that ignores a field fails the check that sets it. The fields are:
//
//	AutoExit        bool                        // Run returns when nothing can happen any more
//	QueueLimit      int                         // external tasks that wait before Submit is refused
//	TickBudget      int                         // external tasks per tick
//	MicrotaskBudget int                         // microtasks per drain
//	OnOverload      func(error)                 // overload, microtask budget and runaway reports
//	OnPanic         func(*eventloop.PanicError) // called on the loop for each callback that panicked or exited
//
// The method IsZero reports whether all fields are zero.
type Config = loopapi.Config

// Factory makes a fresh loop. It returns an error that wraps errors.ErrUnsupported when the loop does not support cfg;
// the check is then reported as not applicable instead of failed. With VirtualTime it is called inside the synctest
// bubble, where it must make all channels and timers of the loop.
type Factory func(cfg Config) (EventLoop, error)

// Entry is a contestant of a tournament: its name, its factory, and the options that Hold passes to Run.
type Entry = loopapi.Entry

// Hold calls Run for an entry of a tournament, with the entry's name, time and divergences as options.
func Hold(t *testing.T, e Entry, opts ...Option) { Run(t, e.New, append(options(e), opts...)...) }

// HoldLiveness calls RunLiveness as Hold calls Run. Without the environment variable TURNLOOP_LIVENESS it skips the test.
func HoldLiveness(t *testing.T, e Entry, opts ...Option) {
	if os.Getenv("TURNLOOP_LIVENESS") == "" {
		t.Skip(`it compares times: "make liveness" runs it`)
	}
	RunLiveness(t, e.New, append(options(e), opts...)...)
}

func options(e Entry) []Option {
	opts := []Option{Name(e.Name)}
	if e.VirtualTime {
		opts = append(opts, VirtualTime())
	}
	for check, reason := range e.Divergences {
		opts = append(opts, Diverges(check, reason))
	}
	for check, reason := range e.MayDiverge {
		opts = append(opts, MayDiverge(check, reason))
	}
	return opts
}

// Option adjusts Run and RunLiveness.
type Option func(*suite)

// Name sets the contestant's name in the sub-tests: impl=NAME/D03_LostWakeup.
func Name(name string) Option { return func(s *suite) { s.name = name } }

// VirtualTime declares that the loop parks on channels only. Checks of time then run in a testing/synctest bubble, where
// they are exact. Without it, what only virtual time can decide is reported as n/a, and the rest runs in real time.
func VirtualTime() Option { return func(s *suite) { s.virtual = true } }

// Diverges declares that the loop is known to fail a check, and why. The check still runs: the suite fails when the
// check passes, so that the list of divergences stays true. A declaration does not count for a check of the gate.
func Diverges(check, reason string) Option {
	return func(s *suite) { s.diverges[check] = divergence{reason: reason} }
}

// MayDiverge declares that the loop sometimes fails a check, and why: it may lose a race. Unlike Diverges it accepts a
// pass, so use it only where the failure cannot be provoked at will.
func MayDiverge(check, reason string) Option {
	return func(s *suite) { s.diverges[check] = divergence{reason: reason, sometimes: true} }
}

// Modes passes the function that sets the loop's fast path mode. Programs of random operations call it with 0 for
// automatic, 1 for forced (incompatible with descriptors), and 2 for disabled.
func Modes(set func(loop EventLoop, mode int) error) Option {
	return func(s *suite) { s.setMode = set }
}

// Check describes one requirement of the suite.
type Check struct {
	Name string // the sub-test's name, such as D03_LostWakeup
	Rule string // what is required, and why it matters

	// Gate is not empty for a check without which a loop is no loop: "order", "conservation", "one goroutine" or "end". Who
	// does not pass one of these is not to be ranked. A divergence that is declared for it does not count: the outcome is fail.
	Gate string

	Liveness bool // asked by RunLiveness, and not by Run
}

// Checks lists the requirements in the order in which Run, and then RunLiveness, checks them. A run whose output does not
// have all of Run's has been cut short: the loop has taken the process down.
func Checks() []Check {
	var list []Check
	for i, table := range [][]check{checks, liveness} {
		for _, c := range table {
			list = append(list, Check{c.name, c.rule, gate[c.name], i == 1})
		}
	}
	return list
}

type divergence struct {
	reason    string
	sometimes bool
}

type suite struct {
	name     string
	virtual  bool
	diverges map[string]divergence
	factory  Factory
	setMode  func(loop EventLoop, mode int) error
	has      need // the contestant's capabilities
	beats    int  // what a wait for something that must happen is worth
	vain     int  // beats of all waits in vain so far
}

// Run runs every check but those of RunLiveness, each as a sub-test of t, against loops made by factory.
func Run(t *testing.T, factory Factory, opts ...Option) { newSuite(t, factory, opts).run(t, checks) }

// RunLiveness runs the checks of how late loops are and what they cost at rest, each as a sub-test of t. It takes about a
// minute. The process must not do anything else meanwhile, and the machine should not.
func RunLiveness(t *testing.T, factory Factory, opts ...Option) {
	newSuite(t, factory, opts).run(t, liveness)
}

func (s *suite) run(t *testing.T, table []check) {
	for name := range s.diverges {
		if !slices.ContainsFunc(Checks(), func(c Check) bool { return c.Name == name }) {
			t.Errorf("a divergence is declared for the check %q, which does not exist", name)
		}
	}
	t.Run("impl="+s.name, func(t *testing.T) {
		for i := range table {
			t.Run(table[i].name, func(t *testing.T) { s.report(t, &table[i]) })
		}
	})
}

func newSuite(t testing.TB, factory Factory, opts []Option) *suite {
	s := &suite{name: "loop", factory: factory, diverges: map[string]divergence{}, beats: beat.Beats}
	for _, o := range opts {
		o(s)
	}
	specimen, err := factory(Config{})
	if err != nil {
		t.Fatalf("the factory cannot make a loop with an empty Config: %v", err)
	}
	s.has = wrap(specimen).has
	if err := specimen.Close(); err != nil {
		t.Errorf("Close of a new loop: %v", err)
	}
	return s
}

// report runs one check and turns its verdict into the result and the attributes of the sub-test t.
func (s *suite) report(t *testing.T, c *check) {
	v := s.runCheck(t, c)
	t.Attr("outcome", v.outcome)
	t.Attr("reason", oneLine(v.reason))
	switch v.outcome {
	case outcomeFail:
		t.Errorf("%s\nThe rule: %s", v.reason, c.rule)
	case outcomeNA, outcomeDiverges:
		t.Skipf("%s: %s", v.outcome, v.reason)
	}
}

// The outcomes, as the attribute of a sub-test spells them.
const (
	outcomePass     = "pass"
	outcomeFail     = "fail"
	outcomeNA       = "n/a"
	outcomeDiverges = "diverges"
)

type verdict struct{ outcome, reason string }

// runCheck runs one check and compares its result with the declared divergences.
func (s *suite) runCheck(t *testing.T, c *check) verdict {
	if missing := c.needs &^ s.has; missing != 0 {
		return verdict{outcomeNA, "no " + missing.String()}
	}
	if c.needs&needFDs != 0 && !canOpen {
		return verdict{outcomeNA, "the kit cannot make descriptors on this system"}
	}
	d, declared := s.diverges[c.name]
	beats := s.beats
	if declared && !d.sometimes && gate[c.name] == "" {
		beats = min(beats, hurried)
	}
	v, vain := s.try(t, c, beats)
	if vain && v.outcome == outcomeFail {
		s.vain += beats
		if !declared {
			s.beats = min(s.beats, hurried)
		}
	}
	switch {
	case !declared || v.outcome == outcomeNA:
		return v
	case v.outcome == outcomeFail && gate[c.name] != "":
		return verdict{outcomeFail, v.reason + "\nThat it diverges is declared (" + d.reason + "), which does not count: " +
			gate[c.name] + " is of the gate"}
	case v.outcome == outcomeFail:
		return verdict{outcomeDiverges, d.reason}
	case d.sometimes:
		return v
	}
	return verdict{outcomeFail, "the check passes although a divergence is declared (" + d.reason + "): take it off the list"}
}

// hurried is what waits are worth that are expected to be in vain: of a declared divergence, and of a loop that has failed by a
// wait in vain. The remaining checks only list its other failures, and each would take half a minute.
const hurried = 50

func oneLine(s string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimRight(first, "\r")
}
