package outcome_test

// Tests of how calls end, and of what is told of it.

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/outcome"
)

var errWork = errors.New("work failed")

// hostile is an error whose method does not return.
type hostile struct{ exit bool }

func (hostile) Error() string { return "hostile" }
func (h hostile) Is(error) bool {
	if h.exit {
		runtime.Goexit()
	}
	panic(errWork)
}

// odd is an error that == panics for.
type odd struct{ v any }

func (odd) Error() string { return "odd" }

// oddContext is a context whose error is its cause, and odd.
type oddContext struct{ context.Context }

func (oddContext) Err() error { return odd{[]int{1}} }

// The error of a context that has ended is its own, and tells the cause, once.
func TestCancelled(t *testing.T) {
	require.EqualError(t, outcome.Cancelled(oddContext{context.Background()}), "odd: odd") // which cannot be compared
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(nil)
	require.True(t, outcome.Cancelled(ctx) == context.Canceled)
	ctx, cancel = context.WithCancelCause(context.Background())
	cancel(errWork)
	require.EqualError(t, outcome.Cancelled(ctx), "context canceled: work failed")
}

// However a call ends, it is told once, on the goroutine of the call.
func TestOf(t *testing.T) {
	type call = func(context.Context) (int, error)
	uncomparable := odd{[]int{1}}
	for name, c := range map[string]struct {
		cause error // of the context's end; nil if it does not end
		late  bool  // it ends within the call
		fn    call
		value int
		is    []error
		panic any
		odd   error // it is this one, which does not like to be asked
	}{
		"value":           {fn: func(context.Context) (int, error) { return 1, nil }, value: 1},
		"error":           {fn: func(context.Context) (int, error) { return 1, errWork }, value: 1, is: []error{errWork}},
		"panic":           {fn: func(context.Context) (int, error) { panic("no") }, panic: "no"},
		"Goexit":          {fn: func(context.Context) (int, error) { runtime.Goexit(); return 1, nil }, is: []error{loopapi.ErrGoexit}, panic: loopapi.ErrGoexit},
		"too late":        {cause: io.EOF, fn: func(context.Context) (int, error) { t.Error("called"); return 1, nil }, is: []error{context.Canceled, io.EOF}},
		"no cause":        {cause: context.Canceled, fn: func(context.Context) (int, error) { t.Error("called"); return 1, nil }, is: []error{context.Canceled}},
		"all the same":    {cause: io.EOF, late: true, fn: func(context.Context) (int, error) { return 1, nil }, value: 1},
		"its own":         {cause: io.EOF, late: true, fn: func(context.Context) (int, error) { return 1, errWork }, value: 1, is: []error{errWork}},
		"its context":     {cause: io.EOF, late: true, fn: func(ctx context.Context) (int, error) { return 1, ctx.Err() }, value: 1, is: []error{context.Canceled, io.EOF}},
		"its cause":       {cause: io.EOF, late: true, fn: func(ctx context.Context) (int, error) { return 1, context.Cause(ctx) }, value: 1, is: []error{context.Canceled, io.EOF}},
		"an odd cause":    {cause: uncomparable, late: true, fn: func(ctx context.Context) (int, error) { return 1, ctx.Err() }, value: 1, is: []error{context.Canceled}},
		"odd, too late":   {cause: uncomparable, fn: func(ctx context.Context) (int, error) { return 1, ctx.Err() }, is: []error{context.Canceled}},
		"panics in Is":    {cause: io.EOF, late: true, fn: func(context.Context) (int, error) { return 1, hostile{} }, value: 1, odd: hostile{}},
		"exits in Is":     {cause: io.EOF, late: true, fn: func(context.Context) (int, error) { return 1, hostile{exit: true} }, is: []error{loopapi.ErrGoexit}, panic: loopapi.ErrGoexit},
		"Is is not asked": {fn: func(context.Context) (int, error) { return 1, hostile{} }, value: 1, odd: hostile{}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			if c.cause != nil && !c.late {
				cancel(c.cause)
			}
			calls, done := 0, make(chan struct{})
			var value int
			var err error
			go func() { // which may not return
				defer close(done)
				outcome.Of(ctx, func(ctx context.Context) (int, error) {
					if c.late {
						cancel(c.cause)
					}
					return c.fn(ctx)
				}, func(v int, e error) { calls, value, err = calls+1, v, e })
			}()
			<-done
			require.Equal(t, 1, calls)
			require.Equal(t, c.value, value)
			if c.odd != nil {
				require.True(t, err == c.odd)
				return
			}
			for _, is := range c.is {
				require.ErrorIs(t, err, is)
			}
			var fault *loopapi.PanicError
			require.Equal(t, c.panic != nil, errors.As(err, &fault))
			if fault != nil {
				require.Equal(t, c.panic, fault.Value)
				require.Contains(t, string(fault.Stack), "outcome_test.go")
			}
			if c.is == nil && c.panic == nil {
				require.NoError(t, err)
			}
		})
	}
}
