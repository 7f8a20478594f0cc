package main

// --stall: callbacks that block the loop, and their places in the script.

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/google/pprof/profile"
	"github.com/turnloop/turnloop/eventloop"
)

// sampling is how long the profiler watches the script at first; it takes a sample every ten milliseconds, if it gets the processor.
const sampling = 60 * time.Millisecond

// stalled reports a callback while it blocks the loop. goja's profiler, which any goroutine may use, tells the place
// in the script.
func (p *program) stalled(s eventloop.Stall) {
	if s.Ended {
		fmt.Fprintf(p.stderr, "loopjs: the callback has run for %v in all\n", s.Running.Round(time.Millisecond))
		return
	}
	stack := where()
	if stack == "" {
		stack = "    at no place in the script: it is in Go, or was over before it could be looked at\n"
	}
	fmt.Fprintf(p.stderr, "loopjs: a callback has run for more than %v\n%s", s.Running.Round(time.Millisecond), stack)
}

// profiling is held while goja's profiler runs: the process has only one.
var profiling sync.Mutex

// where profiles for a moment, or for longer if that gives no sample, and returns the stack sampled most often as the lines of a stack trace.
func where() string {
	profiling.Lock()
	defer profiling.Unlock()
	var most *profile.Sample
	for watched := sampling; most == nil && watched < 10*sampling; watched *= 2 {
		var out bytes.Buffer
		if goja.StartProfile(&out) != nil {
			return ""
		}
		time.Sleep(watched)
		goja.StopProfile()
		seen, err := profile.Parse(&out)
		if err != nil {
			return ""
		}
		for _, s := range seen.Sample {
			if most == nil || s.Value[0] > most.Value[0] {
				most = s
			}
		}
	}
	if most == nil {
		return ""
	}
	var b bytes.Buffer
	for _, l := range most.Location {
		for _, line := range l.Line {
			if f := line.Function; f.Filename != "" && !bytes.HasPrefix([]byte(f.Filename), []byte("gojaloop:internal")) {
				fmt.Fprintf(&b, "    at %s (%s:%d)\n", f.Name, f.Filename, line.Line)
			}
		}
	}
	return b.String()
}
