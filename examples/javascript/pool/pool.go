package main

// A pool of VMs.

import (
	"context"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// Pool is a set of VMs with the same script, each on a loop. A call has a VM for itself until it is over. Any
// goroutine may call the methods.
type Pool struct {
	group  *eventloop.Group
	script *goja.Program
	free   chan *gojaloop.Host
}

// load is how long loading the script may take.
var load = time.Second

// NewPool makes n VMs, one for each processor if n is 0, and runs the script in each.
func NewPool(n int, name, source string) (*Pool, error) {
	script, err := goja.Compile(name, source, true)
	if err != nil {
		return nil, err
	}
	group, err := eventloop.NewGroup(n)
	if err != nil {
		return nil, err
	}
	go group.Run(context.Background())
	p := &Pool{group: group, script: script, free: make(chan *gojaloop.Host, group.Len())}
	for i := range group.Len() {
		host, err := p.host(group.Loop(i))
		if err != nil {
			group.Close()
			return nil, err
		}
		p.free <- host
	}
	return p, nil
}

// host makes a VM on a loop, and runs the script in it.
func (p *Pool) host(loop *eventloop.Loop) (*gojaloop.Host, error) {
	host, err := gojaloop.New(loop, gojaloop.WithSandbox())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), load)
	defer cancel()
	return host, host.Do(ctx, func(vm *goja.Runtime) error {
		_, err := vm.RunProgram(p.script)
		return err
	})
}

// Call calls a function of the script, and returns its result, or that of its promise. When ctx ends, a script that
// runs is interrupted. The VM is then closed, as the call may have left something in it, and another takes its place.
func (p *Pool) Call(ctx context.Context, function string, args ...any) (any, error) {
	var host *gojaloop.Host
	select {
	case host = <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	result, err := host.Call(ctx, function, args...)
	if ctx.Err() != nil || host.Err() != nil {
		host.Close()
		if fresh, err := p.host(host.Loop()); err == nil {
			host = fresh // else the next call tries again
		}
	}
	p.free <- host
	return result, err
}

// Close ends all VMs, and interrupts running calls.
func (p *Pool) Close() { p.group.Close() }
