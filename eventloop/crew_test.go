package eventloop_test

// Tests of the crew: which goroutines are workers.

import (
	"sync"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
)

// Whoever works for the loop is known for that until it has done, however many do.
func TestCrew(t *testing.T) {
	var c eventloop.Crew
	for range 3 {
		var entered, asked, left sync.WaitGroup
		leave := make(chan struct{})
		const all = 300
		entered.Add(all)
		asked.Add(all)
		for n := range all {
			stranger := n%3 == 0
			left.Go(func() {
				if !stranger {
					c.Enter()
				}
				entered.Done()
				entered.Wait()
				if c.Has() == stranger {
					t.Errorf("%d: %v", n, !stranger)
				}
				asked.Done()
				if <-leave; !stranger {
					c.Leave()
				}
				if c.Has() {
					t.Errorf("%d has left", n)
				}
			})
		}
		asked.Wait()
		close(leave)
		left.Wait()
	}
}
