package eventloop_test

// Tests of the report of rejections, as the loop calls it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// A rejection is reported once, behind the microtasks of its callback and before those that reports queue; what is
// handled by then, or waited for, is not; and a handler that fails keeps none from being reported.
func TestUnhandledRejections(t *testing.T) {
	var log []string
	fail := ""
	var refused *eventloop.Promise
	var l *eventloop.Loop
	l, err := eventloop.New(eventloop.WithAutoExit(true),
		eventloop.WithPanicHandler(func(e *eventloop.PanicError) { log = append(log, fmt.Sprint("fault: ", e.Value)) }),
		eventloop.WithUnhandledRejection(func(p *eventloop.Promise, err error) {
			log = append(log, fmt.Sprintf("%v: %v", p, err))
			_ = l.ScheduleMicrotask(func() { log = append(log, "microtask of the report") })
			switch fail {
			case "panic":
				panic("no")
			case "Goexit":
				runtime.Goexit()
			}
		}))
	require.NoError(t, err)
	program := func(name string) func() {
		return func() {
			log = append(log, name)
			fail = name
			_, _, reject := l.NewPromise()
			reject(errWork)
			l.Promises().Rejected(errors.New("second"))
			handledLate := l.Promises().Rejected(errors.New("handled"))
			waited, _, rejectWaited := l.NewPromise()
			ch := waited.ToChannel()
			rejectWaited(errors.New("waited for"))
			_ = l.ScheduleMicrotask(func() {
				handledLate.Catch(func(error) (any, error) { return nil, nil })
				log = append(log, "microtask")
			})
			require.Error(t, (<-ch).Err)
		}
	}
	for _, name := range []string{"plain", "panic", "Goexit"} {
		require.NoError(t, l.Submit(program(name)))
	}
	require.NoError(t, l.Submit(func() {
		fail = ""
		_, _, reject := l.NewPromise()
		reject(errors.New("alone"))
	}))
	require.NoError(t, l.Submit(func() {
		log = append(log, "next task")
		require.NoError(t, l.Shutdown(context.Background()))
		l.Promises().Rejected(touchy{}) // an ending loop asks whether it is the error of the end
		refused = l.Promisify(context.Background(), ends["value"].fn)
		l.Promisify(context.Background(), ends["value"].fn) // nobody handles that
		never, _, _ := l.NewPromise()
		never.Then(nil, nil)
	}))
	done := make(chan struct{})
	go func() { // Goexit ends the goroutine that calls Run
		_ = l.Run(context.Background())
	}()
	go func() { <-l.Done(); close(done) }()
	<-done
	reports := func(fault string) []string {
		list := []string{"microtask"}
		for _, what := range []string{errWork.Error(), "second"} {
			list = append(list, "rejected promise: "+what)
			if fault != "" { // the loop goes on behind it with a checkpoint
				list = append(list, "fault: "+fault, "microtask of the report")
			}
		}
		if fault == "" {
			list = append(list, "microtask of the report", "microtask of the report")
		}
		return list
	}
	want := append([]string{"plain"}, reports("")...)
	want = append(append(want, "panic"), reports("no")...)
	want = append(append(want, "Goexit"), reports(eventloop.ErrGoexit.Error())...)
	want = append(want, "rejected promise: alone", "microtask of the report")
	want = append(want, "next task", "rejected promise: touchy", "microtask of the report")
	require.Equal(t, want, log)
	_, err = refused.Await(t.Context())
	require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
}

// touchy is an error that cannot be compared with others.
type touchy struct{}

func (touchy) Error() string { return "touchy" }
func (touchy) Is(error) bool { panic("compared") }

// A rejection that the microtask budget leaves no room to report is reported in the next tick, which comes without a
// wait.
func TestBudgetKeepsReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for before := range 4 {
			reports := 0
			loop, err := eventloop.New(eventloop.WithMicrotaskBudget(2), eventloop.WithOnOverload(func(error) {}),
				eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) { reports++ }))
			require.NoError(t, err)
			go loop.Run(context.Background())
			synctest.Wait() // it sleeps
			require.NoError(t, loop.Submit(func() {
				for range before {
					require.NoError(t, loop.ScheduleMicrotask(func() {}))
				}
				loop.Promises().Rejected(io.EOF)
			}))
			synctest.Wait()
			require.Equal(t, 1, reports, "%d microtasks before", before)
			require.NoError(t, loop.Shutdown(context.Background()))
		}
	})
}

// The report of a rejection is the last that a loop calls before it looks whether to sleep: what the report defers runs,
// although nothing else wakes the loop.
func TestReportsDeferWork(t *testing.T) {
	for name, submit := range map[string]func(l *eventloop.Loop, fn func()) error{
		"task":      (*eventloop.Loop).Submit,
		"internal":  (*eventloop.Loop).SubmitInternal,
		"microtask": (*eventloop.Loop).ScheduleMicrotask,
		"tick":      (*eventloop.Loop).NextTick,
		"timer":     func(l *eventloop.Loop, fn func()) error { _, err := l.ScheduleTimer(0, fn); return err },
		"rejection": func(l *eventloop.Loop, fn func()) error { l.Promises().Rejected(errWork); fn(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			var l *eventloop.Loop
			ran := 0
			l, err := eventloop.New(eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) {
				if ran < 10 {
					require.NoError(t, submit(l, func() { ran++; l.Promises().Rejected(errWork) }))
				}
			}))
			require.NoError(t, err)
			go l.Run(t.Context())
			require.NoError(t, l.Submit(func() { l.Promises().Rejected(errWork) }))
			synctest.Wait()
			require.GreaterOrEqual(t, ran, 10, name)
			require.NoError(t, l.Shutdown(t.Context()))
		})
	}
}

// Close ends the reports of rejections, like everything else that waits.
func TestNoRejectionIsReportedAfterClose(t *testing.T) {
	reports := 0
	var l *eventloop.Loop
	l, err := eventloop.New(eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) {
		reports++
		require.NoError(t, l.Close())
	}))
	require.NoError(t, err)
	require.NoError(t, l.Submit(func() {
		for range 3 {
			_, _, reject := l.NewPromise()
			reject(errors.New("nobody handles this"))
		}
	}))
	require.ErrorIs(t, l.Run(context.Background()), eventloop.ErrLoopTerminated)
	require.Equal(t, 1, reports)
}

// A handler that closes the loop and panics has a promise whose rejection nobody can hear of: its panic is reported as
// that of any other callback.
func TestPanicOfAHandlerThatClosesIsReported(t *testing.T) {
	for _, debug := range []bool{false, true} {
		var reports []*eventloop.PanicError
		l, err := eventloop.New(eventloop.WithDebug(debug),
			eventloop.WithPanicHandler(func(e *eventloop.PanicError) { reports = append(reports, e) }),
			eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) { t.Error("a rejection is reported") }))
		require.NoError(t, err)
		require.NoError(t, l.Submit(func() {
			for range 2 {
				l.Promises().Resolved(nil).Finally(func() error { l.Close(); panic(errWork) })
			}
		}))
		require.ErrorIs(t, l.Run(context.Background()), eventloop.ErrLoopTerminated)
		require.Len(t, reports, 1)
		require.ErrorIs(t, reports[0], errWork)
	}
}
