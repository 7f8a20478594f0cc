package main

// Ctrl-C: the first ends the program, unless the script listens to it; the next ends the process at once.

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

// interruptedCode stands for an end by SIGINT; no exit code of a script is as large.
const interruptedCode = 1 << 10

// patience is how long an interrupted program may take to end. Tests of programs that do end have more.
var patience = time.Second

// watchSignals handles SIGINT until stop is called. end ends the program.
func (p *program) watchSignals(end context.CancelFunc) (stop func()) {
	came, stopped := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(came, os.Interrupt)
	go func() {
		delivered := new(atomic.Bool) // the loop has run since the last signal, so listeners were called
		delivered.Store(true)
		for {
			select {
			case <-stopped:
				return
			case <-came:
			}
			if p.alive != nil {
				p.alive.report("interrupted", 100*time.Millisecond)
			}
			if p.host.Hears("SIGINT") && delivered.Load() {
				delivered = new(atomic.Bool)
				current := delivered
				if p.host.Submit(func(*goja.Runtime) { current.Store(true) }) != nil { // the host has ended
					time.AfterFunc(patience, func() { quit(interruptedCode) })
				}
				continue
			}
			if p.interrupted.Swap(true) || p.host.Hears("SIGINT") {
				quit(interruptedCode)
			}
			end()
			time.AfterFunc(patience, func() { quit(interruptedCode) })
		}
	}()
	return func() {
		signal.Stop(came)
		close(stopped)
	}
}
