//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods of a group's calls. The site's loop is then the first of a group, which ends as a whole.

import (
	"context"

	"github.com/turnloop/turnloop/eventloop"
)

// groupLoops is how many loops a group has: more than there are processors in some of the cells.
const groupLoops = 3

// grouped is the first loop of a group, with the group's life.
type grouped struct {
	*eventloop.Loop
	group    *eventloop.Group
	byMember bool // another loop of the group is shut down, which ends the group
}

func (g *grouped) Run(ctx context.Context) error { return g.group.Run(ctx) }
func (g *grouped) Close() error                  { return g.group.Close() }
func (g *grouped) Done() <-chan struct{}         { return g.group.Done() }

func (g *grouped) Shutdown(ctx context.Context) error {
	if g.byMember {
		return g.group.Loop(1).Shutdown(ctx)
	}
	return g.group.Shutdown(ctx)
}

func group(opts ...eventloop.Option) (loop, error)         { return newGrouped(false, opts...) }
func groupByMember(opts ...eventloop.Option) (loop, error) { return newGrouped(true, opts...) }

func newGrouped(byMember bool, opts ...eventloop.Option) (loop, error) {
	g, err := eventloop.NewGroup(groupLoops, opts...)
	if err != nil {
		return nil, err
	}
	return &grouped{g.Loop(0), g, byMember}, nil
}

// group returns the group of the site's loop. Floods of groups are begun on a site that has one.
func (s *site) group() *eventloop.Group { return s.loop.(*grouped).group }

var groups = []flood{
	{name: "Group.Submit", on: group, like: makes, law: exactly, own: set(taskProbe), begin: unordered},
	{name: "Group.Submit, one loop ends", on: groupByMember, like: makes, law: exactly, own: set(taskProbe), begin: unordered},
	{name: "Group.Submit beside Submit", on: group, like: makes, law: exactly, own: set(taskProbe), begin: mixed},
	{name: "Group.Submit, ends in chains", on: group, like: makes, law: exactly, own: set(taskProbe), begin: chained},
	{name: "Group.Submit at the limit", on: group, like: makes, law: exactly, own: set(taskProbe), free: set(taskProbe),
		opts: []eventloop.Option{eventloop.WithQueueLimit(8)}, begin: unordered},
	{name: "Group.Least, Promisify", on: group, like: makes, law: wanted, own: set(internalProbe), free: set(taskProbe),
		begin: kept(func(s *site, o *one) {
			s.group().Least().Promisify(context.Background(), func(context.Context) (any, error) { return nil, nil }).
				Then(o.fulfilled, o.rejected)
		})},
	{name: "Group.Least, LoopFor", on: group, like: reads, begin: asks(func(s *site) { s.group().Least(); s.group().LoopFor("key") })},
	{name: "Group.Metrics", on: group, like: litters, opts: []eventloop.Option{eventloop.WithMetrics(true)},
		begin: asks(func(s *site) { s.group().Metrics() })},
	{name: "chain of Group.Submit", on: group, like: feeds, feeds: true, law: exactly,
		begin: chain(func(s *site, fn func()) error { return s.group().Submit(fn) })},
}

// unordered is a flood of tasks of the group, which its loops run at the same time.
func unordered(s *site, t *tally) flooder {
	return flooder{call: func() bool {
		o := &one{t: t}
		return s.group().Submit(o.run) == nil
	}}
}

// mixed is unordered, and between the tasks of the group come more of each of its loops.
func mixed(s *site, t *tally) flooder {
	n, g := 0, s.group()
	return flooder{call: func() bool {
		o := &one{t: t}
		if n++; n%8 == 0 {
			return g.Submit(o.run) == nil
		}
		return g.Loop(n%groupLoops).Submit(o.run) == nil
	}}
}

// chained is unordered, and each task that runs while the group ends begins a chain of internal tasks without end.
func chained(s *site, t *tally) flooder {
	g := s.group()
	return flooder{call: func() bool {
		o := &one{t: t}
		return g.Submit(func() {
			o.run()
			for i := range groupLoops {
				if l := g.Loop(i); l.OnLoop() && l.State() == eventloop.StateTerminating {
					var again func()
					again = func() { _ = l.SubmitInternal(again) }
					again()
				}
			}
		}) == nil
	}}
}
