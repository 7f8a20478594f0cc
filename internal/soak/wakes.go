//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Very many wake-ups, and none is late; and timers, tasks and events amid signals.

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// exchange is a loop that answers.
type exchange struct {
	loop
	run      *run
	pair     [2]int // a registered descriptor and its far end, or zeros
	answered chan struct{}
}

// newExchange runs a loop, if need be with a descriptor that answers what is sent to its far end. It is nil if that
// fails.
func newExchange(r *run, newLoop maker, mode eventloop.FastPathMode, descriptor bool) *exchange {
	l, err := newLoop(mode)
	if err != nil {
		r.failf("New: %v", err)
		return nil
	}
	x := &exchange{loop: l, run: r, answered: make(chan struct{}, 1)}
	go l.Run(context.Background())
	if !descriptor {
		return x
	}
	if x.pair, err = sockets(); err == nil {
		err = l.RegisterFD(x.pair[0], eventloop.EventRead, func(eventloop.IOEvents) {
			var buf [16]byte
			if n, _ := syscall.Read(x.pair[0], buf[:]); n > 0 {
				x.answer()
			}
		})
	}
	if err != nil {
		r.failf("a descriptor: %v", err)
		return nil
	}
	return x
}

func (x *exchange) answer() { x.answered <- struct{}{} }

// The lanes by which an exchange wakes its loop, which answers. The last one is there only with a descriptor.
const (
	byTask = iota
	byInternal
	byMicrotask
	byTimer
	byEvent
)

var laneNames = [...]string{"a task", "an internal task", "a microtask", "a timer", "an event"}

// lanes is how many of them there are.
func (x *exchange) lanes() int {
	if x.pair[1] == 0 {
		return byEvent
	}
	return len(laneNames)
}

// ask wakes the loop by one lane, after a delay if it is that of timers, and waits for the answer.
func (x *exchange) ask(lane int, delay time.Duration) {
	due := time.Now()
	var err error
	switch lane {
	case byTask:
		err = x.Submit(x.answer)
	case byInternal:
		err = x.SubmitInternal(x.answer)
	case byMicrotask:
		err = x.ScheduleMicrotask(x.answer)
	case byTimer:
		due = due.Add(delay)
		_, err = x.ScheduleTimer(delay, x.answer)
	case byEvent:
		_, err = syscall.Write(x.pair[1], []byte{1})
	}
	if err != nil {
		x.run.failf("%s: %v", laneNames[lane], err)
		return
	}
	if !beat.Wait(x.answered) {
		x.run.failf("%s was not answered for %d beats; the loop's state is %v", laneNames[lane], beat.Beats, x.State())
		return
	}
	took := time.Since(due)
	if took < 0 {
		x.run.failf("%s of %v is %v early", laneNames[lane], delay, -took)
	}
	x.run.exchanged(laneNames[lane], due, took)
}

func (x *exchange) end() {
	x.run.shutdown(x)
	if x.pair[1] != 0 {
		syscall.Close(x.pair[0])
		syscall.Close(x.pair[1])
	}
}

// wakes wakes the loop by each lane, most times when it sleeps, at times on its way there.
func wakes(mode eventloop.FastPathMode, descriptor bool) func(r *run, newLoop maker) {
	return func(r *run, newLoop maker) {
		x := newExchange(r, newLoop, mode, descriptor)
		if x == nil {
			return
		}
		defer x.end()
		random := r.random(0)
		for i := 0; !r.finished(); {
			// In series, so that the loop moves to where events cost least, and back.
			lane := random.IntN(x.lanes())
			for range 1 + random.IntN(30) {
				if i++; i%8 != 0 {
					for x.State() != eventloop.StateSleeping && r.ctx.Err() == nil {
						runtime.Gosched()
					}
				} else {
					for range random.IntN(100) {
						_ = x.State()
					}
				}
				x.ask(lane, 0)
				r.reached.Add(1)
			}
		}
	}
}

// signals interrupts all threads thousands of times in a second, while loops in each place answer in each lane.
func signals(r *run, newLoop maker) {
	kinds := []os.Signal{syscall.SIGURG, syscall.SIGUSR1, syscall.SIGALRM}
	caught := newCatcher(kinds[1:]) // Go itself uses the first
	defer signal.Stop(caught)
	var all sync.WaitGroup
	for i, place := range []struct {
		mode       eventloop.FastPathMode
		descriptor bool
	}{{auto, false}, {auto, true}, {disabled, false}, {disabled, true}} {
		x := newExchange(r, newLoop, place.mode, place.descriptor)
		if x == nil {
			break
		}
		all.Go(func() {
			defer x.end()
			random := r.random(uint64(i))
			for !r.finished() {
				x.ask(random.IntN(x.lanes()), time.Duration(random.IntN(10_000_000)))
			}
		})
	}
	began := time.Now()
	for i := 0; !r.finished(); i++ {
		r.reached.Add(interrupt(kinds[i%len(kinds)].(syscall.Signal)))
		time.Sleep(100 * time.Microsecond)
	}
	all.Wait()
	r.notef("%.0f signals in a second", float64(r.reached.Load())/time.Since(began).Seconds())
}

// newCatcher catches signals, and does nothing with them.
func newCatcher(kinds []os.Signal) chan os.Signal {
	caught := make(chan os.Signal, 1) // when it is full, the rest is dropped
	signal.Notify(caught, kinds...)
	return caught
}
