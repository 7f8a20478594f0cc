package eventloop_test

// The loop under siege, in what is its own: the kit's group Siege is for everybody. Goroutines and callbacks that never
// stop, promises and workers among them, and ends that come all the same.

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/quota"
)

// running makes a loop and runs it. j, if there is one, hears what it logs.
func running(t *testing.T, j *journal, opts ...eventloop.Option) (l *eventloop.Loop, ended <-chan error) {
	if j == nil {
		j = &journal{}
	}
	l, err := eventloop.New(append(opts, eventloop.WithLogger(slog.New(j)))...)
	require.NoError(t, err)
	ch := make(chan error, 1)
	go func() { ch <- l.Run(context.Background()) }()
	require.NoError(t, onLoop(t, l, func() error { return nil }))
	return l, ch
}

// shutDown ends a loop, and waits no longer than that.
func shutDown(t *testing.T, l *eventloop.Loop) {
	ctx, cancel := beat.Context(context.Background())
	defer cancel()
	require.NoError(t, l.Shutdown(ctx))
}

// books are what became of functions.
type books struct{ accepted, ran atomic.Int64 }

func (b *books) count()                            { b.ran.Add(1) }
func (b *books) work(context.Context) (any, error) { b.count(); return nil, nil }
func (b *books) accept(err error) {
	if err == nil {
		b.accepted.Add(1)
	}
}

func noWork(context.Context) (any, error) { return nil, nil }

// assaults are calls that goroutines make again and again, also when they are refused.
var assaults = []struct {
	name       string
	goroutines int
	call       func(l *eventloop.Loop, b *books)
}{
	{"SubmitInternal", 2, func(l *eventloop.Loop, b *books) { b.accept(l.SubmitInternal(b.count)) }},
	{"ScheduleMicrotask", 1, func(l *eventloop.Loop, b *books) { b.accept(l.ScheduleMicrotask(b.count)) }},
	{"NextTick", 2, func(l *eventloop.Loop, b *books) { b.accept(l.NextTick(b.count)) }},
	{"resolve", 8, func(l *eventloop.Loop, _ *books) {
		_, resolve, _ := l.NewPromise()
		resolve(nil)
	}},
	{"Then", 2, func(l *eventloop.Loop, _ *books) {
		l.Promises().Resolved(nil).Then(func(any) (any, error) { return nil, nil }, nil)
	}},
	{"Promisify", 8, func(l *eventloop.Loop, b *books) { l.Promisify(context.Background(), b.work) }},
	{"Promisify and Await", 8, func(l *eventloop.Loop, b *books) {
		_, err := l.Promisify(context.Background(), b.work).Await(context.Background())
		b.accept(err)
	}},
	{"Promisify, refused", 8, func(l *eventloop.Loop, _ *books) {
		if l.State() == eventloop.StateTerminating {
			l.Promisify(context.Background(), noWork)
		}
	}},
}

// Shutdown comes, and loses nothing, although goroutines go on.
func TestShutdownUnderAssault(t *testing.T) {
	for _, a := range assaults {
		var log journal
		l, ended := running(t, &log, eventloop.WithOnOverload(func(error) {}))
		var b books
		var stop atomic.Bool
		var goroutines, begun sync.WaitGroup
		for range a.goroutines {
			begun.Add(1)
			goroutines.Go(func() {
				for i := 0; !stop.Load(); i++ {
					if a.call(l, &b); i == 100 {
						begun.Done()
					}
				}
			})
		}
		begun.Wait()
		shutDown(t, l)
		require.NoError(t, <-ended)
		stop.Store(true)
		goroutines.Wait()
		if accepted := b.accepted.Load(); accepted > 0 {
			require.Equal(t, accepted, b.ran.Load(), a.name)
		}
		require.Zero(t, log.count(), "%s: %s", a.name, &log)
	}
}

// What an ending loop refuses queues nothing, and nobody reports it.
func TestRefusedWorkIsNoWork(t *testing.T) {
	var log journal
	l, ended := running(t, &log)
	require.NoError(t, onLoop(t, l, func() error {
		require.NoError(t, l.Shutdown(context.Background()))
		refused := make(chan struct{})
		go func() {
			defer close(refused)
			for range 1000 {
				l.Promisify(context.Background(), noWork)
			}
		}()
		<-refused
		require.Zero(t, l.Queued())
		return nil
	}))
	require.NoError(t, <-ended)
	require.Zero(t, log.count(), "%s", &log)
}

