// Package policy has what Turnloop demands of its own loops, as bars. This is the only package that
// names contestants; those that measure and compare know no names.
package policy

import "github.com/turnloop/turnloop/internal/tournament/stats"

const (
	subject   = "main"
	reference = "baseline"
	control   = "channel"
)

// Bars are the demands on the production loop, and on a rival that bets on speed among the rivals.
var Bars = stats.Policy{
	Of: subject,
	// They block in the operating system's poller.
	Rivals: []string{"alternateone", "alternatetwo", "alternatethree"},
	Demands: []stats.Demand{
		{What: "Submit, one producer", Bench: "Submit", Over: reference, Limit: 0.20},
		{What: "Submit, one producer", Bench: "Submit", Over: control, Limit: 0.40},
		{What: "MultiProducer", Bench: "MultiProducer", Over: reference, Limit: 0.15},
		{What: "MultiProducer", Bench: "MultiProducer", Over: control, Limit: 0.35},
		{What: "PingPongLatency", Bench: "PingPongLatency/fd=0", Over: reference, Limit: 0.65},
		{What: "PingPongLatency", Bench: "PingPongLatency/fd=0", Over: control, Limit: 1.05},
		{What: "InternalPriority, 99th percentile", Bench: "InternalPriority", Unit: stats.Tail, Over: stats.Best, Limit: 1.5},
		{What: "InternalPriority beside goroutines that compute, 99th percentile", Bench: "BusyInternalPriority", Unit: stats.Tail, Over: stats.Best, Limit: 2},
		{What: "BusyNeighbours, median", Bench: "BusyNeighbours", Unit: "p50-sec/op", Over: reference, Limit: 1.1},
		{What: "BusyNeighbours, mean", Bench: "BusyNeighbours", Over: reference, Limit: 1.1},
		{
			What: "OpenLoopLatency at half of baseline's capacity, 99th percentile", Bench: "HalfLoadLatency", Unit: stats.Tail,
			Over: reference, Limit: 1,
		},
		{
			What: "OpenLoopLatency at half of baseline's capacity, 99.9th percentile", Bench: "HalfLoadLatency", Unit: stats.FarTail,
			Over: reference, Limit: 1,
		},
		{What: "PingPongLatency with a descriptor to without", Bench: "PingPongLatency/fd=1", Per: "PingPongLatency/fd=0", Limit: 1.2},
		{
			What: "WakeFromIdle with a descriptor to without, median", Bench: "WakeFromIdle/fd=1", Unit: "p50-sec/op",
			Per: "WakeFromIdle/fd=0", Limit: 1.2,
		},
		// The comparison is with a loop that blocks as soon as it has nothing to do. The rivals stay awake for a moment.
		{What: "PingPongLatency with a descriptor", Bench: "PingPongLatency/fd=1", Over: "blocking", Limit: 0.10},
		{
			What: "WakeFromIdle with a descriptor, median", Bench: "WakeFromIdle/fd=1", Unit: "p50-sec/op",
			Over: "blocking", Limit: 0.10, Floor: control, Plain: "WakeFromIdle/fd=0",
		},
		{What: "FDRoundTrip", Bench: "FDRoundTrip", Over: "netpair", Limit: 1.35},
		{What: "FDRoundTrip, allocations", Bench: "FDRoundTrip", Unit: "allocs/op"},
		{What: "Echo, 64 connections, requests per second", Bench: "Echo/conns=64", Over: "gnet", Limit: 1.0, Rate: true},
		{What: "Echo, 64 connections, requests per second", Bench: "Echo/conns=64", Over: "net", Limit: 1.1, Rate: true},
		{What: "Echo, 512 connections, requests per second", Bench: "Echo/conns=512", Over: "gnet", Limit: 1.0, Rate: true},
		{What: "Echo, 512 connections, requests per second", Bench: "Echo/conns=512", Over: "net", Limit: 1.1, Rate: true},
		{What: "Microtask chain", Bench: "Microtask/kind=chain", Limit: 15e-9, Clock: true},
		{What: "Microtask chain, allocations", Bench: "Microtask/kind=chain", Unit: "allocs/op"},
		{What: "promise Then chain, per link", Bench: "Promise/op=then", Limit: 150e-9, Clock: true},
		{What: "promise Then chain, allocations per link", Bench: "Promise/op=then", Unit: "allocs/op", Limit: 1},
		{What: "Promisify, round trip", Bench: "Promise/op=promisify", Over: "goroutine", Limit: 1.5},
		{What: "Timer schedule+cancel, none pending", Bench: "Timer/op=cancel/pending=0", Over: "runtime", Limit: 0.4},
		{What: "Timer schedule+cancel, 100 000 pending", Bench: "Timer/op=cancel/pending=100000", Over: "runtime", Limit: 0.4},
		{
			What: "Timer schedule+cancel, 1 000 000 pending to 1 000", Bench: "Timer/op=cancel/pending=1000000",
			Per: "Timer/op=cancel/pending=1000", Limit: 2,
		},
		{What: "memory of a pending timer", Bench: "Footprint/what=timer", Unit: "B/timer", Limit: 96},
		{What: "Submit, allocations", Bench: "Submit", Unit: "allocs/op"},
		{What: "timer re-arm, allocations", Bench: "Timer/op=fire/pending=0", Unit: "allocs/op"},
		{What: "memory of an idle loop beyond its stack", Bench: "Footprint/what=loop", Unit: "B/loop", Limit: 8 << 10},
		{What: "memory kept after a burst of 1 000 000 tasks", Bench: "Footprint/what=burst", Unit: "B/burst", Limit: 1 << 20},
		{What: "threadlet, yield there and back", Bench: "Threadlet/op=switch", Over: "goroutine", Limit: 0.40},
		{What: "threadlet, spawn and end", Bench: "Threadlet/op=spawn", Over: "goroutine", Limit: 0.35},
		{What: "threadlet echo, 64 connections, processor time", Bench: "ThreadletEcho/conns=64", Unit: "cpu-sec/op", Over: "net", Limit: 0.90},
		{What: "threadlet echo, 512 connections, processor time", Bench: "ThreadletEcho/conns=512", Unit: "cpu-sec/op", Over: "net", Limit: 0.93},
		{
			What: "threadlet echo, 512 connections that idle, processor time", Bench: "ThreadletEcho/wait=idle/conns=512", Unit: "cpu-sec/op",
			Over: "net", Limit: 0.87,
		},
		{What: "threadlet echo, 64 connections, requests per second", Bench: "ThreadletEcho/conns=64", Over: "net", Limit: 1.0, Rate: true},
		{What: "threadlet echo, 512 connections, requests per second", Bench: "ThreadletEcho/conns=512", Over: "net", Limit: 1.0, Rate: true},
		{What: "connection blocked in Read, heap and stack", Bench: "ConnectionFootprint/what=blocked", Unit: "B/conn", Over: "net", Limit: 1.05},
		{What: "connection blocked in Read, resident", Bench: "ConnectionFootprint/what=blocked", Unit: "resident-B/conn", Over: "net", Limit: 1.05},
		{What: "connection with a borrowed buffer, heap and stack", Bench: "ConnectionFootprint/what=borrowed", Unit: "B/conn", Over: "net", Limit: 0.5},
		{What: "connection with a borrowed buffer, resident", Bench: "ConnectionFootprint/what=borrowed", Unit: "resident-B/conn", Over: "net", Limit: 0.5},
		{What: "idle connection, heap and stack", Bench: "ConnectionFootprint/what=idle", Unit: "B/conn", Over: "net", Limit: 0.1},
		{What: "idle connection, resident", Bench: "ConnectionFootprint/what=idle", Unit: "resident-B/conn", Over: "net", Limit: 0.1},
		{What: "RESP server, processor time", Bench: "RESP/pipeline=1", Unit: "cpu-sec/op", Over: "net", Limit: 0.9},
		{What: "RESP server, requests per second", Bench: "RESP/pipeline=1", Over: "net", Limit: 1.1, Rate: true},
		{What: "RESP server, processor time", Bench: "RESP/pipeline=1", Unit: "cpu-sec/op", Over: "redis", Limit: 1.2},
		{What: "RESP server, requests per second", Bench: "RESP/pipeline=1", Over: "redis", Limit: 0.9, Rate: true},
		{What: "RESP server, 16 in a pipeline, processor time", Bench: "RESP/pipeline=16", Unit: "cpu-sec/op", Over: "net", Limit: 0.9},
		{What: "RESP server, 16 in a pipeline, requests per second", Bench: "RESP/pipeline=16", Over: "net", Limit: 1.1, Rate: true},
		{What: "RESP server, 16 in a pipeline, processor time", Bench: "RESP/pipeline=16", Unit: "cpu-sec/op", Over: "redis", Limit: 1.05},
		{What: "RESP server, 16 in a pipeline, requests per second", Bench: "RESP/pipeline=16", Over: "redis", Limit: 0.9, Rate: true},
		{What: "metrics off", Bench: "Metrics/metrics=off", Elsewhere: "level with a build without them", Note: "there is no such build; compare BenchmarkMetrics of eventloop at two commits"},
		{What: "metrics, recording", Bench: "Metrics/metrics=off", Elsewhere: "at most 5 ns besides the clock", Note: "only the loop's own tests reach it: BenchmarkRecording of eventloop"},
		{What: "metrics, exact, to none", Bench: "Metrics/metrics=exact", Minus: "Metrics/metrics=off", Limit: 30e-9},
		{What: "metrics, sampled, to none", Bench: "Metrics/metrics=sampled", Per: "Metrics/metrics=off", Limit: 2.5},
		{What: "script, storm of setTimeout(0)", Bench: "Script/op=storm", Over: "goja", Limit: 0.40},
		{What: "script, chain of setTimeout(0)", Bench: "Script/op=chain", Over: "goja", Limit: 0.45},
		{What: "script, setTimeout and clearTimeout", Bench: "Script/op=clear", Over: "goja", Limit: 0.67},
		{What: "script, setImmediate", Bench: "Script/op=immediate", Over: "goja", Limit: 1.0},
		{What: "script, await", Bench: "Script/op=await", Over: "goja", Limit: 1.05},
		{What: "script, functions submitted from Go", Bench: "Script/op=submit", Over: "goja", Limit: 0.80},
	},
	Firsts: []stats.First{
		{Of: "alternatetwo", What: "Submit", Benches: []string{"Submit"}},
		{Of: "alternatetwo", What: "MultiProducer", Benches: []string{"MultiProducer"}},
		{Of: "alternatetwo", What: "Microtask", Benches: []string{"Microtask/kind=chain", "Microtask/kind=fanout"}},
	},
}
