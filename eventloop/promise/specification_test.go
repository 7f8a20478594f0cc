package promise_test

// The specification of promises, written down step by step, as the model that the package is compared with.

import (
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// model is ECMAScript's promises, slow and obvious: every step is a closure in one queue.
type model struct {
	queue    []func()
	rejected []*modelPromise
	report   func(error)
}

type modelPromise struct {
	m         *model
	state     string // "", "fulfilled", "rejected"
	value     any
	err       error
	handled   bool
	reactions []func()
	waits     *modelPromise // the promise that a pending one waits for; to find cycles
}

func (m *model) drain() {
	for len(m.queue) > 0 {
		fn := m.queue[0]
		m.queue = m.queue[1:]
		fn()
	}
}

func (m *model) checkpoint() {
	for m.drain(); len(m.rejected) > 0; m.drain() {
		round := m.rejected // promises that are rejected meanwhile have a round of their own
		m.rejected = nil
		for _, p := range round {
			if !p.handled {
				p.handled = true
				m.report(p.err)
			}
		}
	}
}

func (p *modelPromise) settle(state string, value any, err error) {
	p.state, p.value, p.err, p.waits = state, value, err, nil
	p.m.queue = append(p.m.queue, p.reactions...)
	p.reactions = nil
	if state == "rejected" && !p.handled {
		p.m.rejected = append(p.m.rejected, p)
	}
}

func (p *modelPromise) fulfil(v any) { p.settle("fulfilled", v, nil) }

func (p *modelPromise) reject(err error) { p.settle("rejected", nil, err) }

// resolvers returns the resolve and reject functions of p; only the first call of either counts.
func (p *modelPromise) resolvers() (func(any), func(error)) {
	called := false
	return func(v any) {
			if !called {
				called = true
				p.resolve(v)
			}
		}, func(err error) {
			if !called {
				called = true
				p.reject(err)
			}
		}
}

func (p *modelPromise) resolve(v any) {
	q, ok := v.(*modelPromise)
	if !ok {
		p.fulfil(v)
		return
	}
	for w := q; w != nil; w = w.waits {
		if w == p {
			p.reject(loopapi.ErrPromiseCycle)
			return
		}
	}
	p.waits = q
	p.m.queue = append(p.m.queue, func() { // NewPromiseResolveThenableJob
		resolve, reject := p.resolvers()
		q.react(func(v any) { resolve(v) }, reject)
	})
}

// react is PerformPromiseThen.
func (p *modelPromise) react(onFulfilled func(any), onRejected func(error)) {
	job := func() {
		if p.state == "fulfilled" {
			onFulfilled(p.value)
		} else {
			onRejected(p.err)
		}
	}
	p.handled = true
	if p.state == "" {
		p.reactions = append(p.reactions, job)
	} else {
		p.m.queue = append(p.m.queue, job)
	}
}

func (p *modelPromise) then(onFulfilled func(any) (any, error), onRejected func(error) (any, error)) *modelPromise {
	d := &modelPromise{m: p.m}
	if p.state == "" {
		d.waits = p
	}
	try := func(fn func() (any, error)) {
		value, err := func() (value any, err error) {
			defer func() {
				if v := recover(); v != nil {
					err = &loopapi.PanicError{Value: v}
				}
			}()
			return fn()
		}()
		if err != nil {
			d.reject(err)
		} else {
			d.resolve(value)
		}
	}
	p.react(func(v any) {
		if onFulfilled == nil {
			d.fulfil(v)
			return
		}
		try(func() (any, error) { return onFulfilled(v) })
	}, func(err error) {
		if onRejected == nil {
			d.reject(err)
			return
		}
		try(func() (any, error) { return onRejected(err) })
	})
	return d
}

func (p *modelPromise) finally(fn func() error) *modelPromise {
	after := func(then func() (any, error)) (any, error) {
		if err := fn(); err != nil {
			return nil, err
		}
		q := &modelPromise{m: p.m}
		q.fulfil(nil)
		return q.then(func(any) (any, error) { return then() }, nil), nil
	}
	return p.then(
		func(v any) (any, error) { return after(func() (any, error) { return v, nil }) },
		func(err error) (any, error) { return after(func() (any, error) { return nil, err }) })
}

func (m *model) combine(kind string, ps []*modelPromise) *modelPromise {
	result := &modelPromise{m: m}
	resolve, reject := result.resolvers()
	values, results, errs := make([]any, len(ps)), make([]promise.Result, len(ps)), make([]error, len(ps))
	left := len(ps)
	check := func() {
		switch {
		case left > 0:
		case kind == "all":
			resolve(values)
		case kind == "allSettled":
			resolve(results)
		case kind == "any":
			reject(&promise.AggregateError{Errors: errs})
		}
	}
	check()
	for i, p := range ps {
		p.react(func(v any) {
			values[i], results[i].Value = v, v
			if kind == "race" || kind == "any" {
				resolve(v)
			}
			left--
			check()
		}, func(err error) {
			errs[i], results[i].Err = err, err
			if kind == "race" || kind == "all" {
				reject(err)
			}
			left--
			if kind != "all" {
				check()
			}
		})
	}
	return result
}
