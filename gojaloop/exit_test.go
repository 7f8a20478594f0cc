package gojaloop_test

// Tests of the event 'exit'.

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// Listeners of 'exit' hear of one end once, even if one of them throws; an exception leaves the code that is set, as in Node. An
// invalid code is an exception.
func TestExitIsToldOnce(t *testing.T) {
	for _, c := range []struct {
		script, prints string
		code           int
	}{
		{"process.on('exit', code => { console.log('exit', code); throw new Error('x') })", "exit 0\n", 1},
		{"process.on('exit', code => console.log('exit', code)); setTimeout(() => { throw new Error('x') }, 1)", "exit 1\n", 1},
		{"try { process.exit('abc') } catch (e) { console.log(e.code) } throw new Error('x')", "ERR_INVALID_ARG_TYPE\n", 1},
		{"process.exitCode = 17; process.on('exit', () => { throw new Error('x') })", "", 17},
		{"process.on('exit', () => { process.exitCode = 5; Promise.reject(new Error('x')) })", "", 5},
		{"process.on('exit', () => { process.exitCode = 5 }); throw new Error('x')", "", 5},
		{"process.on('exit', () => { process.exitCode = undefined }); throw new Error('x')", "", 1},
		{"process.on('exit', code => { console.log('exit', code); throw new Error('y') }); throw new Error('x')", "exit 1\n", 1},
		{"process.on('exit', code => { console.log('exit', code); throw new Error('x') }); process.exit(4)", "exit 4\n", 4},
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
		if !errors.As(err, &e) || e.Code != c.code || out.String() != c.prints {
			t.Errorf("%s: %#v, it prints %q, want %d and %q", c.script, err, &out, c.code, c.prints)
		}
	}
}
