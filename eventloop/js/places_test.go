package js_test

// Tests of the places from which JavaScript's callbacks come, in debug mode.

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// Functions that set a callback: their names are looked for in its place.
func placeOfImmediate(j *js.JS, fn func()) { _, _ = j.SetImmediate(fn) }
func placeOfInterval(j *js.JS, fn func())  { _, _ = j.SetInterval(fn, 1) }
func placeOfTimeout(j *js.JS, fn func())   { _, _ = j.SetTimeout(fn, 1) }

// In debug mode each timeout and run of an interval comes from where it was set, and each immediate from where the first of those
// was that run with it.
func TestPlaces(t *testing.T) {
	for _, debug := range []bool{true, false} {
		l, err := eventloop.New(eventloop.WithDebug(debug), eventloop.WithMetrics(true))
		require.NoError(t, err)
		j, err := js.New(l)
		require.NoError(t, err)
		go func() { _ = l.Run(context.Background()) }()
		channel := func() chan eventloop.Activity { return make(chan eventloop.Activity, 1) }
		timeout, first, second, interval := channel(), channel(), channel(), channel()
		look := func(at chan eventloop.Activity) func() {
			return func() {
				select {
				case at <- l.Active()[0]:
				default: // the interval goes on
				}
			}
		}
		require.NoError(t, l.Submit(func() {
			_, _ = j.SetTimeout(func() {}, 1)
			placeOfTimeout(j, look(timeout))
			placeOfImmediate(j, look(first))
			_, _ = j.SetImmediate(look(second))
		}))
		require.Equal(t, debug, contains(<-timeout, "placeOfTimeout"))
		require.Equal(t, debug, contains(<-first, "placeOfImmediate"))
		require.Equal(t, debug, contains(<-second, "placeOfImmediate"))
		placeOfInterval(j, look(interval))
		for range 3 {
			require.Equal(t, debug, contains(<-interval, "placeOfInterval"))
		}
		require.NoError(t, l.Close())
		<-l.Done()
	}
}

func contains(a eventloop.Activity, name string) bool {
	return a.Name == "running" && strings.Contains(a.Detail, "js_test."+name+" at places_test.go:")
}
