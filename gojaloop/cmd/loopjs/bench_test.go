package main

// Lists of Node's modules that a peer makes long: four times as many should cost about four times the processor time.

import (
	"fmt"
	"testing"
	"time"
)

// lists are programs that let a list of N become long before they take from it.
var lists = map[string]string{
	"events": `
		const events = require('events'), e = new events.EventEmitter(), all = events.on(e, 'x')
		for (let i = 0; i < N; i++) e.emit('x', i);
		(async () => {
			for (let i = 0; i < N; i++) if ((await all.next()).value[0] !== i) throw new Error(i)
			all.return()
		})()`,
	"lines": `
		const input = Object.assign(new (require('events'))(), { pause() {}, resume() {} })
		const all = require('readline').createInterface({ input })[Symbol.asyncIterator]()
		input.emit('data', Array.from({ length: N }, (_, i) => i + '\n').join(''));
		(async () => {
			for (let i = 0; i < N; i++) if ((await all.next()).value !== String(i)) throw new Error(i)
			all.return()
		})()`,
}

// BenchmarkLists has a process for each program, less what one takes that has nothing to do.
func BenchmarkLists(b *testing.B) {
	spent := func(b *testing.B, program string) time.Duration {
		cmd := loopjs(b, b.TempDir(), "-e", program)
		if _, stderr, code := run(b, cmd); code != 0 {
			b.Fatal(stderr)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	for name, program := range lists {
		for _, n := range []int{10_000, 40_000} {
			b.Run(fmt.Sprintf("list=%s/n=%d", name, n), func(b *testing.B) {
				size := n
				if testing.Short() {
					size /= 100
				}
				var sum time.Duration
				for b.Loop() {
					sum += spent(b, fmt.Sprintf("const N = %d;", size)+program) - spent(b, "0")
				}
				b.ReportMetric(float64(sum)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
