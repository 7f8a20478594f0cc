package eventloop

// How the loops of a group get through its tasks: a runner for each share, which takes from others when its own is empty.

// run is the runner of a share, a task of its loop: it runs tasks as the loop does, with microtasks after each and
// internal tasks before.
func (g *Group) run(i int) {
	l, p := g.loops[i], g.loops[i].probe
	again, returned := true, false
	g.shares[i].queued.Store(false)
	if p != nil {
		p.instead()
	}
	defer func() {
		if again { // also when a task did not return
			g.again(i)
		}
		if p != nil && returned {
			p.none()
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
		if l.internalWaiting() || !state.ending() && n == groupRun || spent.over(l) {
			returned = true
			return
		}
		fn, m := g.next(i)
		if fn == nil {
			again, returned = false, true
			return
		}
		if l.grace.counts {
			l.runsExternal()
		}
		if p != nil {
			p.glanceDepth(0, l.batch.len()+int(g.shares[i].n.Load())+1)
		}
		if l.calling = (calling{kind: aTask}); p != nil {
			p.callShared(m, fn)
		} else {
			fn()
		}
	}
}

// again has the runner go on later. A loop that is ending takes that as what it is owed.
func (g *Group) again(i int) {
	g.shares[i].queued.Store(true)
	if g.loops[i].Submit(g.shares[i].run) != nil {
		_ = g.loops[i].enqueue(internal, g.shares[i].run, true)
	}
}

// next returns a task for the loop i: of its own share, or of another's. If there is none the share has no runner any more.
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
		if !s.sealed && !s.idle.Swap(true) {
			g.idle.Add(1)
		}
		s.mu.Unlock()
		if !g.anywhere() || !g.busy(s) {
			return nil, mark{} // or who has brought one has found this idle
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

// anywhere tells whether there is a task.
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
	m = s.tasks.nextMark()
	fn = s.tasks.pop()
	s.n.Store(int32(s.tasks.len()))
	return fn, m
}

// steal moves tasks of the share that has most to that of loop i, which has a runner, and tells whether there were any.
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
	var loot [groupSteal]func()
	var marks [groupSteal]mark
	victim, s := &g.shares[from], &g.shares[i]
	victim.mu.Lock()
	n := min((victim.tasks.len()+1)/2, groupSteal)
	for k := range n {
		marks[k] = victim.tasks.nextMark()
		loot[k] = victim.tasks.pop()
	}
	victim.n.Store(int32(victim.tasks.len()))
	victim.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, fn := range loot[:n] {
		s.add(fn, marks[k], g.loops[i].probe)
	}
	s.n.Store(int32(s.tasks.len()))
	return true // or somebody else was quicker, and all is to be looked at again
}
