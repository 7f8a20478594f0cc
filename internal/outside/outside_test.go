package outside_test

// Tests of the modules as their users get them.

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/outside"
)

const (
	root = "../.."
	ours = "github.com/turnloop/turnloop"
)

type user struct{ name, module, gets, program string }

// source returns the user's program: the README's server if it has none of its own, and around the README's second program what that
// leaves out.
func (u user) source(t *testing.T) string {
	t.Helper()
	texts := strings.Split(read(t, filepath.Join(root, "README.md")), "```go\n")
	if len(texts) != 3 {
		t.Fatalf("the README has %d programs", len(texts)-1)
	}
	server, _, _ := strings.Cut(texts[1], "```")
	states, _, _ := strings.Cut(texts[2], "```")
	return cmp.Or(strings.Replace(u.program, "// the README's\n", states, 1), strings.Replace(server, "localhost:8080", "localhost:0", 1))
}

// drive runs the user's program to its end. The README's server gets two requests first, and ends by an interrupt.
func (u user) drive(t *testing.T, dir string, env []string) {
	t.Helper()
	run(t, dir, env, "go", "build", "-o", "mine.exe", ".")
	program := filepath.Join(dir, "mine.exe")
	if u.program != "" {
		run(t, dir, env, program)
		return
	}
	cmd := exec.CommandContext(t.Context(), program)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var addr string
	_, err = fmt.Fscanf(out, "listening on %s\n", &addr)
	require.NoError(t, err)
	for _, want := range []string{"visit 1\n", "visit 2\n"} {
		resp, err := http.Get("http://" + addr)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, want, string(body))
		resp.Body.Close()
	}
	if cmd.Process.Signal(os.Interrupt) != nil { // Windows has no such signal
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return
	}
	require.NoError(t, cmd.Wait())
}

// users are the modules that TestUsers builds: what each gets, and its program.
var users = []user{
	{"server", ours, ours + "/httploop", ""}, // the README's
	{"states", ours, ours + "/eventloop", `package main

import (
	"context"
	"sync"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

type ask struct {
	n     int
	reply chan int
}

type Locked struct{ mu sync.Mutex; sum int }
type Served struct{ asks chan ask }
type Actor struct{ loop *eventloop.Loop; sum int }

// the README's

func main() {
	loop, _ := eventloop.New()
	go loop.Run(context.Background())
	asks := make(chan ask)
	go func() {
		sum := 0
		for a := range asks {
			sum += a.n
			a.reply <- sum
		}
	}()
	locked, served, actor := &Locked{}, &Served{asks}, &Actor{loop: loop}
	for n := range 100 {
		sum, err := actor.Add(context.Background(), n)
		if sum != locked.Add(n) || sum != served.Add(n) || err != nil {
			panic(n)
		}
	}
}
`},
	{"javascript", ours + "/gojaloop", ours + "/gojaloop", `package main

import (
	"context"
	"fmt"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

func main() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	host, err := gojaloop.New(loop)
	if err != nil {
		panic(err)
	}
	go loop.Run(context.Background())
	fmt.Println(host.Run(context.Background(), "main.js", "6 * 7"))
}
`},
	{"goja_nodejs", ours + "/gojaloop", ours + "/gojaloop/nodejs", `package main

import (
	"fmt"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/eventloop"
)

func main() {
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) { fmt.Println(vm.RunString("6 * 7")) })
}
`},
}

// move changes a program's import as docs/goja.md tells users of goja_nodejs to.
func move(t *testing.T, program string) string {
	t.Helper()
	said := regexp.MustCompile("Change the import of `(.*?)` to `(.*?)`")
	change := said.FindStringSubmatch(read(t, filepath.Join(root, "docs/goja.md")))
	if change == nil {
		t.Fatal("docs/goja.md does not say which import to change")
	}
	return strings.Replace(program, change[1], change[2], 1)
}

