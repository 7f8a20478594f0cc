package promise

// The owner: what a loop needs to run its realm.

import "github.com/turnloop/turnloop/internal/place"

// Scheduler is the part of a loop that a realm needs.
type Scheduler interface {
	// ScheduleMicrotask queues fn to run on the loop, behind all that were queued before it. It may be called from any
	// goroutine. An error means that this fn will not run, and that the loop is ending or has ended. An ending loop runs
	// what it has accepted, unless it is closed; calls RejectAll; and may accept a later fn although it has refused one.
	ScheduleMicrotask(fn func()) error
	// OnLoop tells whether the caller runs on the loop.
	OnLoop() bool
}

// Config says how a realm behaves. The zero Config is valid: it reports nothing.
type Config struct {
	// OnUnhandled is called by Checkpoint, on the loop, once for each rejection that has no handler. The error is what
	// the promise was rejected with; with Debug, its text tells where the promise was created. At the end of the loop that
	// is often the error of RejectAll, or wraps it, and then no fault. If it is nil, unhandled rejections are not noted.
	OnUnhandled func(p *Promise, err error)
	// Debug records where each promise is created. Off, it costs nothing; on, it costs a stack trace for each promise.
	Debug bool
}

// Owner is a realm with the methods that run and end it. A loop keeps its owner to itself, and hands out the [Realm] in it: who
// has a Realm can settle the promises of New, each by its own functions, and end none.
type Owner struct{ Realm }

// NewOwner returns the owner of a new realm, whose promises settle on the loop of s.
func NewOwner(s Scheduler, c Config) *Owner {
	o := &Owner{Realm{sched: s, onUnhandled: c.OnUnhandled, debug: c.Debug}}
	o.step = o.runJob
	if told, ok := s.(interface{ HandlerFrom(at *place.Place) }); ok {
		o.handlerFrom = told.HandlerFrom
	}
	if tells, ok := s.(interface{ Here() *place.Place }); ok {
		o.here = tells.Here
	}
	return o
}

// NoticeEnd says that the end was asked for: handlers that are attached from now on may be refused. On the loop.
func (o *Owner) NoticeEnd() { o.ending.Store(true) }

// Begin makes p, a zero Promise that may be part of something else, a pending promise that only Finish settles. That costs
// less than New: its maker holds p and will call Finish, so RejectAll leaves p alone, and p is not registered. Any
// goroutine may call it.
func (o *Owner) Begin(p *Promise) {
	o.init(p)
	p.value = begun{}
}

// Finish settles p, which Begin has returned. If failed is set, result is an error and p is rejected with it; otherwise p is
// resolved with result. It is called once, on the loop.
func (o *Owner) Finish(p *Promise, failed bool, result any) {
	if failed {
		p.settle(rejected, result)
	} else {
		p.resolve(result)
	}
}

// Refused does what Rejected does, for an ending loop that refuses something. Such a rejection is no fault, so it is not
// reported as unhandled, and nothing is queued. Any goroutine may call it.
func (o *Owner) Refused(reason error) *Promise { return o.settled(rejected, reason) }

// begun is the value of a pending promise of Begin. Such a promise waits for no other one, but is no root all the same.
type begun struct{}
