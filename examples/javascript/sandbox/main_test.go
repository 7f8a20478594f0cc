package main

// The test of the limits: a script that exceeds each.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/gojaloop"
)

func TestSandbox(t *testing.T) {
	for _, c := range []struct {
		name, source, prints string
		limits               limits
		err                  error  // the error, or
		message              string // its text
	}{
		{name: "within", source: "setTimeout(() => console.log(quote('four'), typeof fetch, typeof require, Object.keys(process.env).length), 1)", prints: "4 undefined undefined 0\n"},
		{name: "endless loop", source: "for (;;);", limits: limits{time: 50 * time.Millisecond}, err: context.DeadlineExceeded},
		{name: "endless promises", source: "const f = () => Promise.resolve().then(f); f()", limits: limits{time: 50 * time.Millisecond}, err: context.DeadlineExceeded},
		{name: "interval", source: "setInterval(() => {}, 1)", limits: limits{time: 50 * time.Millisecond}, err: context.DeadlineExceeded},
		{name: "memory", source: "const a = []; for (;;) a.push(new Array(1000).fill(a.length))", err: gojaloop.ErrMemory},
		{name: "recursion", source: "function f() { return f() + 1 } try { f() } catch {}", message: "stack"},
		{name: "output", source: "for (;;) try { console.log('0123456789') } catch {}", limits: limits{output: 25}, prints: "0123456789\n0123456789\n012", err: errOutput},
		{name: "calls", source: "for (;;) try { quote('x') } catch {}", err: errQuotes},
		{name: "exception", source: "null.x", message: "script.js:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limits{time: time.Hour, memory: 32 << 20, calls: 500, output: 1000, quotes: 10}
			if c.limits.time > 0 {
				l.time = c.limits.time
			}
			if c.limits.output > 0 {
				l.output = c.limits.output
			}
			var out strings.Builder
			err := run(t.Context(), c.source, l, &out)
			if out.String() != c.prints {
				t.Errorf("it prints %q, want %q", &out, c.prints)
			}
			switch {
			case c.err != nil:
				if !errors.Is(err, c.err) {
					t.Errorf("it ends with %v, want %v", err, c.err)
				}
			case c.message != "":
				if err == nil || !strings.Contains(err.Error(), c.message) {
					t.Errorf("it ends with %v, want %s", err, c.message)
				}
			case err != nil:
				t.Error(err)
			}
		})
	}
}
