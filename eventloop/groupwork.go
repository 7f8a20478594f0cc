package eventloop

// Runners: the tasks that run a group's tasks. Each share has one, which takes from other shares when its own is empty.

// run is the runner of share i, a task of its loop. It runs tasks as the loop does, with microtasks after each and
// internal tasks before.
func (g *Group) run(i int) {
	l, p := g.loops[i], g.loops[i].probe
	again, returned := true, false
	g.shares[i].queued.Store(false)
	if p != nil {
		p.beginRunner()
	}
	defer func() {
		if again { // also when a task did not return
			g.repost(i)
		}
		if p != nil && returned {
			p.clearRunning()
		}
	}()
	var spent stint
	for n := 0; ; n++ {
		if l.microtasksDue() {
			l.checkpoint()
		}
		state := l.state.load()
		if state.closing() {
			again, returned = false, true
			return
		}
		if state.ending() && !g.shares[i].sealed.Load() {
			// A loop that is ending runs all tasks that it finds. If other goroutines could go on to submit some, it would never end.
			g.beginEnd(false)
		}
		if l.internalWaiting() || !state.ending() && n == groupRun || spent.expired(l, aTask) {
			returned = true
			return
		}
		fn, m := g.next(i)
		if fn == nil {
			again, returned = false, true
			return
		}
		if l.grace.counts {
			l.countExternal()
		}
		if p != nil {
			p.glanceDepth(0, l.externals.len()+int(g.shares[i].n.Load())+1)
		}
		if l.calling = (calling{kind: aTask}); p != nil {
			p.callShared(m, fn)
		} else {
			fn()
		}
	}
}

// repost submits the runner once more. An ending loop refuses tasks: there the runner goes on as internal work, which
// is owed and therefore accepted.
func (g *Group) repost(i int) {
	g.shares[i].queued.Store(true)
	if g.loops[i].enqueue(external, g.shares[i].run, true) != nil {
		_ = g.loops[i].enqueue(internal, g.shares[i].run, true)
	}
}

// next returns a task for loop i, from its own share or from another. If there is none it returns nil, and the caller
// is no longer the runner of the share.
func (g *Group) next(i int) (func(), mark) {
	s := &g.shares[i]
	for {
		if fn, m := s.take(); fn != nil {
			return fn, m
		}
		if g.steal(i) {
			continue
		}
		s.mu.Lock()
		if s.tasks.len() != 0 {
			s.mu.Unlock()
			continue
		}
		s.posted = false
		if !s.sealed.Load() && !s.idle.Swap(true) {
			g.idle.Add(1)
		}
		s.mu.Unlock()
		if !g.anywhere() || !g.busy(s) {
			return nil, mark{} // nothing waits, or a producer has found this share idle and posts a runner to it
		}
		s.mu.Lock()
		if s.posted { // another runner has come
			s.mu.Unlock()
			return nil, mark{}
		}
		s.posted = true
		s.mu.Unlock()
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

func (s *share) take() (fn func(), m mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks.len() == 0 {
		return nil, mark{}
	}
	fn, m = s.tasks.popMarked()
	s.n.Store(int32(s.tasks.len()))
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
	var marks [groupSteal]mark
	victim, s := &g.shares[from], &g.shares[i]
	victim.mu.Lock()
	n := min((victim.tasks.len()+1)/2, groupSteal)
	for k := range n {
		stolen[k], marks[k] = victim.tasks.popMarked()
	}
	victim.n.Store(int32(victim.tasks.len()))
	victim.mu.Unlock()
	s.mu.Lock()
	for k, fn := range stolen[:n] {
		s.add(fn, marks[k], g.loops[i].probe)
	}
	s.n.Store(int32(s.tasks.len()))
	s.mu.Unlock()
	if n > 1 && g.idle.Load() > 0 {
		g.wakeIdle() // another loop may have looked while the tasks were in neither share, and the first task may block this loop
	}
	return true // even if another loop has taken them: the caller then looks at all shares again
}
