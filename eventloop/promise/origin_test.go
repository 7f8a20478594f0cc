package promise_test

// Tests of the places that debug mode records for promises.

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
)

// Functions that make promises: their names are looked for in the texts about these.
func first(r *promise.Owner) (*promise.Promise, func(error)) {
	p, _, reject := r.New()
	return p, reject
}
func second(p *promise.Promise) *promise.Promise { return p.Then(pass, nil) }
func third(p *promise.Promise) *promise.Promise  { return p.Finally(func() error { return nil }) }
func another(r *promise.Owner) (*promise.Promise, func(any)) {
	p, resolve, _ := r.New()
	return p, resolve
}
func together(r *promise.Owner, ps ...*promise.Promise) *promise.Promise { return r.All(ps...) }

func pass(v any) (any, error) { return v, nil }

// With Debug, a promise, and the report of its rejection, name the places that it came through, the last first: where the
// promises were made that it was derived from, and those that it follows.
func TestOrigins(t *testing.T) {
	for _, debug := range []bool{true, false} {
		var reported []string
		f, r := newOwner(promise.Config{Debug: debug, OnUnhandled: func(p *promise.Promise, err error) {
			reported = append(reported, err.Error())
			require.ErrorIs(t, err, errOrigin)
		}})
		p, reject := first(r)
		q := third(second(p))
		a, resolve := another(r)
		resolve(q)
		all := together(r, a)
		names := func(text string) (found []string) {
			for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '(' }) {
				for _, name := range []string{"first", "second", "third", "another", "together"} {
					if strings.Contains(part, "promise_test."+name+" at origin_test.go:") {
						found = append(found, name)
					}
				}
			}
			return found
		}
		f.drain()
		if debug {
			require.Equal(t, []string{"third", "second", "first"}, names(q.String()), q.String())
			require.Equal(t, []string{"another", "third", "second", "first"}, names(a.String()), a.String())
		} else {
			require.Equal(t, "pending promise", a.String())
		}
		reject(errOrigin)
		f.checkpoint(r)
		require.Len(t, reported, 1)
		if debug {
			require.Equal(t, []string{"together", "another", "third", "second", "first"}, names(reported[0]), reported[0])
			require.Equal(t, []string{"together", "another", "third", "second", "first"}, names(all.String()))
		} else {
			require.Equal(t, errOrigin.Error(), reported[0])
		}
	}
}

var errOrigin = errors.New("lost temper")

// A chain without end names the last of its places, and keeps no others.
func TestOriginsAreBounded(t *testing.T) {
	f, r := newOwner(promise.Config{Debug: true})
	p, resolve := another(r)
	resolve(nil)
	memory := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	extend := func(n int) {
		for range n {
			q := p
			p = second(q).Then(func(any) (any, error) { return third(q), nil }, nil)
			f.tick(r)
		}
	}
	extend(1000)
	before := memory()
	extend(10_000)
	require.Less(t, int64(memory())-int64(before), int64(200_000))
	require.LessOrEqual(t, strings.Count(p.String(), "origin_test.go:"), 16)
	require.Contains(t, p.String(), "third")
}
