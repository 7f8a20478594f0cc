package gojaloop_test

// The order of callbacks, and the ends by uncaught exceptions: scripts, compared with Node's output.

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

var record = flag.Bool("record", false, "have Node print what scripts are expected to print")

// TestOrder runs each script of testdata/order and compares what it prints, and its exit code, with what Node 20 has
// printed, which the file beside it holds; see -record.
func TestOrder(t *testing.T) {
	files, err := filepath.Glob("testdata/order/*.js")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".js"), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			expected := strings.TrimSuffix(file, ".js") + ".txt"
			if *record {
				output := byNode(t, string(source))
				for range 5 {
					if again := byNode(t, string(source)); again != output {
						t.Fatalf("Node does not always print the same:\n%s\nand\n%s", output, again)
					}
				}
				if err := os.WriteFile(expected, []byte(output), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			if got := byHost(t, string(source)); got != string(want) {
				t.Errorf("it prints\n%s\nand by Node it would print\n%s", got, want)
			}
		})
	}
}

// byNode runs a script with Node, and returns what it prints and its exit code.
func byNode(t testing.TB, source string) string {
	cmd := exec.Command("node", "-")
	cmd.Stdin = strings.NewReader(source)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sexit code %d\n", out.String(), cmd.ProcessState.ExitCode())
}

// byHost runs a script on a host with a loop of its own, and returns the same. Time is virtual, and passes for who asks the clock.
func byHost(t *testing.T, source string) (printed string) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.Runtime().SetTimeSource(func() time.Time {
			time.Sleep(100 * time.Microsecond)
			return time.Now()
		})
		var out strings.Builder
		print := func(call goja.FunctionCall) goja.Value {
			for i, v := range call.Arguments {
				if i > 0 {
					out.WriteByte(' ')
				}
				out.WriteString(v.String())
			}
			out.WriteByte('\n')
			return nil
		}
		if err := h.Runtime().Set("console", map[string]any{"log": print}); err != nil {
			t.Fatal(err)
		}
		_, err := h.Run(context.Background(), "script.js", source)
		code := 0
		var exit *gojaloop.ExitError
		var e *gojaloop.Error
		switch {
		case errors.As(err, &exit):
			code = exit.Code
		case errors.As(err, &e):
			if code = e.Code; h.Err() != err {
				t.Errorf("Run returns %v, and Err %v", err, h.Err())
			}
		case err != nil:
			t.Error(err)
		}
		if exit, ok := h.Err().(*gojaloop.ExitError); ok {
			code = exit.Code
		}
		printed = fmt.Sprintf("%sexit code %d\n", out.String(), code)
	})
	return printed
}

func newHost(t testing.TB, opts ...gojaloop.Option) *gojaloop.Host {
	t.Helper()
	l, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	h, err := gojaloop.New(l, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return h
}

// Differences from Node that docs/goja.md lists, and that no other test shows.
func TestDifferencesFromNode(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"clearImmediate(7); console.log('nothing')", "nothing\nexit code 0\n"},
		{"try { (function f() { f() })() } catch (e) { console.log('caught') }", "exit code 1\n"},
		{"try { try { 0 } catch (e) { console.log('its own catch') } finally { console.log('finally'); throw 1 } } catch (e) { console.log('caught') }",
			"finally\nits own catch\nfinally\ncaught\nexit code 0\n"},
		{"console.log(typeof WeakRef, typeof Intl)", "function undefined\nexit code 0\n"},
	} {
		if got := byHost(t, c.source); got != c.want {
			t.Errorf("%s prints %s", c.source, got)
		}
	}
}
