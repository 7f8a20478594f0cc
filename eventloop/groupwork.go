package eventloop

// Runners: the tasks that run a group's tasks. A share's runner takes from other shares when its own is empty.

import (
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/release"
)

// run is the runner of share i, a task of its loop. It runs tasks as the loop does, with microtasks after each and
// internal tasks before, and within the same bounds of a tick. Each turn of a runner runs a task: one that gave way at once,
// each time, would keep the loop's own tasks behind it waiting, too.
func (g *Group) run(i int) {
	l, s, p := g.loops[i], &g.shares[i], g.loops[i].probe
	t := &l.bounds
	s.queued.Add(-1)
	left := s.left // tasks that this runner may still run
	if s.left = 0; left == 0 {
		left = groupRun
	}
	if l.queueLimit > 0 {
		l.waiting.Add(1) // the loop has counted it off like a task
	}
	if p != nil {
		p.RunnerBegan()
	}
	retired, returned := false, false
	defer func() {
		if !retired { // also when a task did not return
			s.goOn(left)
		}
		if p != nil && returned {
			p.RunnerGoesOn()
		}
	}()
	for ran := false; ; {
		if state := l.state.load(); state.closing() || left == 0 && !state.ending() {
			break
		}
		if retired = !g.find(i, left); retired {
			break
		}
		if l.microtasksDue() { // now, since those that were accepted before the task go before it; so do internal tasks
			s.passOn()
			l.checkpoint()
		}
		state := l.state.load()
		if state.ending() && !s.sealed.Load() {
			// A loop that is ending runs all tasks that it finds. If other goroutines could go on to submit some, it would never end.
			g.beginEnd(false)
		}
		if state.closing() || l.internalWaiting() || ran && (t.crowded || t.tasks.Due() && l.tasksSpent()) {
			break
		}
		fn, m := s.take()
		if fn == nil {
			continue // another loop has taken it
		}
		if ran { // the loop has counted the runner, and so the first task
			t.tasks.Count()
		}
		ran, left = true, max(left-1, 0)
		if state.ending() {
			l.starts(quota.External)
		}
		if p != nil {
			p.Found(observe.Task, max(l.externals.Len()+s.waiting(), 0)+1)
		}
		if l.calling = (calling{kind: observe.Task}); p != nil {
			l.callShared(m, fn)
		} else {
			fn()
		}
	}
	returned = true
}

// goOn has the runner, which may still run so many tasks, go on after what the loop does in between. It keeps its place
// at the head of the loop's queue: at the tail, tasks of the loop that come faster than they run would keep it waiting longer
// each time. If it has run all that it may, the tasks that are left have other runners, or get one more.
func (s *share) goOn(left int) {
	l := s.loop
	if l.state.load().closing() {
		return
	}
	if left == 0 {
		s.mu.Lock()
		s.runners--
		ended := s.runners > 0 || s.tasks.Len() == 0 || s.post() == nil
		if !ended {
			s.runners++
		}
		s.mu.Unlock()
		if ended {
			return
		}
	}
	s.left = left
	s.queued.Add(1)
	l.externals.Unpop(s.run)
	l.probe.Left(observe.Task, l.externals.Len())
}

// find tells whether there is a task for loop i: in its own share, or in another, from which it then takes some. left is how many
// tasks the runner that asks may still run. If there is none, that runner is none any more.
func (g *Group) find(i, left int) bool {
	s := &g.shares[i]
	for s.n.Load() == 0 {
		if !g.steal(i) && s.retire(left) {
			return false
		}
	}
	return true
}

// retire ends a runner that may still run so many tasks, unless there is a task for it. It tells whether it has.
func (s *share) retire(left int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks.Len() != 0 {
		return false
	}
	s.runners--
	s.room -= left
	return true
}

// fallAsleep counts the loop among the group's sleepers, and tells whether there are tasks, for which it should not sleep. The
// loop has committed to sleep. The share of a loop without a group is nil.
func (s *share) fallAsleep() (tasks bool) {
	if s == nil {
		return false
	}
	s.group.sleepers.Add(1)
	return s.group.anywhere() && !s.sealed.Load()
}

// wakeUp ends what fallAsleep began, and has the loop look for tasks if there were any.
func (s *share) wakeUp(tasks bool) {
	if s == nil {
		return
	}
	if s.group.sleepers.Add(-1); tasks {
		s.seek()
	}
}

// wakeSleeper posts a runner to a loop that sleeps, to look for tasks.
func (g *Group) wakeSleeper() {
	for i := range g.loops {
		if g.loops[i].state.load().sleeping() && g.shares[i].seek() {
			return
		}
	}
}

// seek posts a runner that looks for tasks, and tells whether the loop was asleep, so that it looks before it begins a task of
// its own. If there is a runner, that looks. A loop that is ending takes no tasks from others.
func (s *share) seek() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runners == 0 && !s.sealed.Load() && s.post() == nil && s.first
}

// passOn has a loop that sleeps look for the tasks that this one was about to run. The loop calls it before callbacks that go before
// those tasks, since the tasks may have woken no other loop. The share of a loop without a group is nil.
func (s *share) passOn() {
	if s != nil && s.queued.Load()+s.n.Load() > 0 && s.group.sleepers.Load() > 0 {
		s.group.wakeSleeper()
	}
}

// anywhere tells whether a share has a task.
func (g *Group) anywhere() bool {
	for i := range g.shares {
		if g.shares[i].n.Load() > 0 {
			return true
		}
	}
	return false
}

func (s *share) take() (fn func(), m inbox.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks.Len() == 0 {
		return nil, inbox.Mark{}
	}
	fn, m = s.tasks.PopMarked()
	s.room--
	s.n.Store(int32(s.tasks.Len()))
	return fn, m
}

// steal moves tasks of the longest other share to share i, whose runner calls it, and tells whether it has found any.
func (g *Group) steal(i int) bool {
	from, most := -1, int32(0)
	for j := range g.shares {
		if n := g.shares[j].n.Load(); j != i && n > most {
			from, most = j, n
		}
	}
	if from < 0 {
		return false
	}
	var stolen [groupSteal]func()
	var marks [groupSteal]inbox.Mark
	victim, s := &g.shares[from], &g.shares[i]
	victim.mu.Lock()
	n := min((victim.tasks.Len()+1)/2, groupSteal)
	for k := range n {
		stolen[k], marks[k] = victim.tasks.PopMarked()
	}
	victim.n.Store(int32(victim.tasks.Len()))
	victim.mu.Unlock()
	s.mu.Lock()
	for k, fn := range stolen[:n] {
		s.add(fn, marks[k])
	}
	s.n.Store(int32(s.tasks.Len()))
	s.mu.Unlock()
	if n > 1 && g.sleepers.Load() > 0 {
		g.wakeSleeper() // it may have looked while the tasks were in neither share, and the first task may block this loop
	}
	return true // even if another loop has taken them: the caller then looks at all shares again
}

// noteLeft notes how many tasks the loop has taken and not begun, for Least. The share of a loop without a group is nil.
func (s *share) noteLeft(n int) {
	if s != nil {
		release.Publish(&s.behind, int64(n))
	}
}

// end drops what is in the share of a loop that has ended: tasks if it was closed, otherwise none. A loop without a group has
// no share.
func (s *share) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed.Store(true)
	s.tasks = inbox.Queue{}
	s.n.Store(0)
}
