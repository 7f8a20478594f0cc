// Package production enters the loop of package eventloop into the tournament.
package production

import (
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Entry is the production loop's.
func Entry() loopapi.Entry {
	return loopapi.Entry{
		Name:        "main",
		Folder:      "eventloop",
		Philosophy:  "production: as fast as the fastest, as safe as the safest, and simple",
		New:         func(cfg loopapi.Config) (loopapi.EventLoop, error) { return New(cfg) },
		VirtualTime: true,
	}
}

// New makes a loop as cfg asks, and as the options ask that have no place there.
func New(cfg loopapi.Config, options ...eventloop.Option) (loopapi.EventLoop, error) {
	options = append(options, eventloop.WithAutoExit(cfg.AutoExit), eventloop.WithQueueLimit(cfg.QueueLimit))
	if cfg.TickBudget != 0 {
		options = append(options, eventloop.WithTickBudget(cfg.TickBudget))
	}
	if cfg.MicrotaskBudget != 0 {
		options = append(options, eventloop.WithMicrotaskBudget(cfg.MicrotaskBudget))
	}
	if cfg.OnOverload != nil {
		options = append(options, eventloop.WithOnOverload(cfg.OnOverload))
	}
	if cfg.OnPanic != nil {
		options = append(options, eventloop.WithPanicHandler(cfg.OnPanic))
	}
	loop, err := eventloop.New(options...)
	if err != nil {
		return nil, err // and not an interface that holds a nil loop
	}
	return loop, nil
}
