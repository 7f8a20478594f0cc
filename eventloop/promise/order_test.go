package promise_test

// The order of jobs and microtasks, as JavaScript engines have it. Each program is written in both languages; want is
// what node printed. TURNLOOP_NODE=1 has node print it again.

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
)

// script is what the Go programs are written with.
type script struct {
	*promise.Owner
	f         *fake
	unhandled func(error) // process.on("unhandledRejection"), or nil
	out       []string
}

func (s *script) log(v any) { s.out = append(s.out, fmt.Sprint(v)) }

// micro is queueMicrotask.
func (s *script) micro(fn func()) { _ = s.f.ScheduleMicrotask(fn) }

// say returns a handler that logs text and returns v.
func (s *script) say(text string, v ...any) func(any) (any, error) {
	return func(any) (any, error) {
		s.log(text)
		if len(v) == 1 {
			return v[0], nil
		}
		return nil, nil
	}
}

// value returns a handler that logs text with the value, and passes it on.
func (s *script) value(text string) func(any) (any, error) {
	return func(v any) (any, error) { s.log(fmt.Sprint(text, v)); return v, nil }
}

// caught returns a handler that logs text with the error.
func (s *script) caught(text string) func(error) (any, error) {
	return func(err error) (any, error) { s.log(text + err.Error()); return nil, nil }
}

// ticks logs text with 1 to n, in as many microtasks, one after the other.
func (s *script) ticks(text string, n int) {
	p := s.Resolved(nil)
	for i := range n {
		p = p.Then(s.say(fmt.Sprint(text, i+1)), nil)
	}
}

// prelude is script in JavaScript.
const prelude = `
const out = [], log = v => { out.push(String(v)) };
const micro = queueMicrotask;
const say = (text, v) => () => { log(text); return v };
const value = text => v => { log(text + v); return v };
const caught = text => e => { log(text + (e.message ?? e)) };
const resolvers = () => { let a, b; const p = new Promise((x, y) => { a = x; b = y }); return [p, a, b] };
const ticks = (text, n) => { let p = Promise.resolve(); for (let i = 1; i <= n; i++) p = p.then(say(text + i)) };
`

func (s *script) joined(v any) (any, error) {
	s.log(strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", ","))
	return nil, nil
}

func TestOrder(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			s := new(script)
			s.f, s.Owner = newOwner(promise.Config{OnUnhandled: func(_ *promise.Promise, err error) {
				if s.unhandled != nil {
					s.unhandled(err)
				}
			}})
			p.run(s)
			s.f.checkpoint(s.Owner)
			require.Equal(t, p.want, strings.Join(s.out, " "))
		})
	}
}

func TestOrderOfNode(t *testing.T) {
	if os.Getenv("TURNLOOP_NODE") == "" {
		t.Skip("TURNLOOP_NODE=1 records the order again with node")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err) // it was asked for
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			src := prelude + p.js + "\nsetTimeout(() => process.stdout.write(out.join(' ')));"
			out, err := exec.CommandContext(t.Context(), node, "--unhandled-rejections=none", "-e", src).CombinedOutput()
			require.NoError(t, err, string(out))
			require.Equal(t, p.want, string(out))
		})
	}
}
