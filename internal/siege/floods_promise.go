//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods of promises, made, settled, followed and awaited elsewhere than on the loop.

import (
	"context"
	"sync/atomic"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

var promises = []flood{
	{name: "NewPromise, resolve", like: makes, law: wanted, own: microtasks,
		begin: kept(func(s *site, o *one) {
			p, resolve, _ := s.loop.NewPromise()
			p.Then(o.fulfilled, o.rejected)
			resolve(nil)
		})},
	{name: "NewPromise, reject", like: makes, law: wanted, own: microtasks,
		begin: kept(func(s *site, o *one) {
			p, _, reject := s.loop.NewPromise()
			p.Then(o.fulfilled, o.rejected)
			reject(eventloop.ErrGoexit)
		})},
	{name: "NewPromise, forgotten", like: litters, begin: asks(func(s *site) { s.loop.NewPromise() })},
	{name: "Then of settled", like: makes, law: wanted, own: microtasks, begin: then(true)},
	{name: "Then of pending", like: makes, own: microtasks, begin: then(false)},
	{name: "Then of pending, settled", like: makes, law: wanted, own: microtasks, begin: gathered},
	{name: "ToChannel of one, settled", like: litters, own: microtasks, begin: crowded},
	{name: "Resolved", like: litters, begin: asks(func(s *site) { s.loop.Promises().Resolved(1) })},
	// Unhandled rejections are reported on the loop.
	{name: "Rejected", like: logs, law: wanted, own: microtasks,
		begin: kept(func(s *site, o *one) { s.loop.Promises().Rejected(unhandled{o}) })},
	{name: "All", like: toils, law: wanted, own: microtasks, begin: combined((*promise.Realm).All)},
	{name: "AllSettled", like: toils, law: wanted, own: microtasks, begin: combined((*promise.Realm).AllSettled)},
	{name: "Race", like: toils, law: wanted, own: microtasks, begin: combined((*promise.Realm).Race)},
	{name: "Any", like: toils, law: wanted, own: microtasks, begin: combined((*promise.Realm).Any)},
	{name: "Await of settled", like: litters, own: microtasks, begin: awaits(true)},
	{name: "Await of pending", like: makes, own: microtasks, begin: awaits(false)},
	{name: "ToChannel of settled", like: litters, own: microtasks, begin: channels(true)},
	// Each goroutine makes hundreds of promises before it waits, so it computes in whole slices of the scheduler.
	{name: "ToChannel of pending", like: litters, own: microtasks, begin: channels(false)},
	{name: "Promisify", like: makes, law: wanted, own: set(internalProbe), free: set(taskProbe), begin: promisify(false)},
	{name: "Promisify[T]", like: makes, law: wanted, own: set(internalProbe), free: set(taskProbe), begin: kept(typed)},
	{name: "Promisify, two workers", like: makes, law: wanted, own: set(internalProbe), free: set(taskProbe),
		opts: []eventloop.Option{eventloop.WithWorkerLimit(2)}, begin: promisify(false)},
	{name: "Promisify, context ended", like: makes, law: wanted, own: microtasks, begin: promisify(true)},
}

// kept is a flood of calls, each with a promise whose handler is to run.
func kept(call func(s *site, o *one)) func(s *site, t *tally) flooder {
	return func(s *site, t *tally) flooder {
		return flooder{call: func() bool {
			call(s, &one{t: t})
			return true
		}}
	}
}

// unhandled is the reason of a rejection that is to be reported.
type unhandled struct{ *one }

func (unhandled) Error() string { return "unhandled" }

func combined(combine func(r *promise.Realm, ps ...*promise.Promise) *promise.Promise) func(s *site, t *tally) flooder {
	return kept(func(s *site, o *one) {
		r := s.loop.Promises()
		combine(r, r.Resolved(1), r.Resolved(2)).Then(o.fulfilled, o.rejected)
	})
}

func typed(s *site, o *one) {
	eventloop.Promisify(context.Background(), s.own, func(context.Context) (int, error) { return 1, nil }).
		Settled(func(int, error) { o.run() })
}

// then attaches handlers to one promise.
func then(settled bool) func(s *site, t *tally) flooder {
	return func(s *site, t *tally) flooder {
		p, resolve, _ := s.loop.NewPromise()
		if settled {
			resolve(nil)
		} else {
			p.Catch(func(error) (any, error) { return nil, nil })
		}
		return flooder{call: func() bool {
			o := &one{t: t}
			p.Then(o.fulfilled, o.rejected)
			return true
		}}
	}
}

// crowd is how many handlers, or channels, one promise has before it is settled.
const crowd = 100_000

// gathered settles promises that have many handlers.
func gathered(s *site, t *tally) flooder {
	p, resolve, _ := s.loop.NewPromise()
	n := 0
	settle := func() {
		resolve(nil)
		p, resolve, _ = s.loop.NewPromise()
	}
	return flooder{finish: settle, call: func() bool {
		o := &one{t: t}
		p.Then(o.fulfilled, o.rejected)
		if n++; n%crowd == 0 {
			settle()
		}
		return true
	}}
}

// crowded settles promises that have many channels.
func crowded(s *site, _ *tally) flooder {
	p, resolve, _ := s.loop.NewPromise()
	n := 0
	var waiting []<-chan eventloop.Result
	settle := func() {
		resolve(nil)
		for _, ch := range waiting {
			<-ch
		}
		waiting = waiting[:0]
		p, resolve, _ = s.loop.NewPromise()
	}
	return flooder{finish: settle, call: func() bool {
		waiting = append(waiting, p.ToChannel())
		if n++; n%crowd == 0 {
			settle()
		}
		return true
	}}
}

// awaits waits for one promise after the other. The loop's end rejects a pending promise, so the flood never hangs.
func awaits(settled bool) func(s *site, t *tally) flooder {
	return func(s *site, _ *tally) flooder {
		p := s.loop.Promises().Resolved(1)
		return flooder{call: func() bool {
			if settled {
				_, err := p.Await(context.Background())
				return err == nil
			}
			p, resolve, _ := s.loop.NewPromise()
			resolve(nil)
			_, err := p.Await(context.Background())
			return err == nil
		}}
	}
}

// channels keeps a number of channels open, and receives from each.
func channels(settled bool) func(s *site, t *tally) flooder {
	return func(s *site, _ *tally) flooder {
		const most = 256
		var waiting []<-chan eventloop.Result
		receive := func() bool {
			r := <-waiting[0]
			if _, more := <-waiting[0]; more {
				s.fault("a channel of ToChannel has two values")
			}
			waiting = waiting[1:]
			return r.Err == nil
		}
		p := s.loop.Promises().Resolved(1)
		return flooder{
			call: func() bool {
				q, resolve := p, func(any) {}
				if !settled {
					q, resolve, _ = s.loop.NewPromise()
				}
				waiting = append(waiting, q.ToChannel())
				resolve(nil)
				return len(waiting) < most || receive()
			},
			finish: func() {
				for len(waiting) > 0 {
					receive()
				}
			},
		}
	}
}

func promisify(refused bool) func(s *site, t *tally) flooder {
	ctx := context.Background()
	if refused {
		ctx = ended()
	}
	return func(s *site, t *tally) flooder {
		return flooder{call: func() bool {
			settled := &one{t: t}
			var called atomic.Bool
			p := s.loop.Promisify(ctx, func(context.Context) (any, error) {
				if called.Swap(true) {
					s.fault("a function of Promisify was called twice")
				}
				if refused {
					s.fault("a function of Promisify was called although its context had ended")
				}
				return nil, nil
			})
			p.Then(settled.fulfilled, settled.rejected)
			return true
		}}
	}
}
