package main

// Read, evaluate, print: a session, on a terminal with history and editing, or line by line.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/gojaloop"
	"golang.org/x/term"
)

const (
	prompt = "> "
	more   = "... "
	help   = `.exit      end, as does Ctrl-D
.help      this
.load file run the lines of a file
Ctrl-C     end what runs, or what is typed; twice, the session
A promise that is awaited is waited for; _ is the last value.
`
)

// repl is a session. Its methods are for the goroutine that reads, but Write.
type repl struct {
	p     *program
	lines *bufio.Reader // where there is no terminal

	mu       sync.Mutex // guards reading, and writes to the terminal
	terminal *term.Terminal
	input    *keys
	reading  bool // the terminal is in raw mode
}

// interact runs a session, and returns the exit code.
func interact(o *options, c *compiler) int {
	r := &repl{lines: bufio.NewReader(os.Stdin)}
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		r.input = &keys{from: os.Stdin}
		r.terminal = r.newTerminal()
	}
	p, err := newProgram(o, c, r, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loopjs:", err)
		return 1
	}
	r.p, p.session = p, r
	started, over, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		_, err := p.host.RunFunc(context.Background(), func(*goja.Runtime) (goja.Value, error) {
			defer close(started)
			if err := p.install(); err != nil {
				return nil, err
			}
			// What Run waits for, until the session is over.
			wait, _ := goja.AssertFunction(p.host.Promisify(func(ctx context.Context, _ []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
				select {
				case <-over:
				case <-ctx.Done(): // process.exit
				}
				return nil, nil
			}))
			if _, err := wait(goja.Undefined()); err != nil {
				return nil, err
			}
			return nil, p.defineGlobals("[repl]")
		})
		ended <- p.exitCode(err)
	}()
	<-started
	read := make(chan struct{})
	go func() {
		defer close(read)
		r.loop()
	}()
	select {
	case code := <-ended: // process.exit
		r.leave()
		return code
	case <-read:
	}
	_ = p.host.Submit(func(*goja.Runtime) { p.host.Exit(p.exitCodeSet()) })
	close(over)
	return <-ended
}

// exitCodeSet is process.exitCode.
func (p *program) exitCodeSet() int {
	return int(p.vm.Get("process").ToObject(p.vm).Get("exitCode").ToInteger())
}

func (r *repl) newTerminal() *term.Terminal {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{r.input, os.Stdout}, prompt)
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
		_ = t.SetSize(w, h)
	}
	return t
}

// keys is the terminal's input. It notes a Ctrl-C, which term.Terminal does not tell from the end; and what was typed ahead,
// while the terminal was as programs have it, ends lines in another way.
type keys struct {
	from        io.Reader
	interrupted bool
}

func (k *keys) Read(b []byte) (int, error) {
	n, err := k.from.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			b[i] = '\r'
		}
	}
	k.interrupted = n > 0 && b[n-1] == 3
	return n, err
}

// Write is where scripts print: between a prompt and what is typed the terminal has to draw both again.
func (r *repl) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading {
		return r.terminal.Write(b)
	}
	return os.Stdout.Write(b)
}

// leave puts the terminal back, when the program ends while somebody types.
func (r *repl) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading {
		fmt.Print("\r\n")
		r.cooked()
	}
}

var cookedState *term.State

func (r *repl) cooked() {
	if cookedState != nil {
		_ = term.Restore(int(os.Stdin.Fd()), cookedState)
	}
	r.reading = false
}

var errInterrupted = errors.New("interrupted")

