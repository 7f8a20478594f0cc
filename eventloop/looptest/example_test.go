package looptest_test

// Examples of package looptest.

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
)

// A test that holds a loop to the rules. The factory makes a loop that is configured as a check asks for.
func ExampleRun() {
	_ = func(t *testing.T) { // TestConformance
		looptest.Run(t, func(cfg looptest.Config) (looptest.EventLoop, error) {
			return eventloop.New(eventloop.WithQueueLimit(cfg.QueueLimit), eventloop.WithOnOverload(cfg.OnOverload),
				eventloop.WithPanicHandler(cfg.OnPanic))
		}, looptest.Name("mine"))
	}
}
