package tournament_test

// Histories of concurrent calls, checked for linearizability.

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/tournament"
)

// history collects the operations of several goroutines for the checker of linearizability.
type history struct {
	mu    sync.Mutex
	start time.Time
	list  []porcupine.Operation
}

// do carries out an operation as one of the clients and books it.
func (h *history) do(client int, input any, operation func() any) {
	call := time.Since(h.start)
	output := operation()
	h.add(client, input, call, output)
}

func (h *history) add(client int, input any, call time.Duration, output any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, porcupine.Operation{
		ClientId: client, Input: input, Call: int64(call), Output: output, Return: int64(time.Since(h.start)),
	})
}

func (h *history) linearizable(model porcupine.Model) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return porcupine.CheckOperations(model, h.list) // of histories so short that it ends
}

// queueInput is an operation on the loop as a queue: enqueue into a lane, dequeue, which is the begin of a function, the end
// by Shutdown, or its completion, by when all that was accepted has run.
type queueInput struct {
	op   string
	lane int // 0 is external, 1 is internal
	id   int
}

// queueState is the lanes in order. States are compared, and never changed.
type queueState struct {
	lanes  [2][]int
	ending bool
}

// queueModel is a FIFO in each lane, of which the internal one goes first. From the end on the external one accepts nothing,
// the internal one as long as the loop has something to run.
var queueModel = porcupine.Model{
	Init: func() any { return queueState{} },
	Step: func(state, input, output any) (bool, any) {
		s, in := state.(queueState), input.(queueInput)
		switch in.op {
		case "enqueue":
			accepted := output.(bool)
			if closed := s.ending && in.lane == 0; accepted == closed && !(s.ending && in.lane == 1) {
				return false, s
			}
			if accepted {
				s.lanes[in.lane] = append(slices.Clone(s.lanes[in.lane]), in.id)
			}
		case "dequeue":
			lane := 0
			if len(s.lanes[1]) > 0 {
				lane = 1
			}
			if len(s.lanes[lane]) == 0 || s.lanes[lane][0] != in.id {
				return false, s
			}
			s.lanes[lane] = s.lanes[lane][1:]
		case "end":
			s.ending = true
		case "completed":
			return len(s.lanes[0])+len(s.lanes[1]) == 0, s
		}
		return true, s
	},
	Equal: func(a, b any) bool {
		x, y := a.(queueState), b.(queueState)
		return x.ending == y.ending && slices.Equal(x.lanes[0], y.lanes[0]) && slices.Equal(x.lanes[1], y.lanes[1])
	},
}

// queueHistory has producers submit to both lanes of a loop that ends meanwhile. The loop decides what comes next somewhere
// between the end of one function and the begin of the next, so that is the interval of a dequeue.
func queueHistory(t *testing.T, create looptest.Factory) *history {
	const producers, each = 3, 4
	loop, err := create(looptest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h := &history{start: time.Now()}
	var between time.Duration // only the loop touches it
	body := func(in queueInput) func() {
		return func() {
			h.add(producers+1, queueInput{op: "dequeue", id: in.id}, between, nil)
			between = time.Since(h.start)
		}
	}
	ran := make(chan error, 1)
	go func() { ran <- loop.Run(context.Background()) }()
	var producing sync.WaitGroup
	begun := make(chan struct{}, producers)
	for p := range producers {
		producing.Go(func() {
			for i := range each {
				if i == each/2 {
					begun <- struct{}{}
				}
				in := queueInput{"enqueue", (p + i) % 2, p*each + i}
				h.do(p, in, func() any {
					if in.lane == 1 {
						return loop.SubmitInternal(body(in)) == nil
					}
					return loop.Submit(body(in)) == nil
				})
			}
		})
	}
	<-begun
	h.do(producers, queueInput{op: "end"}, func() any { return loop.Shutdown(context.Background()) })
	producing.Wait()
	h.do(producers, queueInput{op: "completed"}, func() any { return <-ran })
	return h
}

// TestQueueHistories checks that the queue of each contestant is linearizable. Baseline has one queue, and says so.
func TestQueueHistories(t *testing.T) {
	for _, c := range tournament.Own().Contestants {
		if _, oneQueue := c.Divergences["D09_InternalFirst"]; !c.Ranked || oneQueue {
			continue
		}
		t.Run("impl="+c.Name, func(t *testing.T) {
			for range rounds() {
				if h := queueHistory(t, c.New); !h.linearizable(queueModel) {
					t.Fatalf("a history that no sequential queue has: %+v", h.list)
				}
			}
		})
	}
}

// registrarInput is a call that concerns registrations.
type registrarInput struct {
	op string
	n  int // of the descriptor; the mode, for "mode"
}

// registrarState is who is registered, and the mode.
type registrarState struct {
	registered [2]bool
	mode       eventloop.FastPathMode
}

// registrarModel is a set of descriptors that excludes the forced mode.
var registrarModel = porcupine.Model{
	Init: func() any { return registrarState{} },
	Step: func(state, input, output any) (bool, any) {
		s, in := state.(registrarState), input.(registrarInput)
		err, _ := output.(error)
		var want error
		next := s
		switch in.op {
		case "register":
			if next.registered[in.n] = true; s.mode == eventloop.FastPathForced {
				want = eventloop.ErrFastPathIncompatible
			} else if s.registered[in.n] {
				want = eventloop.ErrFDAlreadyRegistered
			}
		case "modify", "unregister":
			if !s.registered[in.n] {
				want = eventloop.ErrFDNotRegistered
			}
			next.registered[in.n] = in.op == "modify"
		case "mode":
			if next.mode = eventloop.FastPathMode(in.n); next.mode == eventloop.FastPathForced && s.registered != [2]bool{} {
				want = eventloop.ErrFastPathIncompatible
			}
		}
		if want != nil {
			next = s
		}
		return errors.Is(err, want), next
	},
}

// registrarHistory has clients register, modify, unregister, and change the mode where there are modes, while the loop runs.
func registrarHistory(t *testing.T, loop looptest.EventLoop, seed uint64) *history {
	const clients, each = 3, 5
	registrar := loop.(eventloop.FDRegistrar)
	moder, hasModes := loop.(interface {
		SetFastPathMode(eventloop.FastPathMode) error
	})
	var fds [2]int
	for i := range fds {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		fds[i] = int(r.Fd())
	}
	ran := make(chan error, 1)
	go func() { ran <- loop.Run(context.Background()) }()
	h := &history{start: time.Now()}
	var calling sync.WaitGroup
	for c := range clients {
		calling.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(c)))
			for range each {
				in := registrarInput{[]string{"register", "register", "modify", "unregister", "mode"}[rng.IntN(5)], rng.IntN(2)}
				if in.op == "mode" && !hasModes {
					in.op = "register"
				}
				h.do(c, in, func() any {
					switch in.op {
					case "register":
						return registrar.RegisterFD(fds[in.n], eventloop.EventRead, func(eventloop.IOEvents) {})
					case "modify":
						return registrar.ModifyFD(fds[in.n], 0)
					case "unregister":
						return registrar.UnregisterFD(fds[in.n])
					}
					return moder.SetFastPathMode(eventloop.FastPathMode(in.n))
				})
			}
		})
	}
	calling.Wait()
	if err := loop.Shutdown(context.Background()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	<-ran
	return h
}

