//go:build unix

package gojaloop_test

// What scripts and peers can make grow costs the same for each step.

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestListsGrowInStepsOfOneCost(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector's work is not the list's
	for name, c := range map[string]struct {
		n      int
		script string // n is how often
	}{
		"headers":                   {1000, "const h = new Headers(); for (let i = 0; i < n; i++) h.append('x' + i, i); for (const [k] of h) h.get(k)"},
		"headers of one name":       {1000, "const h = new Headers(); for (let i = 0; i < n; i++) h.append('x', i); [...h]; h.get('x')"},
		"cookies":                   {1000, "const h = new Headers(); for (let i = 0; i < n; i++) h.append('set-cookie', i); [...h]"},
		"headers that change":       {1000, "const h = new Headers(); for (let i = 0; i < n; i++) { h.set('x' + i, 1); h.has('x' + i) } for (let i = 0; i < n; i++) h.delete('x' + i)"},
		"listeners":                 {1000, "const t = new EventTarget(), all = []; for (let i = 0; i < n; i++) t.addEventListener('x', all[i] = () => {}); for (const f of all) t.removeEventListener('x', f)"},
		"listeners, the last first": {1000, "const t = new EventTarget(), all = []; for (let i = 0; i < n; i++) t.addEventListener('x', all[i] = () => {}); while (all.length) t.removeEventListener('x', all.pop())"},
		"once":                      {1000, "const t = new EventTarget(); for (let i = 0; i < n; i++) t.addEventListener('x', () => {}, { once: true }); t.dispatchEvent(new Event('x'))"},
		"listeners of a signal":     {1000, "const c = new AbortController(), t = new EventTarget(); for (let i = 0; i < n; i++) t.addEventListener('x', () => {}, { signal: c.signal }); c.abort()"},
		"abort":                     {1000, "const c = new AbortController(); for (let i = 0; i < n; i++) c.signal.addEventListener('abort', () => {}); c.abort()"},
		"signals that follow":       {400, "const c = new AbortController(); for (let i = 0; i < n; i++) AbortSignal.any([c.signal]).onabort = () => {}; c.abort()"},
		"once of process":           {1000, "for (let i = 0; i < n; i++) process.once('x', () => {}); process.emit('x')"},
		"off of process":            {1000, "const all = []; for (let i = 0; i < n; i++) process.on('x', all[i] = () => {}); for (const f of all) process.off('x', f)"},
		"one listener, often":       {1000, "const f = () => {}; for (let i = 0; i < n; i++) process.once('x', f); process.emit('x')"},
		"chunks":                    {1000, "let c; const s = new ReadableStream({ start(x) { c = x } }), r = s.getReader(); for (let i = 0; i < n; i++) c.enqueue(i); c.close(); (async () => { while (!(await r.read()).done); })()"},
		"reads":                     {1000, "let c; const s = new ReadableStream({ start(x) { c = x } }), r = s.getReader(); for (let i = 0; i < n; i++) r.read(); for (let i = 0; i < n; i++) c.enqueue(i)"},
		"branches":                  {400, "let c; const [a, b] = new ReadableStream({ start(x) { c = x } }).tee(); for (let i = 0; i < n; i++) c.enqueue(i); c.close(); (async () => { const r = a.getReader(); while (!(await r.read()).done); const q = b.getReader(); while (!(await q.read()).done); })()"},
		"a body in chunks":          {400, "new Response(new ReadableStream({ start(c) { for (let i = 0; i < n; i++) c.enqueue(new Uint8Array(1)); c.close() } })).text()"},
		"messages":                  {400, "const { port1, port2 } = new MessageChannel(); let k = 0; port1.onmessage = () => { if (++k === n) port1.close() }; for (let i = 0; i < n; i++) port2.postMessage(1)"},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) time.Duration {
				h := newHost(t)
				runtime.GC()
				before := processorTime(t)
				if _, err := h.Run(ctx, "a.js", fmt.Sprintf("{ const n = %d; %s }", n, c.script)); err != nil {
					t.Fatal(err)
				}
				return processorTime(t) - before
			}
			small, large := cost(c.n), cost(4*c.n)
			for tries := 1; large > 6*small && tries < 15; tries++ {
				small, large = min(small, cost(c.n)), min(large, cost(4*c.n))
			}
			if large > 6*small {
				t.Errorf("%d steps take %v, and %d take %v", c.n, small, 4*c.n, large)
			}
		})
	}
}
