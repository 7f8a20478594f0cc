package eventloop_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// What was written before a submission is seen by what was submitted, also when the loop is awake already and nobody
// has to wake it, and what that wrote is seen by who waits for it. The race detector sees to it: nothing else than the
// submission orders these plain accesses.
func TestSubmissionsPublish(t *testing.T) {
	l, err := eventloop.New()
	require.NoError(t, err)
	go l.Run(context.Background())
	lanes := []func(fn func()) error{
		l.Submit, l.SubmitInternal, l.ScheduleMicrotask, l.NextTick,
		func(fn func()) error { _, err := l.ScheduleTimer(0, fn); return err },
		func(fn func()) error {
			l.Promisify(context.Background(), func(context.Context) (any, error) { return nil, nil }).
				Then(func(any) (any, error) { fn(); return nil, nil }, nil)
			return nil
		},
	}
	type slot struct{ there, back int }
	var producers sync.WaitGroup
	for p := range 4 { // several, so that most find the loop awake or being woken
		producers.Go(func() {
			for i := range scale(200, 2000, 100_000) {
				s := new(slot)
				s.there = i + 1
				back := make(chan struct{}, 1)
				require.NoError(t, lanes[(i+p)%len(lanes)](func() { s.back = s.there; back <- struct{}{} }))
				if i%16 == 0 {
					time.Sleep(time.Microsecond) // now and then the loop sleeps
				}
				<-back
				require.Equal(t, i+1, s.back)
			}
		})
	}
	producers.Wait()
	require.NoError(t, l.Shutdown(context.Background()))
}
