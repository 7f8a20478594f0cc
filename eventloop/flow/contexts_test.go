package flow_test

// A nil context is a mistake of the caller's, and panics, as elsewhere in Go; before anything else happens.

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

var noContext context.Context

// takers call each public function that takes a context with none.
var takers = map[string]func(l *eventloop.Loop, g *eventloop.Group){
	"eventloop: Loop.Run":          func(l *eventloop.Loop, _ *eventloop.Group) { _ = l.Run(noContext) },
	"eventloop: Loop.Shutdown":     func(l *eventloop.Loop, _ *eventloop.Group) { _ = l.Shutdown(noContext) },
	"eventloop: Loop.AwaitWorkers": func(l *eventloop.Loop, _ *eventloop.Group) { _ = l.AwaitWorkers(noContext) },
	"eventloop: Loop.Promisify":    func(l *eventloop.Loop, _ *eventloop.Group) { l.Promisify(noContext, nothing) },
	"eventloop: Loop.Work":         func(l *eventloop.Loop, _ *eventloop.Group) { _ = l.Work(noContext, nothing, func(any, error) {}) },
	"eventloop: Promisify":         func(l *eventloop.Loop, _ *eventloop.Group) { eventloop.Promisify(noContext, l, nothing) },
	"eventloop: Group.Run":         func(_ *eventloop.Loop, g *eventloop.Group) { _ = g.Run(noContext) },
	"eventloop: Group.Shutdown":    func(_ *eventloop.Loop, g *eventloop.Group) { _ = g.Shutdown(noContext) },
	"flow: Call":                   func(l *eventloop.Loop, _ *eventloop.Group) { _, _ = flow.Call(noContext, l, answer) },
	"flow: Exec":                   func(l *eventloop.Loop, _ *eventloop.Group) { _ = flow.Exec(noContext, l, func() error { return nil }) },
	"flow: Sleep":                  func(l *eventloop.Loop, _ *eventloop.Group) { flow.Sleep(noContext, l, 0) },
	"flow: Retry": func(l *eventloop.Loop, _ *eventloop.Group) {
		flow.Retry(noContext, l, flow.Backoff{}, func(context.Context, int) (int, error) { return 0, nil })
	},
	"flow: StopGracefully":   func(_ *eventloop.Loop, g *eventloop.Group) { _ = flow.StopGracefully(noContext, g, time.Hour) },
	"flow: RunUntil":         func(_ *eventloop.Loop, g *eventloop.Group) { _ = flow.RunUntil(noContext, g, time.Hour) },
	"promise: Promise.Await": func(l *eventloop.Loop, _ *eventloop.Group) { _, _ = l.Promises().Resolved(1).Await(noContext) },
	"promise: Of.Await":      func(l *eventloop.Loop, _ *eventloop.Group) { _, _ = promise.Resolved(l.Promises(), 1).Await(noContext) },
	"js: AbortSignal.Context": func(l *eventloop.Loop, _ *eventloop.Group) {
		must(js.New(l)).NewAbortController().Signal().Context(noContext)
	},
	"js: JS.SignalFromContext": func(l *eventloop.Loop, _ *eventloop.Group) { must(js.New(l)).SignalFromContext(noContext) },
	"threadlet: Call": func(l *eventloop.Loop, _ *eventloop.Group) {
		_, _ = threadlet.Call(noContext, l, func() (int, error) { return 0, nil })
	},
	"threadlet: Do": func(*eventloop.Loop, *eventloop.Group) {
		_ = threadlet.Do(noContext, func(context.Context) error { return nil })
	},
	"threadlet: Dial": func(*eventloop.Loop, *eventloop.Group) { _, _ = threadlet.Dial(noContext, "tcp", "127.0.0.1:1") },
	"threadlet: ListenConfig": func(l *eventloop.Loop, _ *eventloop.Group) {
		_, _ = threadlet.ListenConfig(noContext, l, net.ListenConfig{}, "tcp", "127.0.0.1:0")
	},
	"threadlet: Threadlet.Join": func(l *eventloop.Loop, _ *eventloop.Group) { _ = must(threadlet.Go(l, func() {})).Join(noContext) },
	"secure: Conn.HandshakeContext": func(*eventloop.Loop, *eventloop.Group) {
		_ = secure.Client(new(threadlet.Conn), nil).HandshakeContext(noContext)
	},
}

func nothing(context.Context) (any, error) { return nil, nil }

// Wherever it is called, it leaves loop and group as they were.
func TestNilContexts(t *testing.T) {
	for name, call := range takers {
		t.Run(name, func(t *testing.T) {
			g := must(eventloop.NewGroup(1))
			l := g.Loop(0)
			require.Panics(t, func() { call(l, g) }, "before it runs")
			ended := make(chan error, 1)
			go func() { ended <- g.Run(background) }()
			require.NoError(t, flow.Exec(background, l, func() error {
				require.Panics(t, func() { call(l, g) }, "on the loop")
				return nil
			}))
			require.Panics(t, func() { call(l, g) }, "elsewhere")
			require.NoError(t, must(threadlet.Go(l, func() { require.Panics(t, func() { call(l, g) }, "in a threadlet") })).Join(background))
			require.NoError(t, flow.Exec(background, l, func() error { return nil }))
			require.NoError(t, g.Shutdown(background))
			require.NoError(t, <-ended)
		})
	}
}

// The table has all of them.
func TestEveryContextIsAsked(t *testing.T) {
	var all []string
	for _, dir := range []string{"..", ".", "../promise", "../js", "../threadlet", "../threadlet/secure"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !fn.Name.IsExported() || !takesContext(fn) {
					continue
				}
				name := fn.Name.Name
				if fn.Recv != nil {
					of := fn.Recv.List[0].Type
					if star, ok := of.(*ast.StarExpr); ok {
						of = star.X
					}
					if index, ok := of.(*ast.IndexExpr); ok {
						of = index.X
					}
					if !of.(*ast.Ident).IsExported() {
						continue
					}
					name = of.(*ast.Ident).Name + "." + name
				}
				all = append(all, f.Name.Name+": "+name)
			}
		}
	}
	require.Greater(t, len(all), 15)
	for _, name := range all {
		require.Contains(t, takers, name)
	}
	for name := range takers {
		require.True(t, slices.Contains(all, name), name)
	}
}

func takesContext(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(p *ast.Field) bool {
		of, ok := p.Type.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "Context" && of.X.(*ast.Ident).Name == "context"
	})
}
