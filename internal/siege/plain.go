//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The yardstick: a goroutine that ranges over a channel of functions, time.AfterFunc, and a goroutine that reads for that
// channel, besieged in the same way by as many goroutines beside the same neighbours.

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// manner is the kind of work that a flood amounts to without a loop.
type manner int

const (
	quiet   manner = iota // none
	sends                 // blocking sends to the channel
	makes                 // the same, each of a new function, with the memory of a promise
	logs                  // the same, and the function logs an error
	toils                 // the same at the cost of some promises
	serves                // the same as makes, and the function itself does as much
	hoards                // the same as makes, and the memory stays: the collector goes through all of it again and again
	litters               // memory only
	feeds                 // functions that send themselves again
	reads                 // loads of an atomic
	nudges                // sends to the channel, but only while no function of the flood waits there
	locks                 // a mutex, taken and released
	alarms                // time.AfterFunc, stopped
	systems               // system calls
)

// plain is the loop of channels.
type plain struct {
	tasks chan func()
	stop  atomic.Bool
	ended atomic.Bool // the flood is refused
	nudge atomic.Bool // a nudge waits
	done  chan struct{}
	ran   atomic.Int64 // functions
	mu    sync.Mutex
	free  []func()
	hoard [][]*[96]byte // only functions touch it

	senders sync.WaitGroup // to the channel, that end when what free closes is closed
}

const room = 4096 // of the channel

func newPlain() *plain {
	p := &plain{tasks: make(chan func(), room), done: make(chan struct{})}
	go func() {
		for fn := range p.tasks {
			if fn == nil {
				break
			}
			fn()
			p.ran.Add(1)
		}
		close(p.done)
		for range p.tasks { // senders must not wait for ever
		}
	}()
	return p
}

// flooder is one goroutine's flood.
func (p *plain) flooder(m manner) (call func(), err error) {
	// made makes a function for the channel at each call, after the memory of so many promises.
	made := func(before int, fn func(kept []*[96]byte)) func() {
		return func() {
			for range before {
				litter()
			}
			if kept := litter(); !p.ended.Load() {
				p.tasks <- func() { fn(kept) }
			}
		}
	}
	drop := func(kept []*[96]byte) { kept[0] = nil }
	switch m {
	case sends:
		fn := func() {}
		return func() {
			if !p.ended.Load() {
				p.tasks <- fn
			}
		}, nil
	case makes:
		return made(0, drop), nil
	case logs:
		logger := slog.New(records{})
		return made(0, func(kept []*[96]byte) {
			drop(kept)
			logger.Error("unhandled", "kind", "promise", "error", errors.ErrUnsupported)
		}), nil
	case toils:
		return made(8, drop), nil
	case serves:
		return made(0, func(kept []*[96]byte) {
			p.mu.Lock()
			kept[0] = litter()[0]
			p.mu.Unlock()
		}), nil
	case hoards:
		return made(0, func(kept []*[96]byte) { p.hoard = append(p.hoard, kept) }), nil
	case litters:
		return func() { litter() }, nil
	case reads:
		return func() { p.ended.Load() }, nil
	case nudges:
		fn := func() { p.nudge.Store(false) }
		return func() {
			if !p.ended.Load() && p.nudge.CompareAndSwap(false, true) {
				p.tasks <- fn
			}
		}, nil
	case locks:
		return func() {
			p.mu.Lock()
			p.ended.Load()
			p.mu.Unlock()
		}, nil
	case alarms:
		return func() { time.AfterFunc(time.Millisecond, func() {}).Stop() }, nil
	case systems:
		fd, far, err := pair()
		if err != nil {
			return nil, err
		}
		p.free = append(p.free, func() {
			_ = unix.Close(fd)
			_ = far.Close()
		})
		events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		return func() {
			_, _ = unix.Poll(events, 0)
			_, _ = unix.Poll(events, 0)
		}, nil
	}
	return nil, nil
}

// litter allocates about as much as a promise and its handlers.
//
//go:noinline
func litter() []*[96]byte { return []*[96]byte{new([96]byte), new([96]byte)} }

// feed starts a function that sends itself again. The channel has room for all of them.
func (p *plain) feed() {
	var fn func()
	fn = func() {
		if !p.stop.Load() {
			select {
			case p.tasks <- fn:
			default:
			}
		}
	}
	p.tasks <- fn
}

