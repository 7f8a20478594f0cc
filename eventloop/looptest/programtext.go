package looptest

// The language of programs, and its parser.

import (
	"math"
	"strings"
	"time"
)

// A program is text in which each byte is an operation, so that any string, also one from a fuzzer, is a program:
//
//	s i m   submit a task, an internal task, a microtask; the digit behind it selects how many (repeats)
//	t       schedule a timer; the digit selects the delay (delays)
//	c       cancel a timer; the digit counts back from the latest
//	r u d   register, unregister, modify the descriptor of that digit (modulo slots); d toggles between reading and no event
//	w       write a byte to the other end of the descriptor
//	x X     close the descriptor and use its number again; x unregisters before that, X after it
//	f       set the fast path mode of that digit (modulo 3), if the loop has modes
//	p g     panic, runtime.Goexit: ends the function
//	S C     Shutdown, Close
//	( )     the body of the functions, or of the callback, of the operation in front
//	;       a new round: another goroutine performs its operations while a callback holds the loop
//	.       a new round: one internal task performs its operations
//	:       a new round: another goroutine performs its operations one by one, each on a loop at rest
//	!       at the beginning: a tick budget of 4 and a microtask budget of 8
//
// The first round is performed before Run. Any other byte stands for one of these.
const alphabet = "simtcrudwxXfpgSC();.:0123456789"

var repeats = [10]int{1, 2, 3, 5, 9, 63, 64, 65, 129, 1100} // around the usual sizes of chunks, rings and budgets

var (
	delays     = [10]time.Duration{0, -1, 1, 3e3, 1e6, 1e6 + 1, 2e6, 3e6, farAway, 1<<63 - 1}
	longDelays = [10]time.Duration{0, math.MinInt64, 1, 1e3, 1e6, 1e6 + 1, 1e9, 36e11, 20 * 24 * 36e11, 1<<63 - 1} // for virtual time
)

const (
	farAway       = time.Hour // a delay for which the player does not wait in real time
	slots         = 4         // descriptors
	mostFunctions = 4000      // functions in a program; more are not submitted
	mostBytes     = 200       // bytes written in a program: callbacks may write, and so cause more callbacks
	mostReopened  = 100       // numbers used again in a program; each costs more than the one before
	mostDepth     = 40        // of brackets
)

// operation is one operation of a program with its digit and its body.
type operation struct {
	code  byte
	digit int
	body  []operation
}

// round is a part of a program whose operations are performed in one way.
type round struct {
	from       byte // ';', '.' or ':'; '!' for the first round, before Run
	operations []operation
}

// parse reads a program; every string is one. small tells whether it asks for small budgets.
func parse(program string) (rounds []round, small bool) {
	program, small = strings.CutPrefix(program, "!")
	rest := program
	var sequence func(depth int) []operation
	sequence = func(depth int) (list []operation) {
		for rest != "" {
			b := rest[0]
			if strings.IndexByte(alphabet, b) < 0 {
				b = alphabet[int(b)%len(alphabet)]
			}
			if strings.IndexByte(";.:", b) >= 0 {
				return list // ends all brackets
			}
			rest = rest[1:]
			switch {
			case b == ')' && depth > 0:
				return list
			case b == '(' && depth < mostDepth:
				body := sequence(depth + 1)
				if len(list) > 0 {
					list[len(list)-1].body = body
				}
			case '0' <= b && b <= '9':
				if len(list) > 0 {
					list[len(list)-1].digit = int(b - '0')
				}
			case b != '(' && b != ')':
				list = append(list, operation{code: b})
			}
		}
		return list
	}
	for from := byte('!'); ; {
		rounds = append(rounds, round{from, sequence(0)})
		if rest == "" {
			return rounds, small
		}
		if from = rest[0]; strings.IndexByte(alphabet, from) < 0 {
			from = alphabet[int(from)%len(alphabet)]
		}
		rest = rest[1:]
	}
}
