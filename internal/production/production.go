// Package production enters the loop of package eventloop into the tournament.
package production

import (
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Entry returns the tournament's entry of the production loop.
func Entry() loopapi.Entry {
	return loopapi.Entry{
		Name:        "main",
		Folder:      "eventloop",
		Philosophy:  "production: as fast as the fastest, as safe as the safest, and simple",
		New:         func(cfg loopapi.Config) (loopapi.EventLoop, error) { return New(cfg) },
		VirtualTime: true,
	}
}

// New makes a loop from cfg, and from options for which cfg has no field.
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
		return nil, err // a nil interface, not one that holds a nil loop
	}
	return loop, nil
}