// anew are handlers that begin anew whatever the outcome, when p has settled.
var anew = []struct {
	name  string
	begin func(l *eventloop.Loop, p *eventloop.Promise, count func())
}{
	{"server", func(l *eventloop.Loop, p *eventloop.Promise, count func()) {
		var serve func() error
		serve = func() error { count(); l.Promisify(context.Background(), noWork).Finally(serve); return nil }
		p.Finally(serve)
	}},
	{"promise that is pending", func(l *eventloop.Loop, p *eventloop.Promise, count func()) {
		var again func() error
		again = func() error { count(); p, _, _ := l.NewPromise(); p.Finally(again); return nil }
		p.Finally(again)
	}},
	{"promise that is rejected", func(l *eventloop.Loop, p *eventloop.Promise, count func()) {
		var again func() error
		again = func() error { count(); l.Promises().Rejected(io.EOF).Finally(again); return nil }
		p.Finally(again)
	}},
	{"internal task", func(l *eventloop.Loop, p *eventloop.Promise, count func()) {
		var again func()
		again = func() { count(); _ = l.SubmitInternal(again) }
		p.Finally(func() error { again(); return nil })
	}},
	{"tick", func(l *eventloop.Loop, p *eventloop.Promise, count func()) {
		var again func()
		again = func() { count(); _ = l.NextTick(again) }
		p.Finally(func() error { again(); return nil })
	}},
}

// Such handlers do not keep a loop from its end: not Shutdown, and not the exit of a loop that has nothing else to do.
func TestHandlersThatBeginAnew(t *testing.T) {
	ignore := eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) {})
	quiet := eventloop.WithOnOverload(func(error) {}) // an endless chain is reported
	for i, h := range anew {
		if !testing.Short() || i%2 == 1 {
			l, ended := running(t, nil, ignore, quiet)
			var rounds atomic.Int64
			p, resolve, _ := l.NewPromise()
			h.begin(l, p, func() { rounds.Add(1) })
			for resolve(nil); h.name != "promise that is pending" && rounds.Load() < 100; {
				runtime.Gosched()
			}
			shutDown(t, l)
			require.NoError(t, <-ended, h.name)
		}
		if !testing.Short() || i%2 == 0 {
			l, err := eventloop.New(ignore, quiet, eventloop.WithAutoExit(true))
			require.NoError(t, err)
			p, _, _ := l.NewPromise() // which the end rejects
			h.begin(l, p, func() {})
			exited := make(chan error, 1)
			go func() { exited <- l.Run(context.Background()) }()
			require.NoError(t, beat.Receive(t, exited, h.name+": the exit"), h.name)
		}
	}
}

// While a loop ends, its workers bring as much as they like; goroutines that are none only so much.
func TestWorkersBringWhileOthersAreRefused(t *testing.T) {
	for name, submit := range map[string]func(*eventloop.Loop, func()) error{
		"SubmitInternal": (*eventloop.Loop).SubmitInternal, "ScheduleMicrotask": (*eventloop.Loop).ScheduleMicrotask,
		"NextTick": (*eventloop.Loop).NextTick,
	} {
		l, ended := running(t, nil)
		accepted, ran := 0, 0
		bystander, ready := make(chan int), make(chan struct{})
		p := l.Promisify(context.Background(), func(context.Context) (any, error) {
			<-ready
			for range <-bystander { // many more
				for range 2 {
					if err := submit(l, func() { ran++ }); err != nil {
						return nil, err
					}
					accepted++
				}
			}
			return nil, nil
		})
		require.NoError(t, onLoop(t, l, func() error { // holds the loop, so that it runs none of these
			require.NoError(t, l.Shutdown(context.Background()))
			close(ready)
			others := make(chan int)
			go func() {
				n := 0
				for submit(l, func() { ran++ }) == nil {
					n++
				}
				others <- n
			}()
			n := <-others
			require.Equal(t, quota.Each, n, name)
			accepted += n
			bystander <- 100 * n
			return nil
		}))
		_, err := p.Await(context.Background())
		require.NoError(t, err, name)
		require.NoError(t, <-ended)
		require.Equal(t, accepted, ran, name)
	}
}

