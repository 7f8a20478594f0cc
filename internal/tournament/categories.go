// What each benchmark measures, in which units it is judged, and why a user cares: the report quotes this table.

package tournament

import "strings"

// The categories of benchmarks, in the order of reports.
const (
	Throughput  = "Throughput"
	Latency     = "Latency"
	Timers      = "Timers"
	Microtasks  = "Microtasks"
	Promises    = "Promises"
	Descriptors = "Descriptors"
	Servers     = "Servers"
	Memory      = "Memory"
	Lifecycle   = "Lifecycle"
)

// Benchmark describes one benchmark. Lower is better in every unit of every benchmark.
type Benchmark struct {
	Name     string   // without the prefix "Benchmark" and without sub-benchmarks
	Category string   //
	Units    []string // the units that count, the headline first; a cell reports those that apply to it
	Op       string   // what one operation is
	Measures string   // one line
	Why      string   // one line: what it means for a user
	Unscored string   // why it counts in no geometric mean, if so
	Quick    string   // the variant that a quick run measures, empty for all
}

// Benchmarks returns all benchmarks, by category.
func Benchmarks() []Benchmark {
	return []Benchmark{
		{
			Name: "Submit", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "one producer submits one prebuilt function over and over; the time ends when the last has run",
			Why:      "the price of handing work to the loop, and nothing else",
		},
		{
			Name: "PingPong", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "one producer submits a fresh closure per task and counts it in and out of a WaitGroup",
			Why:      "what submission costs in ordinary code, which captures variables and waits for results",
		},
		{
			Name: "MultiProducer", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "ten producers at once submit one prebuilt function",
			Why:      "a server's goroutines all report to one loop",
		},
		{
			Name: "Contention", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "1, 2, 4, 8 and 16 producers at once submit one prebuilt function",
			Why:      "shows whether more producers make the loop slower",
		},
		{
			Name: "Burst", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task of a burst",
			Measures: "bursts of 1000 tasks, each burst drained before the next",
			Why:      "work comes in waves: the loop goes from sleep to full load and back",
		},
		{
			Name: "PingPongLatency", Category: Latency, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one round trip",
			Measures: "submit one task, wait until it has run, repeat; with fd registered descriptors on which nothing happens",
			Why:      "a goroutine that asks the loop and needs the answer pays this each time",
		},
		{
			Name: "WakeFromIdle", Category: Latency, Units: []string{"p50-ns/op", "p99-ns/op", "ns/op"},
			Op:       "one wake",
			Measures: "from Submit on a parked loop to the first instruction of the task, with fd registered descriptors",
			Why:      "how fast an idle loop reacts on a processor that is awake, also when it watches sockets",
		},
		{
			Name: "InternalPriority", Category: Latency, Units: []string{"p50-ns/op", "p99-ns/op", "ns/op"},
			Op:       "one internal task",
			Measures: "from SubmitInternal to the task's start while 10000 external tasks are always waiting; with busy=1 beside GOMAXPROCS goroutines that compute",
			Why:      "completions and control messages must not queue behind bulk work",
		},
		{
			Name: "OpenLoopLatency", Category: Latency,
			Units:    []string{"p50-ns/op", "p99-ns/op", "p99.9-ns/op", "max-ns/op", "ns/op"},
			Op:       "one task at its place in a fixed schedule",
			Measures: "tasks arrive at a fixed rate; latency counts from the moment a task was due to arrive",
			Why:      "what clients see under steady traffic, with the loop's own stalls charged to everyone who waited",
		},
		{
			Name: "HalfLoadLatency", Category: Latency,
			Units:    []string{"p50-ns/op", "p99-ns/op", "p99.9-ns/op", "max-ns/op"},
			Op:       "one task at its place in a fixed schedule",
			Measures: "the same with 1000000 tasks at half of the rate at which `baseline` can run them, which each process finds out first",
			Why:      "how long the unlucky wait where there is much to do, and yet enough time for it",
			Unscored: "what is late there waits for the system to give a thread its processor back, so figures jump by the system's tick, " +
				"4 ms as a rule",
		},
		{
			Name: "BusyNeighbours", Category: Latency, Units: []string{"ns/op", "p50-ns/op", "p99-ns/op"},
			Op:       "one round trip",
			Measures: "submit one task, wait until it has run, repeat, while GOMAXPROCS other goroutines compute",
			Why:      "a loop shares the processors with the rest of the program, and must not queue behind it for each wake",
			Unscored: "who runs next, and for how long, is decided by the Go scheduler in slices of ten milliseconds, so figures jump " +
				"from the cost of a wake to that of a slice",
		},
		{
			Name: "Timer", Category: Timers, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one timer scheduled and cancelled, or scheduled and fired",
			Measures: "on the loop, with 0 to 1000000 other timers pending over the next hour",
			Why:      "every request has a timeout, nearly all are cancelled, and a busy server holds very many",
		},
		{
			Name: "SetTimeout", Category: Timers, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op: "one timeout",
			Measures: "storms of 10000 timeouts that one task sets, half for now and half for 1 ms later, and every other one " +
				"of which it clears when all are set",
			Why:      "JavaScript that is busy with timers, as programs are that poll, debounce and give up waiting",
			Unscored: "of the ranked loops only `main` has the timeouts of JavaScript, and to be the first of one is no merit",
		},
		{
			Name: "Microtask", Category: Microtasks, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one microtask",
			Measures: "microtasks that queue their successor, and tasks that queue 1000 microtasks each",
			Why:      "every promise reaction is a microtask",
		},
		{
			Name: "Promise", Category: Promises, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op: "one link of a chain, one handler, one promise of an All or a Race, or one round trip",
			Measures: "on the loop: chains of 100 links, promises with 100 handlers, All and Race of 100 promises, all of " +
				"which are made, settled and heard of; and functions that Promisify runs on other goroutines, one after the other",
			Why:      "what asynchronous code costs beyond the work that it is about",
			Unscored: "of the ranked loops only `main` has promises, and to be the first of one is no merit",
		},
		{
			Name: "FDRoundTrip", Category: Descriptors, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one round trip",
			Measures: "a goroutine writes 64 bytes to its end of a socket pair and reads the echo of a callback that watches the other end",
			Why:      "what a server on the loop adds to each request",
		},
		{
			Name: "Echo", Category: Servers, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op: "one request answered",
			Measures: "a client process sends 64 bytes on each of 1, 64 and 512 TCP connections over loopback and the next when the echo is " +
				"there; requests of all connections count together",
			Why:   "how many requests a server on one loop answers, and what each costs it",
			Quick: "conns=64",
		},
		{
			Name: "GCPressure", Category: Memory,
			Units:    []string{"ns/op", "B/op", "allocs/op", "gc-cycles/op", "gc-pause-ns/op"},
			Op:       "one task with 256 bytes of captured data",
			Measures: "bursts of closures that each own fresh memory, the collector's work included",
			Why:      "real tasks carry data, and a queue that keeps it alive makes the collector work more",
		},
		{
			Name: "Footprint", Category: Memory,
			Units:    []string{"B/loop", "goroutines/loop", "B/timer", "B/task", "B/burst"},
			Op:       "one measurement of live heap after collection",
			Measures: "bytes of heap per idle loop, per pending timer, per queued task, and in all after a drained burst of 1000000 tasks",
			Why:      "how many loops and timers fit, and whether one bad minute costs memory for ever",
		},
		{
			Name: "Lifecycle", Category: Lifecycle, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one loop's life",
			Measures: "New, Run, one task, Shutdown, Run returned",
			Why:      "tests, workers and short-lived scripts make and end loops all the time",
		},
	}
}

// Category returns the category of a benchmark, which may be named as in Benchmarks or as in a result line
// ("BenchmarkTimer/impl=main/op=fire/pending=0-2"), or "" for an unknown one.
func Category(benchmark string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(benchmark, "Benchmark"), "/")
	name, _, _ = strings.Cut(name, "-")
	for _, b := range Benchmarks() {
		if b.Name == name {
			return b.Category
		}
	}
	return ""
}
