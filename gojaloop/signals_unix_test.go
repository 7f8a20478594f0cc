//go:build unix

package gojaloop_test

// Signals in scripts.

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/dop251/goja"

	"github.com/turnloop/turnloop/gojaloop"
)

func TestSignals(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGUSR2": syscall.SIGUSR2} {
		var out bytes.Buffer
		h := newHost(t, gojaloop.WithOutput(&out, &out))
		h.Set("kill", h.Promisify(func(context.Context, []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
			return nil, syscall.Kill(os.Getpid(), sig)
		}))
		_, err := h.Run(ctx, "a.js", `
			const forever = setTimeout(() => {}, 1e6)
			process.once('`+name+`', (s, n) => { console.log('once', s, n); kill() })
			process.on('`+name+`', (s, n) => {
				console.log(s, n)
				process.nextTick(() => console.log('tick'))
				if (process.listenerCount(s) === 1 && globalThis.second) { clearTimeout(forever); process.removeAllListeners(s) }
				globalThis.second = true
			})
			kill()`)
		number := strconv.Itoa(int(sig))
		want := "once " + name + " " + number + "\n" + name + " " + number + "\ntick\n" + name + " " + number + "\ntick\n"
		if got := out.String(); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", name, err, got, want)
		}
	}
	// Listeners of signals keep nothing running, as in Node. In a sandbox signals do not arrive.
	for _, opts := range [][]gojaloop.Option{nil, {gojaloop.WithSandbox()}} {
		if _, err := newHost(t, opts...).Run(ctx, "a.js", "process.on('SIGTERM', () => {})"); err != nil {
			t.Error(err)
		}
	}
}
