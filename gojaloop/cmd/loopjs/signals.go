package main

// Ctrl-C: the first ends the program, unless it listens; the next ends it at once.

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

const (
	// interruptedCode is what shells have for an end by SIGINT.
	interruptedCode = 130
	// patience is how long an interrupted program may take to end.
	patience = time.Second
)

type signals struct {
	handled     atomic.Bool // the script listens to SIGINT; written by the loop
	interrupted atomic.Bool // the program was ended by one
}

// watch sees to signals until stop is called. end ends the program.
func (s *signals) watch(p *program, end context.CancelFunc) (stop func()) {
	came, over := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(came, os.Interrupt)
	go func() {
		heard := new(atomic.Bool) // the script has had a chance to hear of the last one
		heard.Store(true)
		for {
			select {
			case <-over:
				return
			case <-came:
			}
			if p.alive != nil {
				p.alive.tell("interrupted", 100*time.Millisecond)
			}
			if s.handled.Load() && heard.Load() {
				heard = new(atomic.Bool)
				told := heard
				if p.host.Submit(func(*goja.Runtime) { told.Store(true) }) != nil { // it has heard, and has ended
					time.AfterFunc(patience, func() { os.Exit(interruptedCode) })
				}
				continue
			}
			if s.interrupted.Swap(true) || s.handled.Load() {
				os.Exit(interruptedCode)
			}
			end()
			time.AfterFunc(patience, func() { os.Exit(interruptedCode) })
		}
	}()
	return func() {
		signal.Stop(came)
		close(over)
	}
}
