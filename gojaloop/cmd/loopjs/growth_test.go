package main

// What scripts can make grow in Node's modules costs the same for each step.

import (
	"strconv"
	"testing"
	"time"
)

func TestListsGrowInStepsOfOneCost(t *testing.T) {
	for name, script := range map[string]string{
		"once":          "for (let i = 0; i < n; i++) e.once('x', () => {}); e.emit('x')",
		"one listener":  "const f = () => {}; for (let i = 0; i < n; i++) e.once('x', f); e.emit('x')",
		"first to last": "const all = []; for (let i = 0; i < n; i++) e.on('x', all[i] = () => {}); for (const f of all) e.off('x', f)",
		"in front":      "const f = () => {}; for (let i = 0; i < n; i++) e.prependListener('x', f); while (e.listenerCount('x')) e.off('x', f)",
		"buffered":      "const it = events.on(e, 'x'); for (let i = 0; i < n; i++) e.emit('x', i); (async () => { for (let i = 0; i < n; i++) await it.next() })()",
		"waiting":       "const it = events.on(e, 'x'); for (let i = 0; i < n; i++) it.next(); for (let i = 0; i < n; i++) e.emit('x', i)",
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) time.Duration {
				cmd := loopjs(t, ".", "-e", "const n = "+strconv.Itoa(n)+", events = require('events'), e = new events(); e.setMaxListeners(0);"+script)
				if _, stderr, code := run(t, cmd); code != 0 {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			const few = 3000
			small, large := cost(few), cost(4*few)
			for tries := 1; large > 6*small && tries < 5; tries++ {
				small, large = min(small, cost(few)), min(large, cost(4*few))
			}
			if large > 6*small {
				t.Errorf("%d steps take %v, and %d take %v", few, small, 4*few, large)
			}
		})
	}
}
