package nodejs_test

// What this package and goja_nodejs/eventloop have in common: most tests run on both.

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
	other "github.com/dop251/goja_nodejs/eventloop"

	"github.com/turnloop/turnloop/gojaloop/nodejs"
	"github.com/turnloop/turnloop/internal/beat"
)

// loop is the part of the API that both packages have.
type loop interface {
	Run(func(*goja.Runtime))
	Start()
	StartInForeground()
	Stop() int
	StopNoWait()
	Terminate()
	RunOnLoop(func(*goja.Runtime)) bool
}

var (
	_ loop = (*other.EventLoop)(nil)
	_ loop = (*nodejs.EventLoop)(nil)

	// The rest of the names, with their types.
	_ func(...other.Option) *other.EventLoop                                       = other.NewEventLoop
	_ func(...nodejs.Option) *nodejs.EventLoop                                     = nodejs.NewEventLoop
	_ func(bool) nodejs.Option                                                     = nodejs.EnableConsole
	_                                                                              = nodejs.WithRegistry(nil)
	_ func(*nodejs.EventLoop, func(*goja.Runtime), time.Duration) *nodejs.Timer    = (*nodejs.EventLoop).SetTimeout
	_ func(*nodejs.EventLoop, func(*goja.Runtime), time.Duration) *nodejs.Interval = (*nodejs.EventLoop).SetInterval
	_ func(*nodejs.EventLoop, *nodejs.Timer)                                       = (*nodejs.EventLoop).ClearTimeout
	_ func(*nodejs.EventLoop, *nodejs.Interval)                                    = (*nodejs.EventLoop).ClearInterval
	_ nodejs.Immediate
)

// both runs a test on either package, on virtual time.
func both(t *testing.T, test func(t *testing.T, l loop)) {
	for name, make := range map[string]func() loop{
		"goja_nodejs": func() loop { return other.NewEventLoop() },
		"nodejs":      func() loop { return nodejs.NewEventLoop() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := make()
				test(t, l)
				l.Terminate() // which ends the goroutines of intervals
			})
		})
	}
}

func run(t *testing.T, vm *goja.Runtime, source string) {
	t.Helper()
	if _, err := vm.RunString(source); err != nil {
		t.Error(err)
	}
}

func TestRunEndsWhenNothingIsLeft(t *testing.T) {
	both(t, func(t *testing.T, l loop) {
		var vm *goja.Runtime
		for range 3 {
			l.Run(func(r *goja.Runtime) {
				vm = r
				run(t, vm, `
					var n = (globalThis.n || 0)
					setTimeout((a, b) => { n += a + b; setImmediate(x => { n += x }, 100) }, 1, 1, 10)
					var runs = 0
					var i = setInterval(() => { n += 1000; if (++runs === 3) clearInterval(i) }, 1)`)
			})
		}
		if got := vm.Get("n").ToInteger(); got != 3*3111 {
			t.Errorf("%d", got)
		}
	})
}

func TestStartStopAndGoOn(t *testing.T) {
	both(t, func(t *testing.T, l loop) {
		ran := make(chan int, 100)
		for i := range 3 {
			l.RunOnLoop(func(*goja.Runtime) { ran <- i })
		}
		l.Start()
		for i := range 3 {
			if got := <-ran; got != i {
				t.Errorf("%d in the place of %d", got, i)
			}
		}
		l.RunOnLoop(func(vm *goja.Runtime) {
			vm.Set("note", func(i int) { ran <- i })
			run(t, vm, "setTimeout(() => note(7), 30)")
			ran <- 6
		})
		if got := <-ran; got != 6 {
			t.Error(got)
		}
		if n := l.Stop(); n != 1 {
			t.Errorf("%d are pending", n)
		}
		if !l.RunOnLoop(func(*goja.Runtime) { ran <- 8 }) {
			t.Error("a loop that has stopped accepts nothing")
		}
		time.Sleep(50 * time.Millisecond)
		if len(ran) != 0 {
			t.Error("it runs although it has stopped")
		}
		l.Start()
		got := fmt.Sprint(<-ran+<-ran, len(ran))
		if got != "15 0" {
			t.Error(got)
		}
		if n := l.Stop(); n != 0 {
			t.Errorf("%d are pending", n)
		}
		if n := l.Stop(); n != 0 {
			t.Errorf("of a loop that does not run %d are pending", n)
		}
	})
}

func TestStartTwicePanics(t *testing.T) {
	both(t, func(t *testing.T, l loop) {
		begun := make(chan struct{})
		l.Start()
		l.RunOnLoop(func(*goja.Runtime) { close(begun) })
		<-begun
		defer l.Stop()
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		l.StartInForeground()
	})
}

