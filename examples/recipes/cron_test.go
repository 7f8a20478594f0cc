package recipes

// Schedules of cron on a loop.

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

// A library's schedule is one of flow.Repeat as it is, and on virtual time a month of it passes at once.
func TestCron(t *testing.T) {
	schedule, err := cron.ParseStandard("30 2 * * 1-5") // at half past two, from Monday to Friday
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		loop, err := eventloop.New()
		if err != nil {
			t.Fatal(err)
		}
		var ran []time.Time
		if _, err := flow.Repeat(loop, schedule.Next, func() { ran = append(ran, time.Now()) }); err != nil {
			t.Fatal(err)
		}
		go loop.Run(t.Context())
		time.Sleep(28 * 24 * time.Hour)
		_ = loop.Shutdown(t.Context())
		for _, at := range ran {
			if at.Hour() != 2 || at.Minute() != 30 || at.Second() != 0 || at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
				t.Errorf("ran at %v", at)
			}
		}
		if len(ran) != 20 {
			t.Errorf("ran %d times in four weeks", len(ran))
		}
	})
}
