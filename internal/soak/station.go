//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// What all stations share: a run counts, and tells what is wrong.

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// station repeats one thing very often, and checks it each time.
type station struct {
	name, proves string
	target       int64
	unit         string
	share        int // its part of the time, in shares; 0: it takes as long as it needs
	do           func(r *run)
}

// run is one station at work, and then its result.
type run struct {
	station
	ctx   context.Context // ends with the station's time, when it is stopped, or with the program
	begun context.Context // the same without the time: for work that is finished after it
	stop  context.CancelFunc
	seed  uint64

	reached atomic.Int64

	mu       sync.Mutex // guards failures
	failures []string
	skipped  string // why this machine cannot do it
	took     time.Duration
}

// start runs the station for at most so long, and reports its progress.
func (s station) start(ctx context.Context, seed uint64, limit time.Duration) *run {
	fmt.Printf("soak: %s: %s %s in %v, seed %d\n", s.name, count(s.target), s.unit, limit.Round(time.Second), seed)
	r := s.begin(ctx, seed, limit)
	defer r.stop()
	progress := time.NewTicker(15 * time.Second)
	defer progress.Stop()
	began, done := time.Now(), make(chan struct{})
	go func() {
		defer close(done)
		s.do(r)
	}()
	for {
		select {
		case <-progress.C:
			fmt.Printf("soak:     %s %s after %v\n", count(r.reached.Load()), s.unit, time.Since(began).Round(time.Second))
			continue
		case <-done:
		}
		break
	}
	r.took = time.Since(began)
	fmt.Printf("soak:     %s\n", r.outcome())
	return r
}

// begin prepares a run; whoever calls it stops it.
func (s station) begin(ctx context.Context, seed uint64, limit time.Duration) *run {
	r := &run{station: s, seed: seed}
	if s.share == 0 {
		limit = time.Hour
	}
	var late, stop context.CancelFunc
	r.begun, stop = context.WithCancel(ctx)
	r.ctx, late = context.WithTimeout(r.begun, limit)
	r.stop = func() { stop(); late() }
	return r
}

// finished tells whether to stop: the target is reached, the time is up, or something is wrong.
func (r *run) finished() bool { return r.reached.Load() >= r.target || r.ctx.Err() != nil }

const mostFailures = 10 // after which a station gives up

// failf notes a failure, and ends the station.
func (r *run) failf(format string, args ...any) {
	r.missf(format, args...)
	r.stop()
}

// missf notes a failure. The station goes on until there are mostFailures.
func (r *run) missf(format string, args ...any) {
	r.mu.Lock()
	if len(r.failures) < mostFailures {
		r.failures = append(r.failures, fmt.Sprintf(format, args...))
	}
	tooMany := len(r.failures) == mostFailures
	r.mu.Unlock()
	if tooMany {
		r.stop()
	}
}

func (r *run) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

// idle tells whether the run proves nothing, although it could have.
func (r *run) idle() bool { return r.reached.Load() == 0 && r.skipped == "" && !r.failed() }

func (r *run) verdict() string {
	switch {
	case r.failed():
		return "**failed**"
	case r.skipped != "":
		return "skipped: " + r.skipped
	case r.idle():
		return "nothing was reached in the time"
	case r.reached.Load() < r.target:
		return "passed; the target was not reached in the time"
	}
	return "passed"
}

func (r *run) outcome() string {
	return fmt.Sprintf("%s: %s of %s %s in %v, seed %d", r.verdict(), count(r.reached.Load()), count(r.target), r.unit,
		r.took.Round(time.Second/10), r.seed)
}
