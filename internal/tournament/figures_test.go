package tournament

// The figures of the ranking as stock benchmarks, for go test -bench and what is built on it: BenchmarkSubmit/impl=main.

import "testing"

func own(b *testing.B, name string) { Own().measure(b, name) }

func BenchmarkSubmit(b *testing.B)           { own(b, "Submit") }
func BenchmarkSubmitOnLoop(b *testing.B)     { own(b, "SubmitOnLoop") }
func BenchmarkPingPong(b *testing.B)         { own(b, "PingPong") }
func BenchmarkMultiProducer(b *testing.B)    { own(b, "MultiProducer") }
func BenchmarkBurst(b *testing.B)            { own(b, "Burst") }
func BenchmarkManyLoops(b *testing.B)        { own(b, "ManyLoops") }
func BenchmarkPingPongLatency(b *testing.B)  { own(b, "PingPongLatency") }
func BenchmarkCrossLoop(b *testing.B)        { own(b, "CrossLoop") }
func BenchmarkInternalPriority(b *testing.B) { own(b, "InternalPriority") }
func BenchmarkOpenLoopLatency(b *testing.B)  { own(b, "OpenLoopLatency") }
func BenchmarkWakeFromIdle(b *testing.B)     { own(b, "WakeFromIdle") }
func BenchmarkTimer(b *testing.B)            { own(b, "Timer") }
func BenchmarkTimerLateness(b *testing.B)    { own(b, "TimerLateness") }
func BenchmarkMicrotask(b *testing.B)        { own(b, "Microtask") }
func BenchmarkFDRoundTrip(b *testing.B)      { own(b, "FDRoundTrip") }
func BenchmarkEcho(b *testing.B)             { own(b, "Echo") }
func BenchmarkMix(b *testing.B)              { own(b, "Mix") }
func BenchmarkFootprint(b *testing.B)        { own(b, "Footprint") }
func BenchmarkGCPressure(b *testing.B)       { own(b, "GCPressure") }
func BenchmarkLifecycle(b *testing.B)        { own(b, "Lifecycle") }
