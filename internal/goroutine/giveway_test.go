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
	go func() {
		for !stop.Load() {
		}
	}()
	shortest := time.Hour
	for range 5 {
		began := time.Now()
		goroutine.GiveWay(1000)
		shortest = min(shortest, time.Since(began))
	}
	if shortest > 60*time.Millisecond {
		t.Errorf("it took %v", shortest)
	}
}