// readLine reads a line. It returns io.EOF at the end, and errInterrupted for a Ctrl-C.
func (r *repl) readLine(prompt string) (string, error) {
	if r.terminal == nil {
		fmt.Print(prompt)
		line, err := r.lines.ReadString('\n')
		if err != nil && line == "" {
			return "", io.EOF
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	r.mu.Lock()
	state, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		r.mu.Unlock()
		return "", err
	}
	cookedState, r.reading = state, true
	r.terminal.SetPrompt(prompt)
	r.mu.Unlock()
	line, err := r.terminal.ReadLine()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cooked()
	if err == term.ErrPasteIndicator {
		err = nil
	}
	if err == io.EOF && r.input.interrupted {
		r.input.interrupted = false
		history := r.terminal.History
		r.terminal = r.newTerminal()
		r.terminal.History = history
		err = errInterrupted
	}
	if err != nil {
		fmt.Println()
	}
	return line, err
}

// loop reads and evaluates until the input is over.
func (r *repl) loop() {
	fmt.Fprintf(r, "%s: .help tells what there is\n", version())
	text, at, stopping := "", prompt, false
	for {
		line, err := r.readLine(at)
		switch {
		case err == errInterrupted && text == "" && stopping:
			return
		case err == errInterrupted:
			if stopping = text == ""; stopping {
				fmt.Fprintln(r, "(Ctrl-C once more, Ctrl-D or .exit ends)")
			}
			text, at = "", prompt
			continue
		case err != nil:
			return
		}
		stopping = false
		if text == "" && strings.HasPrefix(line, ".") {
			if !r.command(line) {
				return
			}
			continue
		}
		text += line
		if strings.TrimSpace(text) == "" {
			text, at = "", prompt
			continue
		}
		if !r.evaluate(text) {
			text, at = text+"\n", more
			continue
		}
		text, at = "", prompt
	}
}

// command runs what begins with a dot. It returns false if that ends the session.
func (r *repl) command(line string) bool {
	name, rest, _ := strings.Cut(line, " ")
	switch name {
	case ".exit":
		return false
	case ".help":
		fmt.Fprint(r, help)
	case ".load":
		text, err := os.ReadFile(strings.TrimSpace(rest))
		if err != nil {
			fmt.Fprintln(r, err)
		} else if !r.evaluate(string(text)) {
			fmt.Fprintln(r, "Uncaught SyntaxError: Unexpected end of input")
		}
	default:
		fmt.Fprintf(r, "there is no %s: .help tells what there is\n", name)
	}
	return true
}

// evaluate runs what was typed, waits for what it awaits, and prints the value. It returns false if there is more to come.
func (r *repl) evaluate(text string) (complete bool) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	settled := make(chan struct{})
	finish := sync.OnceFunc(func() { close(settled) })
	err := r.p.host.Do(ctx, func(*goja.Runtime) error {
		v, awaits, err := r.p.evaluateLine("[repl]", text)
		if err != nil {
			return err
		}
		done := func(v goja.Value) {
			defer finish()
			_ = r.p.vm.Set("_", v)
			fmt.Fprintln(r, r.p.inspect(v))
		}
		if !awaits {
			done(v)
			return nil
		}
		return r.p.awaited(v, done, func(reason goja.Value) {
			defer finish()
			fmt.Fprintln(r, "Uncaught "+r.p.inspect(reason))
		})
	})
	var e *gojaloop.Error
	switch {
	case errors.Is(err, errIncomplete):
		return false
	case ctx.Err() != nil:
		fmt.Fprintln(r, "Uncaught Error: interrupted")
		return true
	case errors.As(err, &e):
		text := e.Error()
		_ = r.p.host.Do(context.Background(), func(*goja.Runtime) error {
			if v := r.p.host.Thrown(e); v != nil {
				text = r.p.inspect(v)
			}
			return nil
		})
		fmt.Fprintln(r, "Uncaught "+text)
		return true
	case err != nil:
		if !errors.Is(err, gojaloop.ErrClosed) { // process.exit
			fmt.Fprintln(r, err)
		}
		return true
	}
	select {
	case <-settled:
	case <-ctx.Done():
		fmt.Fprintln(r, "Uncaught Error: interrupted")
	case <-r.p.loop.Done():
	}
	return true
}

// uncaught tells of an exception that happens between lines; the session goes on. On the loop.
func (r *repl) uncaught(e *gojaloop.Error) {
	text := e.Error()
	if v := r.p.host.Thrown(e); v != nil {
		text = r.p.inspect(v)
	}
	fmt.Fprintln(r, "Uncaught "+text)
}

// defineGlobals gives scripts that are in no file what modules have.
func (p *program) defineGlobals(name string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	path := p.vm.ToValue(filepath.Join(dir, name))
	given, err := p.call("globals", path)
	if err != nil {
		return err
	}
	for _, key := range []string{"module", "exports", "require"} {
		_ = p.vm.Set(key, given.ToObject(p.vm).Get(key))
	}
	return p.vm.Set("__import", p.host.Func(func(call goja.FunctionCall) goja.Value {
		v, err := p.call("importFrom", call.Argument(0), path)
		if err != nil {
			panic(err)
		}
		return v
	}))
}