// TestRegistrationHistories checks that the registrations of each contestant are linearizable, main's with its modes.
func TestRegistrationHistories(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes are not polled there")
	}
	for _, c := range tournament.Own().Contestants {
		if !c.Ranked || !registers(t, c.New) {
			continue
		}
		t.Run("impl="+c.Name, func(t *testing.T) {
			for i := range rounds() {
				loop, err := c.New(looptest.Config{})
				if err != nil {
					t.Fatal(err)
				}
				if h := registrarHistory(t, loop, uint64(i)); !h.linearizable(registrarModel) {
					t.Fatalf("a history that no sequential set has: %+v", h.list)
				}
			}
		})
	}
}

func registers(t *testing.T, create looptest.Factory) bool {
	loop, err := create(looptest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	_, ok := loop.(eventloop.FDRegistrar)
	return ok
}

// forgiving is a loop that accepts a second registration of a descriptor.
type forgiving struct{ *eventloop.Loop }

func (f forgiving) RegisterFD(fd int, events eventloop.IOEvents, callback func(eventloop.IOEvents)) error {
	if err := f.Loop.RegisterFD(fd, events, callback); !errors.Is(err, eventloop.ErrFDAlreadyRegistered) {
		return err
	}
	return nil
}

// The checker can say no.
func TestRegistrationHistoriesFindDuplicate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes are not polled there")
	}
	for i := range uint64(20) {
		loop, err := eventloop.New()
		if err != nil {
			t.Fatal(err)
		}
		if h := registrarHistory(t, forgiving{loop}, i); !h.linearizable(registrarModel) {
			return
		}
	}
	t.Error("descriptors are registered twice, and every history is linearizable")
}

func rounds() int {
	if testing.Short() {
		return 10
	}
	return 100
}

// swapping is a loop that hands in some tasks in the wrong order.
type swapping struct {
	looptest.EventLoop
	mu   sync.Mutex
	kept func()
}

func (s *swapping) Submit(fn func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = fn
		return nil
	}
	kept := s.kept
	s.kept = nil
	return errors.Join(s.EventLoop.Submit(fn), s.EventLoop.Submit(kept))
}

// The checker can say no.
func TestQueueHistoriesFindSwap(t *testing.T) {
	for range 10 {
		h := queueHistory(t, func(looptest.Config) (looptest.EventLoop, error) {
			loop, err := eventloop.New()
			return &swapping{EventLoop: loop}, err
		})
		if !h.linearizable(queueModel) {
			return
		}
	}
	t.Error("tasks are swapped, and every history is linearizable")
}
