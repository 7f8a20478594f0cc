package eventloop

// Sleep and wake: what the loop looks for before it parks, in package park, and where each kind of work is published.
//
//	work              published by                      verified by
//	any lane          taking its inbox's lock           mayHaveWork
//	an earlier timer  storing earliest                  loading earliest to arm the alarm
//	the alarm         storing alarm.rang                loading alarm.rang to arm it anew
//	a descriptor      storing fds.ready, by the watch   fds.News
//	a mode, a poller  storing fds.changed               fds.News
//	the end           leaving Sleeping for Terminating  the park: this step claims the wake-up,
//	                  or, at rest, adding Close         and its signal ends the park
//	a shared task     storing it                        looking into the queue; a producer looks for a
//	                                                    loop that sleeps, of all that share the queue
//	its last reason   releasing a hold, or a ref'd      asking needed, in an auto-exit loop
//	to stay alive     timer or descriptor, under its lock

import (
	"time"

	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/park"
)

// sleep parks the loop until there may be something to do.
func (l *Loop) sleep() {
	if !l.park.Idle() {
		return
	}
	l.micro.Shrink()
	l.ticks.Shrink()
	for _, b := range l.inboxes() {
		b.CaughtUp()
	}
	l.guest.sleeps()
	if !l.park.Sleep() {
		return
	}
	event := l.fds.Pending()
	if event {
		l.park.Tick.Store(l.now()) // the events that are served next were not ready before
	}
	l.fds.Slept(event)
}

// parkHost is the loop as its sleep sees it.
type parkHost struct{ *Loop }

func (h parkHost) News() bool                   { return h.mayHaveWork() || h.fds.News() }
func (h parkHost) Needed() bool                 { return !h.autoExit || h.needed(h.guest.unneeded(true)) }
func (h parkHost) Blocks() (blocks, timed bool) { return h.fds.Blocks() }
func (h parkHost) Block(timeout time.Duration)  { h.collected(h.fds.Park(h.park.Tick.Load(), timeout)) }
func (h parkHost) Signal() bool                 { return h.fds.Signal() }

func (h parkHost) Note(m park.Moment) {
	switch m {
	case park.Paused:
		h.probe.Gap()
	case park.Parks:
		h.probe.Parked()
	case park.Woke:
		by := observe.None
		if h.probe.Records() {
			by = h.wakeReason()
		}
		h.probe.Woke(by, true)
	}
}
