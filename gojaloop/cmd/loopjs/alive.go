package main

// --trace-alive: what keeps a program from its end.

import (
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// alive tells why a program does not end: when it has been at rest for a time, and when it is asked.
type alive struct {
	p     *program
	after time.Duration
	over  chan struct{}

	mu   sync.Mutex
	work map[uint64]work // Go work under way; guarded by mu
	last uint64
}

// work is something that a script waits for, and that is done in Go.
type work struct {
	what  string
	since time.Time
}

func newAlive(p *program, after time.Duration) *alive {
	a := &alive{p: p, after: after, over: make(chan struct{}), work: map[uint64]work{}}
	go a.watch()
	return a
}

func (a *alive) stop() { close(a.over) }

// install has the functions that set timers remember where they were called.
func (a *alive) install(p *program) error {
	made, err := p.vm.RunProgram(ownSource("alive"))
	if err != nil {
		return err
	}
	f, _ := goja.AssertFunction(made)
	list, err := f(nil, p.host.Func(func(call goja.FunctionCall) goja.Value { return p.vm.ToValue(p.host.StackOf(call.Argument(0))) }))
	if err == nil {
		p.modules.Set("alive", list)
	}
	return err
}

// working notes Go work that begins, and returns what ends it.
func (p *program) working(what string) (done func()) {
	a := p.alive
	if a == nil {
		return func() {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	id := a.last
	a.work[id] = work{what, time.Now()}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.work, id)
	}
}

// watch tells once when nothing has run for a time.
func (a *alive) watch() {
	select {
	case <-a.over:
	case <-time.After(a.after):
		a.tell(fmt.Sprintf("after %v", a.after), 2*time.Second)
	}
}

// tell tells what the program waits for, or what it is doing if that is not over in a time. Any goroutine but the loop's may
// call it.
func (a *alive) tell(why string, patience time.Duration) {
	lines := make(chan []string, 1)
	err := a.p.host.Submit(func(vm *goja.Runtime) {
		list, err := a.p.call("alive")
		if err != nil {
			lines <- nil
			return
		}
		var texts []string
		_ = vm.ExportTo(list, &texts)
		lines <- texts
	})
	if err != nil {
		return
	}
	var texts []string
	select {
	case texts = <-lines:
	case <-a.over:
		return
	case <-time.After(patience):
		texts = []string{"a callback that does not return:\n" + where()}
	}
	a.mu.Lock()
	for _, w := range a.work {
		texts = append(texts, fmt.Sprintf("%s for %v", w.what, time.Since(w.since).Round(time.Millisecond)))
	}
	a.mu.Unlock()
	if len(texts) == 0 {
		for _, one := range a.p.loop.Active() {
			texts = append(texts, one.String())
		}
	}
	out := fmt.Sprintf("loopjs: %s, what keeps the program alive:\n", why)
	for _, t := range texts {
		out += "  " + t + "\n"
	}
	if len(texts) == 0 {
		out += "  nothing\n"
	}
	fmt.Fprint(a.p.stderr, out)
}
