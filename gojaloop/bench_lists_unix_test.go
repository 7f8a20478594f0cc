//go:build unix

package gojaloop_test

// Lists that a script or its peer makes long: four times as many should cost about four times the processor time.

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// lists are scripts that make a list of N, and use all of it.
var lists = []struct{ name, script string }{
	{"listeners", `
		const t = new EventTarget(), all = []
		let heard = 0
		for (let i = 0; i < N; i++) { all.push(() => { heard++ }); t.addEventListener('x', all[i]) }
		t.dispatchEvent(new Event('x'))
		for (const f of all) t.removeEventListener('x', f)
		t.dispatchEvent(new Event('x'))
		if (heard !== N) throw new Error(heard)`},
	{"headers", `
		const h = new Headers()
		let found = 0
		for (let i = 0; i < N; i++) h.append('x-' + i, i)
		for (const [name, value] of h) if (h.get(name) === value) found++
		if (found !== N) throw new Error(found)`},
	{"chunks", `
		(async () => {
			const chunks = new ReadableStream({ start(c) { for (let i = 0; i < N; i++) c.enqueue(i); c.close() } }).getReader()
			let n = 0
			while (!(await chunks.read()).done) n++
			if (n !== N) throw new Error(n)
		})()`},
}

func BenchmarkLists(b *testing.B) {
	for _, l := range lists {
		for _, n := range []int{4000, 16_000} {
			b.Run(fmt.Sprintf("list=%s/n=%d", l.name, n), func(b *testing.B) {
				size := n
				if testing.Short() {
					size /= 100
				}
				var spent time.Duration
				for b.Loop() {
					h, began := benchHost(b), processorTime(b)
					if _, err := h.Run(context.Background(), l.name, fmt.Sprintf("const N = %d;", size)+l.script); err != nil {
						b.Fatal(err)
					}
					spent += processorTime(b) - began
				}
				b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// processorTime is what the process has used.
func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
