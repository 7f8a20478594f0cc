//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// A loop that has little to do, beside goroutines that compute, and without a flood.

import (
	"context"
	"math"
	"slices"
	"time"
)

// besides measures a few timers and a few round trips on each of several fresh loops. What counts is the worst on each loop,
// and the median of these over the loops. In turn with them it measures time.AfterFunc and a channel.
func (c cell) besides(o *outcome, newLoop maker) error {
	const loops, each = 5, 15
	stop := compute(c.neighbours * c.procs)
	defer stop()
	var timers, trips, plainTimers, plainTrips []time.Duration
	for range loops {
		// The loop's goroutine is the last to be started, so it is the next to run. One that is started behind it takes that
		// place, and the loop then begins when each neighbour has had a turn.
		p := newPlain()
		s, err := newSite(newLoop)
		if err != nil {
			return err
		}
		var timer, trip, plainTimer, plainTrip time.Duration
		fired := make(chan time.Duration, 1)
		for range each {
			from := time.Now()
			if _, err := s.loop.ScheduleTimer(2*pace, func() { fired <- time.Since(from) - 2*pace }); err != nil {
				return err
			}
			timer = max(timer, <-fired)
			from = time.Now()
			time.AfterFunc(2*pace, func() { fired <- time.Since(from) - 2*pace })
			plainTimer = max(plainTimer, <-fired)
		}
		answer := make(chan struct{}, 1)
		for range each {
			time.Sleep(pace)
			from := time.Now()
			if err := s.loop.Submit(func() { answer <- struct{}{} }); err != nil {
				return err
			}
			<-answer
			trip = max(trip, time.Since(from))
			time.Sleep(pace)
			from = time.Now()
			p.tasks <- func() { answer <- struct{}{} }
			<-answer
			plainTrip = max(plainTrip, time.Since(from))
		}
		close(p.tasks)
		if err := s.loop.Shutdown(context.Background()); err != nil {
			return err
		}
		timers, trips = append(timers, timer), append(trips, trip)
		plainTimers, plainTrips = append(plainTimers, plainTimer), append(plainTrips, plainTrip)
	}
	o.gaps[timerProbe], o.gaps[taskProbe] = median(timers), median(trips)
	o.plain.gaps[timerProbe], o.plain.gaps[taskProbe] = median(plainTimers), median(plainTrips)
	return nil
}

func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return math.MaxInt64
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}
