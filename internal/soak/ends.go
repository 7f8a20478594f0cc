//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Very many ends: submissions race with them. And very many lives: nothing stays behind.

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// ends gives one loop after the other a short life. The producers of a life race with its end; each of them counts as a race.
func ends(r *run, newLoop maker) {
	var each sync.WaitGroup
	for g := range max(runtime.GOMAXPROCS(0)/2, 1) {
		each.Go(func() {
			random := r.random(uint64(g))
			for !r.finished() {
				r.ended("a life", func() { race(r, newLoop, random.Uint64()) })
			}
		})
	}
	each.Wait()
}

const (
	racers   = 3
	mostEach = 32 // submissions of a racer
)

// race is one life, shaped by the bits of its dice.
func race(r *run, newLoop maker, dice uint64) {
	throw := func(n uint64) int {
		value := dice % n
		dice = dice/n | dice<<48
		return int(value)
	}
	mode := auto
	if throw(16) == 0 {
		mode = disabled
	}
	l, err := newLoop(mode)
	if err != nil {
		r.failf("New: %v", err)
		return
	}
	how, running, hurry, amount := throw(3), throw(8) != 0, throw(64), 1+throw(mostEach)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var ran [racers][mostEach]uint8 // touched by the loop, and by race when it has ended
	var accepted [racers][mostEach]bool
	var finished atomic.Bool
	returned := startIf(running, l, ctx)
	var all sync.WaitGroup
	var begun atomic.Int32
	for p := range racers {
		all.Go(func() {
			lanes := [...]func(func()) error{l.Submit, l.SubmitInternal, l.ScheduleMicrotask}
			for i := range amount {
				if i == amount/2 {
					begun.Add(1)
				}
				err := lanes[(p+i)%len(lanes)](func() {
					if finished.Load() {
						r.failf("a function ran after Done")
					}
					ran[p][i]++
				})
				accepted[p][i] = err == nil
				if err != nil && !errors.Is(err, eventloop.ErrLoopTerminated) {
					r.failf("a submission was refused: %v", err)
				}
			}
		})
	}
	for begun.Load() == 0 {
		runtime.Gosched()
	}
	for range hurry {
		_ = l.State()
	}
	var want error
	switch {
	case how == 1:
		want = l.Close()
	case how == 2 && running:
		cancel()
	default:
		want = l.Shutdown(context.Background())
	}
	if want != nil {
		r.failf("the end: %v", want)
	}
	<-l.Done()
	finished.Store(true)
	all.Wait()
	if err := <-returned; !rightResult(err, how, running) {
		r.failf("Run returned %v after end %d", err, how)
	}
	for p := range racers {
		for i := range amount {
			n, ok := ran[p][i], accepted[p][i]
			if n > 1 || n == 1 && !ok || n == 0 && ok && how != 1 {
				r.failf("function %d of racer %d: accepted %v, ran %d times, end %d, mode %d", i, p, ok, n, how, mode)
			}
		}
	}
	r.reached.Add(racers)
}

// startIf runs the loop, or not, and returns a channel with the result of Run.
func startIf(running bool, l loop, ctx context.Context) <-chan error {
	returned := make(chan error, 1)
	if running {
		go func() { returned <- l.Run(ctx) }()
	} else {
		returned <- nil
	}
	return returned
}

// rightResult tells whether Run may return err. A Run that comes after the end returns an error that says so.
func rightResult(err error, how int, running bool) bool {
	if !running {
		return err == nil
	}
	if errors.Is(err, eventloop.ErrLoopTerminated) || errors.Is(err, eventloop.ErrLoopAlreadyRunning) {
		return how != 2
	}
	return how == 0 && err == nil || how == 2 && errors.Is(err, context.Canceled)
}

// lifecycles lives all kinds of lives, and counts descriptors and goroutines before and after.
func lifecycles(r *run, newLoop maker) {
	goroutines := beat.Goroutines()
	few := func() bool { return beat.Goroutines() <= goroutines }
	r.ended("the first life", func() { live(r, newLoop, 1<<20-1) }) // whatever is made once per process is made now
	beat.Until(few)
	descriptors := openDescriptors()
	goroutines = beat.Goroutines()
	var m memory
	random := r.random(0)
	part := max(r.target/checkpoints, 1)
	for i := int64(1); i <= checkpoints && !r.failed() && r.ctx.Err() == nil; i++ {
		for r.reached.Load() < part*i && r.ctx.Err() == nil {
			if r.ended("a life", func() { live(r, newLoop, random.Uint64()) }) {
				r.reached.Add(1)
			}
		}
		if !beat.Until(few) { // some are about to end
			r.failf("%d goroutines became %d", goroutines, beat.Goroutines())
		}
		if n := openDescriptors(); n != descriptors {
			r.failf("%d descriptors became %d", descriptors, n)
		}
		m.checkpoint(r)
	}
	m.check(r)
	r.notef("%d goroutines and %d descriptors before and after", goroutines, descriptors)
}

// live is one life: the bits of its dice say what the loop is used for, and how it ends.
func live(r *run, newLoop maker, dice uint64) {
	bit := func(n int) bool { return dice>>n&1 != 0 }
	mode := auto
	if bit(0) && bit(1) {
		mode = disabled
	}
	l, err := newLoop(mode)
	if err != nil {
		r.failf("New: %v", err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	returned := startIf(bit(2) || bit(3), l, ctx)
	var pair [2]int
	if bit(4) {
		if pair, err = sockets(); err != nil {
			r.failf("socketpair: %v", err)
			return
		}
		defer syscall.Close(pair[0])
		defer syscall.Close(pair[1])
		if err := l.RegisterFD(pair[0], eventloop.EventWrite, func(eventloop.IOEvents) { l.UnregisterFD(pair[0]) }); err != nil {
			r.failf("RegisterFD: %v", err)
		}
	}
	if bit(5) {
		if _, err := l.ScheduleTimer(time.Hour, func() {}); err != nil {
			r.failf("ScheduleTimer: %v", err)
		}
	}
	if bit(6) {
		l.Promisify(ctx, func(context.Context) (any, error) { return nil, nil })
	}
	for range dice >> 10 % 8 {
		if err := l.Submit(func() {}); err != nil {
			r.failf("Submit: %v", err)
		}
	}
	if bit(7) {
		err = l.Close()
	} else {
		err = l.Shutdown(context.Background())
	}
	if err != nil {
		r.failf("the end: %v", err)
	}
	<-returned
	<-l.Done()
}

func openDescriptors() int {
	entries, _ := os.ReadDir("/dev/fd") // itself among them, always
	return len(entries)
}

// sockets returns a connected pair that is non-blocking and closed on exec.
func sockets() (pair [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if pair, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
		return pair, err
	}
	for _, fd := range pair {
		syscall.CloseOnExec(fd)
		if err = syscall.SetNonblock(fd, true); err != nil {
			return pair, err
		}
	}
	return pair, nil
}
