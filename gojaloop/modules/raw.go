package modules

// The raw mode of terminals. It does not outlive the program, and when the program was stopped it comes back with it.

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"
)

var cooked struct {
	mu     sync.Mutex
	states map[int]*term.State // of terminals in raw mode, as they were before; guarded by mu
	stop   func()              // ends the watch for signals, which there is while states is not nil; guarded by mu
}

// SetRaw sets the raw mode of a terminal, or ends it. While one is raw, SIGTERM and SIGHUP end the mode before they end the process,
// unless hears tells that scripts listen to them. Any goroutine may call it.
func SetRaw(fd int, raw bool, hears func(signal string) bool) error {
	cooked.mu.Lock()
	defer cooked.mu.Unlock()
	state, is := cooked.states[fd]
	var err error
	switch {
	case raw && !is:
		if cooked.states == nil { // the watch is first: a signal may come as soon as the mode is raw
			cooked.states, cooked.stop = map[int]*term.State{}, watchTerminals(hears)
		}
		if state, err = term.MakeRaw(fd); err == nil {
			cooked.states[fd] = state
		}
	case !raw && is:
		err = term.Restore(fd, state)
		delete(cooked.states, fd)
	}
	if cooked.states != nil && len(cooked.states) == 0 {
		cooked.stop()
		cooked.states = nil
	}
	return err
}

// watchTerminals waits for signals until stop is called. Those that have come by then still count.
func watchTerminals(hears func(signal string) bool) (stop func()) {
	came, wanted := make(chan os.Signal, 4), continued
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			wanted = append(wanted, s)
		}
	}
	signal.Notify(came, wanted...)
	go func() {
		for s := range came {
			switch {
			case s == syscall.SIGTERM && !hears("SIGTERM"), s == syscall.SIGHUP && !hears("SIGHUP"):
				EndBy(s.(syscall.Signal))
			case s != syscall.SIGTERM && s != syscall.SIGHUP: // the shell had the terminal while the program was stopped
				cooked.mu.Lock()
				for fd := range cooked.states {
					_, _ = term.MakeRaw(fd)
				}
				cooked.mu.Unlock()
			}
		}
	}()
	return func() {
		signal.Stop(came)
		close(came)
	}
}

// RestoreTerminals ends the raw mode of all terminals. Call it before the process ends by os.Exit.
func RestoreTerminals() {
	cooked.mu.Lock()
	defer cooked.mu.Unlock()
	for fd, state := range cooked.states {
		_ = term.Restore(fd, state)
	}
	cooked.states = nil
}
