package main

// --trace-alive: why a program does not end.

import (
	_ "embed"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// alive prints what keeps a program alive: once after a delay, and at each Ctrl-C.
type alive struct {
	p     *program
	after time.Duration // the delay
	ended chan struct{} // closed when the program has ended
	list  goja.Callable // what alive.js returns; for the loop

	mu   sync.Mutex
	work map[uint64]work // Go work under way; guarded by mu
	last uint64          // key given last; guarded by mu
}

// work is Go work that a script waits for.
type work struct {
	what  string
	since time.Time
}

//go:embed alive.js
var aliveSource string

// newAlive begins to watch a program, before it runs. The functions that set timers are replaced by ones that remember their callers.
func newAlive(p *program, after time.Duration) error {
	made, err := p.host.Runtime().RunScript("gojaloop:internal/loopjs/alive.js", aliveSource)
	if err != nil {
		return err
	}
	a := &alive{p: p, after: after, ended: make(chan struct{}), work: map[uint64]work{}}
	f, _ := goja.AssertFunction(made)
	list, err := f(nil, p.host.Func(p.host.StackOf))
	if err != nil {
		return err
	}
	a.list, _ = goja.AssertFunction(list)
	p.alive = a
	go a.watch()
	return nil
}

func (a *alive) stop() { close(a.ended) }

// working notes that Go work begins, and returns the function to call at its end. Any goroutine may call both.
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

// watch prints once, after the delay.
func (a *alive) watch() {
	select {
	case <-a.ended:
	case <-time.After(a.after):
		a.report(fmt.Sprintf("after %v", a.after), 2*time.Second)
	}
}

// report prints what the program waits for. If a callback does not end within patience, it prints the callback's
// place in the script. Any goroutine but the loop's may call it.
func (a *alive) report(why string, patience time.Duration) {
	lines := make(chan []string, 1)
	err := a.p.host.Submit(func(vm *goja.Runtime) {
		list, err := a.list(nil)
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
	case <-a.ended:
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
			if one.Keeps {
				texts = append(texts, one.String())
			}
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
