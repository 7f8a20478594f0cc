package modules

// The raw mode of terminals, which must not outlive the program.

import (
	"sync"

	"golang.org/x/term"
)

var cooked struct {
	mu     sync.Mutex
	states map[int]*term.State // of terminals in raw mode, as they were before; guarded by mu
}

// setRaw sets the raw mode of a terminal, or ends it.
func setRaw(fd int, raw bool) error {
	cooked.mu.Lock()
	defer cooked.mu.Unlock()
	state, is := cooked.states[fd]
	switch {
	case raw && !is:
		state, err := term.MakeRaw(fd)
		if err != nil {
			return err
		}
		if cooked.states == nil {
			cooked.states = map[int]*term.State{}
		}
		cooked.states[fd] = state
	case !raw && is:
		delete(cooked.states, fd)
		return term.Restore(fd, state)
	}
	return nil
}

// RestoreTerminals ends the raw mode of all terminals that scripts have set. Call it before the process ends by os.Exit or a signal.
func RestoreTerminals() {
	cooked.mu.Lock()
	defer cooked.mu.Unlock()
	for fd, state := range cooked.states {
		_ = term.Restore(fd, state)
	}
	cooked.states = nil
}
