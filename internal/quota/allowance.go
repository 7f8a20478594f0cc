// Package quota has the bounds of a loop: what callbacks may do in a tick, and what an ending loop still accepts. It knows no
// loop, no lock and no clock: its types count what they are told, and get the time as an argument, in nanoseconds.
package quota

// An allowance bounds the callbacks of one kind in a tick.

const (
	// Tick is about how long, in nanoseconds, callbacks of all kinds together keep anything waiting in a tick.
	Tick = 10_000_000
	// Share is the part of Tick that each kind of callback has.
	Share = Tick / 5
	// Unlimited is the number of callbacks for kinds that are bounded by time alone.
	Unlimited = 1 << 30

	fewBlind  = 3  // the first callbacks of a kind in a tick, which run without a look at the clock
	mostBlind = 64 // the most callbacks between two looks, because slow callbacks may follow quick ones
)

// Allowance is what the callbacks of one kind may do in a tick: a number of them may start, for about Share. The owner asks Due
// before each callback, and Spent if that is true; Count counts the callback. Most callbacks are so short that reading the
// clock for each would be felt. So an allowance is due as often as a tenth of Share passes, if the callbacks to come are like
// those that have run. The zero Allowance is spent.
//
// What is called for each callback is inlined; what is called rarely is not, so that the loop's own loops stay small.
type Allowance struct {
	left  int   // callbacks that may still start
	look  int   // value of left at the next look at the clock
	start int   // value of left when the tick began
	began int64 // time of the first look
	late  bool  // Share is over, and callbacks are left
}

// Renew begins a tick. A tick that ran out of time has its number continued: what falls behind with a few slow callbacks gets
// to the end of the number like what falls behind with many quick ones.
func (a *Allowance) Renew(most int) {
	if a.left == most {
		return // not used: most ticks have callbacks of one kind
	}
	if a.late {
		most = a.left
	}
	a.left, a.start, a.look, a.late = most, most, max(0, most-fewBlind), false
}

// Due tells whether it is time to look whether the allowance is spent.
func (a *Allowance) Due() bool { return a.left <= a.look }

// Count counts a callback that starts.
func (a *Allowance) Count() { a.left-- }

// Used tells whether a callback has started in this tick.
func (a *Allowance) Used() bool { return a.left != a.start }

// Out tells whether the number of callbacks is spent.
func (a *Allowance) Out() bool { return a.left == 0 }

// Spent tells whether the callbacks that are left have to wait for the next tick. If not, it sets when to look again.
//
//go:noinline
func (a *Allowance) Spent(now int64) bool {
	if a.left == 0 {
		return true
	}
	ran := a.start - fewBlind - a.left // callbacks since the first look
	if ran == 0 {
		a.began = now
	}
	took := now - a.began
	if took >= Share {
		a.late = true
		return true
	}
	alike := Share / 10 * int64(ran) / (took + 1) // so many take a tenth of Share
	a.look = max(0, a.left-max(1, int(min(alike, 2*int64(ran), mostBlind))))
	return false
}
