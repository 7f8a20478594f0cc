package flow

// What white-box tests need of the package.

import "time"

// RepeatOn is Repeat on timers that need not be those of a loop.
var RepeatOn = repeat

// Wait is what a Backoff waits after so many failures.
func (b Backoff) Wait(failures int) time.Duration { return b.wait(failures) }
