package eventloop_test

// Tests of a loop's promises: settlement races, memory, and those who wait at the end.

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/garbage"
)

// Promises that nobody can settle any more are garbage, handlers and all, while the loop lives: the heap is back where
// it was.
func TestAbandonedPromisesAreCollected(t *testing.T) {
	l := observed(t)
	onLoop := func(f func()) {
		done := make(chan struct{})
		require.NoError(t, l.Submit(func() { f(); close(done) }))
		<-done
	}
	const perTask = 1000
	n := scale(10_000, 1_000_000, 1_000_000)
	onLoop(func() {})
	before := garbage.Heap()
	for range n / perTask {
		onLoop(func() {
			for range perTask {
				p, _, _ := l.NewPromise()
				p.Then(func(any) (any, error) { _ = p; return nil, nil }, nil)
			}
		})
	}
	for i := 0; ; i++ {
		for range 100 { // each tick looks at about twenty
			onLoop(func() {})
		}
		if i%(n/10_000) == 0 && garbage.Heap() < before+256<<10 {
			break
		}
		require.Less(t, i, n/100, "the heap stays %d bytes larger", garbage.Heap()-before)
	}
	require.NoError(t, l.Shutdown(context.Background()))
}

// A loop that has had many promises at once does not sleep before it holds all of them weakly.
func TestManyPromisesAreLetGo(t *testing.T) {
	l, ended := running(t, nil)
	var last weak.Pointer[promise.Promise]
	require.NoError(t, onLoop(t, l, func() error {
		for range 20_000 {
			p, _, _ := l.Promises().New()
			p.Then(nil, nil)
			last = weak.Make(p)
		}
		return nil
	}))
	require.True(t, garbage.Taken(last))
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// Row 93: no chain of methods, fields and parameters leads from what users have to the owner of a loop's promises. What
// they have instead, package promise tests.
func TestUsersEndNoPromises(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(u reflect.Type) {
		if seen[u] || u.PkgPath() != "" && !strings.Contains(u.PkgPath(), "/turnloop/eventloop") {
			return
		}
		seen[u] = true
		if k := u.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Array || k == reflect.Map || k == reflect.Chan {
			visit(u.Elem())
		} else if k != reflect.Interface {
			visit(reflect.PointerTo(u))
		}
		for m := range u.NumMethod() {
			visit(u.Method(m).Type)
		}
		switch u.Kind() {
		case reflect.Func:
			for i := range u.NumIn() {
				visit(u.In(i))
			}
			for i := range u.NumOut() {
				visit(u.Out(i))
			}
		case reflect.Struct:
			for i := range u.NumField() {
				if f := u.Field(i); f.IsExported() {
					visit(f.Type)
				}
			}
		}
	}
	visit(reflect.TypeFor[*eventloop.Group]())
	require.True(t, seen[reflect.TypeFor[promise.Realm]()])
	require.False(t, seen[reflect.TypeFor[promise.Owner]()])
}
