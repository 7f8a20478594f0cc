package gojaloop

// The memory limit, and the limit of JSON's depth, which protects the stack.

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/gojaloop/internal/v8"
)

// ErrMemory is the reason of a host's end when it has exceeded its [WithMemoryLimit]: make a new host, or raise the limit.
var ErrMemory = errors.New("gojaloop: the heap has grown beyond the host's memory limit")

// WithMemoryLimit ends the host with [ErrMemory] when the reachable bytes on the process's heap have grown by more
// than this limit above their minimum since the host was made. The host looks at the heap while its scripts run, and
// shortly after. It is a fuse for the process: goja does not tell how much a runtime keeps, so what Go code and other
// hosts keep counts too. Zero, the default, is no limit; a negative number is an error.
//
// The cost is a look at the heap's size every few milliseconds. When the size is beyond the limit, a garbage
// collection finds out how much of it is reachable; the next collection follows, at the earliest, when another half
// of the limit has been allocated. So the heap may exceed the limit by about a half, and by what scripts allocate
// within milliseconds; one call of a function of goja's own, such as 'x'.repeat(1e10), can allocate more memory than
// there is. A host's memory is free once nothing refers to the host.
func WithMemoryLimit(bytes int64) Option {
	return given(bytes >= 0, fmt.Sprintf("WithMemoryLimit(%d): negative", bytes), func(h *Host) { h.guard.fuse.limit = bytes })
}

// fuse measures the heap for the limit. The watch uses it, and one watch at most is armed. Sizes are bytes.
type fuse struct {
	limit int64 // 0: none
	least int64 // least that was reachable so far
	next  int64 // heap size at which the next measurement begins

	done   *atomic.Bool // set when the collection of this measurement is over; nil if there is no measurement
	before int64        // bytes allocated in total when the measurement began
	cycle  int64        // collections completed when the measurement began
}

// init takes the heap's size as the least. On the goroutine that makes the host.
func (f *fuse) init() {
	if f.limit == 0 {
		return
	}
	f.least = read("/memory/classes/heap/objects:bytes")[0] // includes garbage, until a measurement lowers it
	f.next = f.least + f.limit
}

// blown tells whether the limit is exceeded. To measure, it calls runtime.GC on another goroutine. That returns only after
// the sweep, which takes seconds when scripts use all processors. So the measurement also ends when two collections have
// been completed since it began.
func (f *fuse) blown() bool {
	if f.limit == 0 {
		return false
	}
	now := read("/memory/classes/heap/objects:bytes", "/gc/heap/allocs:bytes", "/gc/heap/live:bytes", "/gc/cycles/total:gc-cycles")
	if f.done == nil {
		if now[0] >= f.next {
			done := new(atomic.Bool)
			f.done, f.before, f.cycle = done, now[1], now[3]
			go func() {
				runtime.GC()
				done.Store(true)
			}()
		}
		return false
	}
	if !f.done.Load() && now[3] < f.cycle+2 { // two collections later: one may have been under way when the measurement began
		return false
	}
	f.done = nil
	// What is allocated during a collection counts as live, garbage or not. So the size of what is reachable lies between
	// most and least. least is compared with the limit, so that garbage alone never exceeds it.
	most, least := now[2], now[2]-(now[1]-f.before)
	f.least = min(f.least, most)
	grown := least - f.least
	f.next = most + max(f.limit-grown, f.limit/2)
	return grown > f.limit
}

// read returns the runtime metrics of these names, in their order.
func read(names ...string) []int64 {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	values := make([]int64, len(names))
	for i, s := range samples {
		values[i] = int64(s.Value.Uint64())
	}
	return values
}

// deepestJSON is the deepest nesting that JSON.parse accepts, as in encoding/json. goja recurses for each level, and
// a text of some megabytes would exhaust the stack and end the process.
const deepestJSON = 10_000

// limitJSON makes JSON.parse throw a RangeError for deeper nesting.
func (h *Host) limitJSON() error {
	json, ok := h.vm.Get("JSON").(*goja.Object)
	if !ok {
		return nil // a runtime that was given may have none
	}
	parse, ok := goja.AssertFunction(json.Get("parse"))
	if !ok {
		return nil
	}
	limited := h.function("parse", 2, func(call goja.FunctionCall) goja.Value {
		text := call.Argument(0).ToString()
		if s, ok := text.(goja.String); ok && s.Length() > deepestJSON && depth(s.String()) > deepestJSON {
			panic(h.newError("RangeError", "ERR_OUT_OF_RANGE", fmt.Sprintf("JSON is nested more than %d deep", deepestJSON)))
		}
		args := append([]goja.Value{text}, rest(call.Arguments, 1)...)
		v, err := parse(call.This, args...)
		if ex, ok := err.(*goja.Exception); ok {
			if o, ok := ex.Value().(*goja.Object); ok && o.ClassName() == "Error" {
				h.reword(o, func(string) string { return v8.JSON(text.String()) })
			}
		}
		if err != nil {
			panic(err)
		}
		return v
	})
	return json.DefineDataProperty("parse", limited, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// depth returns the largest number of brackets that are open at once, outside of strings.
func depth(s string) (deepest int) {
	open := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{':
			open++
			deepest = max(deepest, open)
		case ']', '}':
			open--
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return deepest
}
