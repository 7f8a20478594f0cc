package gojaloop_test

// Tests of the event 'exit'.

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// Listeners of 'exit' hear of one end once, even if one of them throws. An invalid code is an exception.
func TestExitIsToldOnce(t *testing.T) {
	for _, c := range []struct{ script, prints string }{
		{"process.on('exit', code => { console.log('exit', code); throw new Error('x') })", "exit 0\n"},
		{"process.on('exit', code => console.log('exit', code)); setTimeout(() => { throw new Error('x') }, 1)", "exit 1\n"},
		{"try { process.exit('abc') } catch (e) { console.log(e.code) } throw new Error('x')", "ERR_INVALID_ARG_TYPE\n"},
	} {
		loop, err := eventloop.New()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		host, err := gojaloop.New(loop, gojaloop.WithOutput(&out, &out))
		if err != nil {
			t.Fatal(err)
		}
		_, err = host.Run(t.Context(), "main.js", c.script)
		var e *gojaloop.Error
		if !errors.As(err, &e) || e.Code != 1 || out.String() != c.prints {
			t.Errorf("%s: %v, it prints %q, want %q", c.script, err, &out, c.prints)
		}
	}
}
