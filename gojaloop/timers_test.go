package gojaloop_test

// Timers on virtual time, and on the real clock.

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/gojaloop"
)

// Twenty-four hours of intervals, and timers that are due together, on virtual time.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		began := time.Now()
		v, err := h.Run(ctx, "a.js", `
			let n = 0
			const i = setInterval(() => { if (++n === 24 * 3600) clearInterval(i) }, 1000)
			globalThis.seen = []
			setTimeout(() => seen.push(2), 2000)
			setTimeout(() => { seen.push(1); setImmediate(() => seen.push('immediate')) }, 1000)
			setTimeout(() => seen.push('1 too'), 1000)`)
		if took := time.Since(began); err != nil || took != 24*time.Hour {
			t.Errorf("%v %v, took %v", v, err, took)
		}
		if got := fmt.Sprint(h.Runtime().Get("seen").Export()); got != "[1 1 too immediate 2]" {
			t.Error(got)
		}
	})
}

func TestHTMLTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, gojaloop.WithHTMLTimers())
		began := time.Now()
		var at []time.Duration
		h.Set("note", func() { at = append(at, time.Since(began).Truncate(time.Millisecond)) })
		v, err := h.Run(ctx, "a.js", `
			let n = 0
			function f() { note(); if (++n < 9) setTimeout(f, 0) }
			clearTimeout(setTimeout(() => note(), 0))
			typeof setTimeout(f, 0)`)
		if err != nil || v.String() != "number" {
			t.Errorf("%v, %v", v, err)
		}
		ms := time.Millisecond
		if want := fmt.Sprint([]time.Duration{0, 0, 0, 0, 0, 0, 4 * ms, 8 * ms, 12 * ms}); fmt.Sprint(at) != want {
			t.Errorf("%v, want %s", at, want)
		}
	})
}

// Timers never fire early. Timers of one callback and one delay fire in one turn.
func TestTimersAreNeverEarlyAndKeepTogether(t *testing.T) {
	h := newHost(t)
	var set, fired []time.Time
	turns := 0
	h.Set("set", func() { set = append(set, time.Now()) })
	h.Set("fired", func() { fired = append(fired, time.Now()) })
	h.Set("turn", func() { turns++ })
	_, err := h.Run(ctx, "a.js", `
		for (let i = 0; i < 50; i++) {
			set()
			setTimeout(() => { fired(); if (i === 0) setImmediate(turn) }, 3)
			for (let j = 0; j < 20; j++);
		}`)
	if err != nil || len(fired) != 50 {
		t.Fatalf("%v, %d", err, len(fired))
	}
	for i := range fired {
		if early := 3*time.Millisecond - fired[i].Sub(set[i]); early > 0 {
			t.Errorf("timer %d: %v early", i, early)
		}
	}
}

// Timers that are left when many others were cleared, and their lists dropped, fire when they are due.
func TestSweptTimersKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		began, wrong, fired := time.Now(), 0, 0
		h.Set("fire", func(ms int) {
			if fired++; time.Since(began) != time.Duration(ms)*time.Millisecond {
				wrong++
			}
		})
		_, err := h.Run(ctx, "a.js", `
			const timers = []
			for (let i = 0; i < 3000; i++) {
				const ms = 1 + (i * 7919) % 10007
				timers.push(setTimeout(() => fire(ms), ms))
			}
			timers.forEach((timer, i) => { if (i % 5) clearTimeout(timer) })`)
		if err != nil || wrong > 0 || fired != 600 {
			t.Errorf("%v; %d fired, %d of them early or late", err, fired, wrong)
		}
	})
}