func TestTerminate(t *testing.T) {
	both(t, func(t *testing.T, l loop) {
		var mu sync.Mutex
		n := 0
		l.Start()
		done := make(chan struct{})
		l.RunOnLoop(func(vm *goja.Runtime) {
			vm.Set("note", func() { mu.Lock(); n++; mu.Unlock() })
			run(t, vm, "setTimeout(note, 10); setInterval(note, 10)")
			close(done)
		})
		<-done
		l.Terminate()
		if l.RunOnLoop(func(*goja.Runtime) {}) {
			t.Error("a terminated loop accepts functions")
		}
		l.Start()
		time.Sleep(40 * time.Millisecond)
		l.Stop()
		mu.Lock()
		defer mu.Unlock()
		if n != 0 {
			t.Errorf("%d of the timers that were taken back have run", n)
		}
	})
}

func TestStopNoWaitFromTheLoop(t *testing.T) {
	both(t, func(t *testing.T, l loop) {
		n := 0
		l.Run(func(vm *goja.Runtime) {
			vm.Set("stop", l.StopNoWait)
			vm.Set("note", func() { n++ })
			run(t, vm, "setInterval(() => { note(); stop() }, 1)")
		})
		// An interval of goja_nodejs has a goroutine, which may have queued the next run already.
		if _, there := l.(*other.EventLoop); n != 1 && !(there && n == 2) {
			t.Errorf("%d runs", n)
		}
	})
}

func TestGoPanicComesOut(t *testing.T) {
	for _, l := range []loop{other.NewEventLoop(), nodejs.NewEventLoop()} {
		func() {
			defer func() {
				if x := recover(); x != "oops" {
					t.Errorf("%T: recovered %v", l, x)
				}
			}()
			l.Run(func(vm *goja.Runtime) {
				vm.Set("oops", func() { panic("oops") })
				run(t, vm, "setTimeout(() => oops(), 1)")
			})
			t.Errorf("%T: no panic", l)
		}()
	}
}

// Functions that are accepted while a loop stops and starts run once, in order.
func TestNothingIsLostBetweenStarts(t *testing.T) {
	l := nodejs.NewEventLoop()
	const n = 20000
	var ran []int
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range n {
			if !l.RunOnLoop(func(*goja.Runtime) { ran = append(ran, i) }) {
				t.Error("refused")
			}
			if i%64 == 0 {
				runtime.Gosched()
			}
		}
	}()
	for starts := 0; ; starts++ {
		if starts%2 == 0 {
			l.Run(func(*goja.Runtime) {})
		} else {
			l.Start()
			runtime.Gosched()
			l.Stop()
		}
		select {
		case <-done:
			l.Run(func(*goja.Runtime) {})
			if len(ran) != n {
				t.Errorf("%d of %d", len(ran), n)
			}
			for i, v := range ran {
				if i != v {
					t.Fatalf("%d in the place of %d", v, i)
				}
			}
			return
		default:
		}
	}
}

func TestTimersFromGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := nodejs.NewEventLoop()
		var notes []string
		note := func(s string) func(*goja.Runtime) { return func(*goja.Runtime) { notes = append(notes, s) } }
		l.SetTimeout(note("b"), 10*time.Millisecond)
		l.SetTimeout(note("a"), time.Microsecond)
		l.ClearTimeout(l.SetTimeout(note("never"), time.Millisecond))
		var i *nodejs.Interval
		n := 0
		i = l.SetInterval(func(*goja.Runtime) {
			if n++; n == 3 {
				l.ClearInterval(i)
			}
		}, time.Millisecond)
		l.ClearTimeout(nil)
		l.ClearInterval(nil)
		l.Run(func(*goja.Runtime) {})
		if got := strings.Join(notes, " "); got != "a b" || n != 3 {
			t.Error(got, n)
		}
		l.Terminate()
		if l.SetTimeout(note("never"), 1) != nil || l.SetInterval(note("never"), 1) != nil {
			t.Error("a terminated loop sets timers")
		}
	})
}

func TestLoopsLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		l := nodejs.NewEventLoop()
		l.Start()
		l.RunOnLoop(func(vm *goja.Runtime) { vm.RunString("setInterval(() => {}, 1); setTimeout(() => {}, 1e6)") })
		l.Stop()
	}
	beat.Eventually(t, func() bool { return beat.Goroutines() <= before }, "goroutines to end")
}

func TestClearedBeforeStop(t *testing.T) {
	for range 50 {
		loop := nodejs.NewEventLoop()
		loop.Start()
		set := make(chan struct{})
		i := loop.SetInterval(func(*goja.Runtime) {}, time.Hour)
		loop.RunOnLoop(func(*goja.Runtime) { close(set) })
		<-set
		loop.ClearInterval(i)
		if n := loop.Stop(); n != 0 {
			t.Fatalf("%d timers are pending", n)
		}
	}
}

func TestWithoutConsole(t *testing.T) {
	nodejs.NewEventLoop(nodejs.EnableConsole(false)).Run(func(vm *goja.Runtime) {
		if _, err := vm.RunString("console.log(1)"); err == nil {
			t.Error("there is a console")
		}
	})
}
