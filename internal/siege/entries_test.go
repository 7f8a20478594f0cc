//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// What the floods leave out.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unflooded are public functions and methods that no flood calls, and why not. Package js is left out: most of what it has
// only reads or changes an object of the caller.
var unflooded = map[string]string{
	`^eventloop: (New|NewGroup|With\w+)$`:                                                                "makes a loop, which has all of its floods before it",
	`^eventloop: (Loop|Group)\.RefuseWork$`:                                                              "takes back nothing: a second call finds nothing to do",
	`^flow: (StopGracefully|RunUntil)$`:                                                                  "is Shutdown with a timeout, and all lives end by that",
	`^flow: (Permanent|failure\.|Ticker\.)`:                                                              "reads or writes a value of the caller, or costs what a timer costs",
	`^eventloop: (Metrics|Latency|Activity|Stall)\.`:                                                     "reads or writes a value of the caller",
	`^promise: (NewOwner|Owner\.\w+)$`:                                                                   "is for loops, not for their users",
	`^promise: (Realm\.)?Try$|^promise: (As|Chain)$`:                                                     "calls at once, and makes promises as others do",
	`^promise: AggregateError\.`:                                                                         "reads a value",
	`^threadlet: (Listen|ListenConfig|WrapListener|Dial|Serve|ServeGroup|MaxConns|OnPause)$`:             "takes a port for each connection; the soak opens and closes a hundred thousand",
	`^threadlet: Conn\.(CloseRead|CloseWrite|Idle|IdleUnder|LocalAddr|RemoteAddr|SyscallConn|TryWrite)$`: "ends a connection, or costs what Read and Write cost",
	`^threadlet: (Wrap|Shared|SharedListener)$`:                                                          "makes a connection, or a listener, of one that was there",
	`^threadlet: (Draining|Threadlet\.Draining|Listeners)$`:                                              "reads what the loop or a listener has noted",
	`^threadlet: (Current|Chan\.(TrySend|TryReceive)|Mutex\.TryLock)$`:                                   "does not wait",
}

// Every public function and method of the packages under siege is called by some flood, or is known not to need one.
func TestEveryEntryIsFlooded(t *testing.T) {
	called := map[string]bool{}
	for _, f := range parsed(t, ".") {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				called[s.Sel.Name] = true
			}
			return true
		})
	}
	used := map[string]bool{}
	for _, dir := range []string{"eventloop", "eventloop/promise", "eventloop/flow", "eventloop/threadlet"} {
		for _, f := range parsed(t, filepath.Join("../..", dir)) {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && !called[fn.Name.Name] {
					if name := public(fn); name != "" && !excused(f.Name.Name+": "+name, used) {
						t.Errorf("%s.%s: no flood calls it", f.Name.Name, name)
					}
				}
			}
		}
	}
	for pattern := range unflooded {
		if !used[pattern] {
			t.Errorf("%s excuses nothing", pattern)
		}
	}
}

func excused(name string, used map[string]bool) (is bool) {
	for pattern := range unflooded {
		if regexp.MustCompile(pattern).MatchString(name) {
			used[pattern], is = true, true
		}
	}
	return is
}

// parsed returns the files of a package, without tests.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal(dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// public returns the name of a function, with its type if it is a method; nothing if either is not public.
func public(fn *ast.FuncDecl) string {
	if !fn.Name.IsExported() {
		return ""
	}
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.IndexListExpr:
			of = x.X
		case *ast.Ident:
			if !x.IsExported() {
				return ""
			}
			return x.Name + "." + fn.Name.Name
		default:
			return ""
		}
	}
}
