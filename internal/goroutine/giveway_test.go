package goroutine_test

// A test of giving way.

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
)

// GiveWay lets the goroutines run that are ready, but beside one that computes it does not wait for sixteen of its turns.
func TestGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ran, stop atomic.Bool
	go ran.Store(true)
	for range 100 { // the race detector's build shuffles what is ready
		goroutine.GiveWay(0)
	}
	if !ran.Load() {
		t.Error("a goroutine that was ready has not run")
	}
	defer stop.Store(true)
	var turns atomic.Int64
	go func() {
		for !stop.Load() {
			turns.Add(1)
			for began := time.Now(); time.Since(began) < 6*time.Millisecond; {
			}
			runtime.Gosched()
		}
	}()
	const calls = 5
	for range calls {
		goroutine.GiveWay(1000)
	}
	if n := turns.Load(); n > 2*calls {
		t.Errorf("%d calls took %d turns of one that computes", calls, n)
	}
}
