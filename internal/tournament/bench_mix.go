// A server's mix: connections, timers and tasks together, at half load.

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

const (
	mixConns = 64
	mixWork  = 20 * time.Microsecond // that each callback computes
	mixLoad  = 50                    // per cent of the time
)

// A mix is what the loop and the one who sends share. All but begin and steps belong to the loop.
type mix struct {
	r        *bench
	timers   loopapi.TimerScheduler
	begin    time.Time
	steps    int // of computing in each callback
	left     int
	late     histogram
	requests int
	timeouts [mixConns]loopapi.TimerID
	waiting  [mixConns]bool // for the timeout
}

// mixed sends requests on connections, and tasks, by a schedule that does not wait for the loop. A request has the last timeout of its
// connection cancelled and another one scheduled; every fourth has a timer set that fires a millisecond later, and computes too. How late
// is each request, when it is answered, and each task, when it has run, counts from the moment at which it was due.
func mixed(b *testing.B, c Contestant) {
	r := start(b, c)
	m := &mix{r: r, timers: r.timers(), left: b.N, steps: stepsIn(mixWork)}
	descriptors := r.descriptors()
	var clients [mixConns]int
	for i := range clients {
		client, server := socketpair(b)
		raw, err := syscall.Dup(int(client.Fd()))
		if err == nil {
			err = syscall.SetNonblock(raw, true)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = syscall.Close(raw) })
		clients[i] = raw
		r.watch(descriptors, server, m.answer(i, server))
	}
	// Three of four events are requests, and a fourth of these have a timer that computes.
	interval := mixWork * (16 + 3) / 16 * 100 / mixLoad
	var message, echoed [8]byte
	m.begin = time.Now()
	b.ResetTimer()
	for i := range b.N {
		due := time.Duration(i) * interval
		for time.Since(m.begin) < due {
			elsewhere()
		}
		if i%4 == 3 {
			r.submit(func() {
				m.compute()
				m.through(due)
			})
			continue
		}
		client := clients[i%mixConns]
		_, _ = syscall.Read(client, echoed[:]) // the answer to an earlier request, if it is there yet
		binary.LittleEndian.PutUint64(message[:], uint64(due))
		if _, err := syscall.Write(client, message[:]); err != nil {
			b.Fatalf("sending a request: %v", err)
		}
	}
	r.wait()
	b.StopTimer()
	m.late.report(b)
}

// answer serves a connection.
func (m *mix) answer(i, fd int) func(loopapi.IOEvents) {
	var message [8]byte
	return func(loopapi.IOEvents) {
		n, err := syscall.Read(fd, message[:])
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
			return
		}
		if err == nil && n < len(message) {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			err = m.timeout(i)
		}
		if err == nil {
			m.compute()
			_, err = syscall.Write(fd, message[:])
		}
		if err != nil {
			m.r.fail(err)
			return
		}
		m.through(time.Duration(binary.LittleEndian.Uint64(message[:])))
	}
}

// timeout renews that of a connection, and sets a timer for every fourth request.
func (m *mix) timeout(i int) (err error) {
	if m.waiting[i] {
		if err := m.timers.CancelTimer(m.timeouts[i]); err != nil {
			return err
		}
	}
	m.timeouts[i], err = m.timers.ScheduleTimer(timeout, func() { m.r.fail(errors.New("a timeout fires that was cancelled")) })
	m.waiting[i] = err == nil
	if m.requests++; err == nil && m.requests%4 == 0 {
		_, err = m.timers.ScheduleTimer(time.Millisecond, m.compute)
	}
	return err
}

// through books an event that was due at a time since the begin.
func (m *mix) through(due time.Duration) {
	m.late.record(time.Since(m.begin) - due)
	if m.left--; m.left == 0 {
		m.r.done()
	}
}

var mixed64 uint64 // written by loops, one at a time, so that nothing is optimized away

func (m *mix) compute() {
	x := mixed64
	for range m.steps {
		x = scramble(x)
	}
	mixed64 = x
}

// elsewhere is what one does who waits by computing, as a client in another process would: nothing. To yield again and again would have
// Go's scheduler wake threads that look for work on the loop's processor. Only who shares one processor with the loop has to.
func elsewhere() {
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.Gosched()
	}
}

// stepsIn returns how many steps of computing take so long beside another goroutine that computes, as the one who sends does: two
// processors of a machine may share a core.
func stepsIn(d time.Duration) int {
	const steps = 20_000
	var stop atomic.Bool
	var neighbour sync.WaitGroup
	neighbour.Go(func() {
		for !stop.Load() {
			elsewhere()
			_ = time.Now()
		}
	})
	x := uint64(1)
	took := make([]time.Duration, 21)
	for i := range took {
		begin := time.Now()
		for range steps {
			x = scramble(x)
		}
		took[i] = time.Since(begin)
	}
	stop.Store(true)
	neighbour.Wait()
	runtime.KeepAlive(x)
	slices.Sort(took)
	return max(1, int(steps*d/max(took[len(took)/2], 1)))
}

// descriptorFigures are those of loops that watch descriptors.
func descriptorFigures(row func(name, unit, measures string, run func(*testing.B, Contestant)) Figure) []Figure {
	return []Figure{
		row("FDRoundTrip", mean, "64 bytes to a callback that watches a socket pair, and their echo back", fdRoundTrip).quick().
			beside(BlockingControl, func(b *testing.B) { fdRoundTrip(b, Blocking()) }).
			beside(SocketControl, socketPair),
		row("Echo/conns=64", mean, "a request of 64 bytes answered over TCP, all of 64 connections together", echoCell(serveOnLoop, 64)).
			beside(NetControl, echoControl(serveWithNet, 64)).beside(GnetControl, echoControl(serveWithGnet, 64)),
		row("Mix", tail, "a request on one of 64 connections, or a task, beside timers at half load, from when it was due until it is done", mixed).
			window(longer),
	}
}