func (p *plain) probe() (*battery, error) {
	b := &battery{ended: p.done}
	fd, near, err := pair()
	if err != nil {
		return nil, err
	}
	far := os.NewFile(uintptr(fd), "far end")
	p.free = append(p.free, func() { _ = near.Close(); _ = far.Close() })
	sent := b.echo(near)
	p.senders.Go(func() {
		var buf [16]byte
		for {
			n, err := far.Read(buf[:])
			if err != nil {
				return
			}
			back := bytes.Clone(buf[:n])
			// What a descriptor brings is for the goroutine that does everything else, as on a loop.
			p.tasks <- func() {
				_, _ = far.Write(back)
				sent()
			}
		}
	})
	// The functions are made anew, as those of the loop's probers are. Beside a flood of garbage that can take longest: a
	// goroutine that allocates has to assist the collector.
	for _, kind := range []probe{taskProbe, internalProbe, microtaskProbe} {
		b.ask(kind, func(done func()) error { p.tasks <- func() { done() }; return nil })
	}
	b.ask(promiseProbe, func(done func()) error {
		kept := litter()
		p.tasks <- func() { kept[0] = nil; done() }
		return nil
	})
	g := &b.gauges[timerProbe]
	var arm func()
	arm = func() {
		g.beginGap(now() + int64(pace))
		time.AfterFunc(pace, func() {
			g.end()
			if !b.stop.Load() {
				arm()
			}
		})
	}
	arm()
	return b, nil
}

// yard is a measurement of the yardstick.
type yard struct {
	gaps [probes]time.Duration
	end  time.Duration
	each time.Duration // what a function of the flood takes, on average, while the flood goes on
	turn time.Duration // what a goroutine that only computes waits for its turn
}

// or returns the worse of two, figure by figure.
func (y yard) or(z yard) yard {
	for p := range y.gaps {
		y.gaps[p] = max(y.gaps[p], z.gaps[p])
	}
	y.end = max(y.end, z.end)
	y.each = max(y.each, z.each)
	y.turn = max(y.turn, z.turn)
	return y
}

const yardPatience = 4 * time.Second // for steps that take no time, and for a gap that is under way when the window ends

// measure besieges the loop of channels for the window.
func measure(like []manner, goroutines, neighbours int, window time.Duration) (y yard, err error) {
	p := newPlain()
	b, err := p.probe()
	if err != nil {
		return y, err
	}
	b.ready(yardPatience)
	stopNeighbours := compute(neighbours)
	var flooders sync.WaitGroup
	turn := turns()
	began, ran := time.Now(), p.ran.Load()
	latest := now() + int64(window+yardPatience) // on one processor a flood of channels may keep this goroutine from stopping it for minutes
	b.reset()
	for i := range goroutines * len(like) {
		m := like[i%len(like)]
		if m == feeds {
			p.feed()
			continue
		}
		call, err := p.flooder(m)
		if err != nil {
			return y, err
		}
		if call == nil {
			continue
		}
		flooders.Go(func() {
			for !p.stop.Load() && now() < latest {
				call()
			}
		})
	}
	time.Sleep(window)
	y.each = time.Since(began) / time.Duration(max(1, p.ran.Load()-ran))
	b.awaitPending(0, yardPatience)
	y.gaps = b.gaps()
	y.turn = turn()
	channel := max(y.gaps[taskProbe], y.gaps[internalProbe], y.gaps[promiseProbe], y.gaps[microtaskProbe])
	for _, p := range []probe{taskProbe, internalProbe, promiseProbe, microtaskProbe} {
		y.gaps[p] = channel // which is the same for all of them
	}
	b.stop.Store(true)
	asked := time.Now()
	p.ended.Store(true)
	go func() { p.tasks <- nil }()
	<-p.done
	y.end = max(time.Since(asked), channel) // one round trip more
	p.stop.Store(true)
	stopNeighbours()
	flooders.Wait()
	b.all.Wait()
	for _, fn := range p.free {
		fn()
	}
	p.senders.Wait()
	close(p.tasks)
	return y, nil
}

// turns starts a goroutine that computes, as a loop that always has work does, and looks at the clock. worst stops it at its
// next turn, and returns the longest time that it has waited for one.
func turns() (worst func() time.Duration) {
	var over atomic.Bool
	found := make(chan time.Duration, 1)
	go func() {
		var most int64
		for last := now(); ; {
			stop := over.Load()
			n := now()
			most = max(most, n-last)
			last = n
			if stop {
				found <- time.Duration(most)
				return
			}
		}
	}()
	return func() time.Duration {
		over.Store(true)
		return <-found
	}
}

// compute starts neighbours, that do nothing but compute.
func compute(n int) (stop func()) {
	var over atomic.Bool
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			x := uint64(1)
			for !over.Load() {
				for range 1000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
			}
			sink.Store(x)
		})
	}
	return func() {
		over.Store(true)
		all.Wait()
	}
}

var sink atomic.Uint64 // so that neighbours compute something