// Goroutines that have a little to do each, on a loop that is busy, are no chain, however many; a chain beside them is one.
func TestManyAreNoChain(t *testing.T) {
	var told atomic.Int64
	l, ended := running(t, nil, eventloop.WithOnOverload(func(err error) {
		if errors.Is(err, eventloop.ErrMicrotaskBudget) {
			told.Add(1)
		}
	}))
	together := func() {
		var all sync.WaitGroup
		require.NoError(t, onLoop(t, l, func() error {
			for range 256 {
				all.Go(func() {
					for range 20 {
						p, resolve, _ := l.NewPromise()
						p.Then(func(any) (any, error) { return nil, nil }, nil)
						resolve(nil)
					}
				})
			}
			all.Wait() // all of it waits when the callback returns
			return nil
		}))
	}
	together()
	require.NoError(t, onLoop(t, l, func() error { return nil }))
	require.Zero(t, told.Load())

	var stop atomic.Bool
	var chain func()
	chain = func() {
		if !stop.Load() {
			_ = l.ScheduleMicrotask(chain)
		}
	}
	require.NoError(t, l.ScheduleMicrotask(chain))
	together()
	eventually(t, func() bool { return told.Load() > 0 }, "nobody tells of an endless chain")
	stop.Store(true)
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// A function that waits for its turn is not called when its context has ended, however soon after that its turn comes.
func TestNoTurnAfterTheContext(t *testing.T) {
	l, ended := running(t, nil, eventloop.WithWorkerLimit(1))
	for range scale(100, 2000, 20_000) {
		ctx, cancel := context.WithCancel(context.Background())
		started, release := make(chan struct{}), make(chan struct{})
		first := l.Promisify(context.Background(), func(context.Context) (any, error) { close(started); <-release; return nil, nil })
		<-started
		var called atomic.Bool
		second := l.Promisify(ctx, func(context.Context) (any, error) { called.Store(true); return nil, nil })
		cancel()
		close(release)
		_, err := first.Await(context.Background())
		require.NoError(t, err)
		_, err = second.Await(context.Background())
		require.ErrorIs(t, err, context.Canceled)
		require.False(t, called.Load())
	}
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// oddContext ends with an error of its own.
type oddContext struct {
	context.Context
	err error
}

func (c oddContext) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return c.err
}

// oddErrors cannot be compared, each in its way.
type oddErrors []error

func (oddErrors) Error() string { return "several" }

// Contexts whose error, or cause, cannot be compared end like any other.
func TestUncomparableContexts(t *testing.T) {
	l, ended := running(t, nil)
	for name, odd := range map[string]error{
		"slice":                     oddErrors{io.EOF},
		"slice in a struct":         struct{ error }{oddErrors{io.EOF}},
		"slice in a field of any":   uncomparable{[]int{1}},
		"pointer, for comparison":   &oddErrors{io.EOF},
		"comparable, in that field": uncomparable{1},
	} {
		for _, early := range []bool{true, false} {
			for where, contextOf := range map[string]func() (ctx context.Context, end func()){
				"error": func() (context.Context, func()) {
					ctx, cancel := context.WithCancel(context.Background())
					return oddContext{ctx, odd}, cancel
				},
				"cause": func() (context.Context, func()) {
					ctx, cancel := context.WithCancelCause(context.Background())
					return ctx, func() { cancel(odd) }
				},
				"both": func() (context.Context, func()) {
					ctx, cancel := context.WithCancelCause(context.Background())
					return oddContext{ctx, odd}, func() { cancel(odd) }
				},
			} {
				ctx, end := contextOf()
				if early {
					end()
				}
				_, err := l.Promisify(ctx, func(ctx context.Context) (any, error) {
					end()
					<-ctx.Done()
					return nil, ctx.Err()
				}).Await(context.Background())
				require.Error(t, err, "%s as %s", name, where)
				var fault *eventloop.PanicError
				require.False(t, errors.As(err, &fault), "%s as %s: %v", name, where, err)
				end()
			}
		}
	}
	shutDown(t, l)
	require.NoError(t, <-ended)
}