// TestUsers: a module that gets one of ours and imports its package has a program that builds and runs. Nothing is replaced, and
// nothing comes from the workspace. The tournament's README has a test of its own that does the same.
func TestUsers(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	env := serve(t)
	version, err := outside.Version(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users {
		t.Run(u.name, func(t *testing.T) {
			dir := t.TempDir()
			program := u.source(t)
			if u.name == "goja_nodejs" {
				program = move(t, program)
			}
			write(t, filepath.Join(dir, "main.go"), program)
			run(t, dir, env, "go", "mod", "init", "example.org/mine")
			run(t, dir, env, "go", "get", u.gets)
			u.drive(t, dir, env)
			if text := read(t, filepath.Join(dir, "go.mod")); strings.Contains(text, "replace") || !strings.Contains(text, u.module+" "+version) {
				t.Errorf("the user's go.mod is\n%s", text)
			}
		})
	}
}

// TestClone: with a clone of the repository beside the user's module, the README's commands take the place of go get, for its own
// program and for one with JavaScript.
func TestClone(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	said := regexp.MustCompile("`(go mod edit -replace .*?)`\\s+and, once `main.go` is there, `(go mod tidy)`")
	commands := said.FindStringSubmatch(read(t, filepath.Join(root, "README.md")))
	if commands == nil {
		t.Fatal("the README does not say how to use a clone")
	}
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GOWORK=", "GOFLAGS=")
	for _, u := range users[:3] {
		t.Run(u.name, func(t *testing.T) {
			above := t.TempDir()
			if err := os.Symlink(tree, filepath.Join(above, "turnloop")); err != nil {
				t.Skip(err)
			}
			dir := filepath.Join(above, "mine")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "main.go"), u.source(t))
			run(t, dir, env, "go", "mod", "init", "example.org/mine")
			for _, command := range commands[1:] {
				run(t, dir, env, strings.Fields(command)...)
			}
			u.drive(t, dir, env)
		})
	}
}

// TestInstall: the command that docs/loopjs.md installs runs.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	const command = "go install github.com/turnloop/turnloop/gojaloop/cmd/loopjs@latest"
	if !strings.Contains(read(t, filepath.Join(root, "docs/loopjs.md")), "`"+command+"`") {
		t.Errorf("the page does not say %s", command)
	}
	version, err := outside.Version(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := append(serve(t), "GOBIN="+dir, "GOOS=", "GOARCH=") // the machine's, since GOBIN is for nothing else
	run(t, dir, env, strings.Fields(command)...)
	for args, want := range map[string]string{"--version": "loopjs " + version, "-p await(6*7)": "42"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "loopjs"), strings.Fields(args)...)
		if out, err := cmd.Output(); strings.TrimSpace(string(out)) != want {
			t.Errorf("loopjs %s: %q, %v, want %s", args, out, err, want)
		}
	}
}

// TestModules: every module builds as it comes from outside, its tests included. "make build" runs it.
func TestModules(t *testing.T) {
	if os.Getenv("TURNLOOP_MODULES") == "" {
		t.Skip("TURNLOOP_MODULES is not set: it builds everything anew")
	}
	env := serve(t)
	modules, err := outside.Modules(root)
	if err != nil || len(modules) < 5 {
		t.Fatalf("%d modules, %v", len(modules), err)
	}
	for _, m := range modules {
		t.Run(m.Path, func(t *testing.T) {
			dir := t.TempDir()
			run(t, dir, env, "go", "mod", "init", "example.org/mine")
			run(t, dir, env, "go", "get", "-t", m.Path+"/...")
			run(t, dir, env, "go", "vet", m.Path+"/...")
		})
	}
}

// TestModulesOfTheTree: a module that somebody has put into their clone, as the tournament's README says, is none of ours.
func TestModulesOfTheTree(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.work"), "use (\n\t.\n\t./mine\n\t./tournament\n)\n")
	for folder, module := range map[string]string{".": ours, "mine": ours + "s", "tournament": ours + "/tournament"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, folder, "go.mod"), "module "+module+"\n")
	}
	got, err := outside.Modules(dir)
	if want := []outside.Module{{Path: ours, Folder: "."}, {Path: ours + "/tournament", Folder: "./tournament"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func serve(t *testing.T) (env []string) {
	t.Helper()
	env, err := outside.Serve(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir string, env []string, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}
