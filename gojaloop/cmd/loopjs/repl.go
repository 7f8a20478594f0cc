package main

// The interactive session, on a terminal with history and editing, or line by line.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/gojaloop/modules"
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

// repl is a session. Its methods are for the goroutine that reads, except Write, which any goroutine may call.
type repl struct {
	p     *program
	lines *bufio.Reader // the input without a terminal

	mu       sync.Mutex // guards reading, and writes to the terminal
	terminal *term.Terminal
	input    *keys
	reading  bool // the terminal is in raw mode
}

// interact runs a session, and returns the exit code.
func interact(o *options, c *modules.Cache) int {
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
			// Run waits for this promise, which settles when the session is over.
			wait, _ := goja.AssertFunction(p.host.Promisify(func(ctx context.Context, _ []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
				select {
				case <-over:
				case <-ctx.Done(): // by process.exit
				}
				return nil, nil
			}))
			return wait(goja.Undefined())
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
	case code := <-ended: // by process.exit, or an interrupt
		r.leave()
		if errors.Is(p.host.Err(), gojaloop.ErrBroken) {
			fmt.Fprintln(r, "goja cannot go on where it was interrupted: the session ends")
		}
		return code
	case <-read:
	}
	_ = p.host.Submit(func(*goja.Runtime) { p.host.Exit(p.exitCodeSet()) })
	close(over)
	select {
	case code := <-ended:
		return code
	case <-time.After(patience): // a callback does not end
		return interruptedCode
	}
}

// exitCodeSet returns process.exitCode. On the loop.
func (p *program) exitCodeSet() int {
	return int(p.host.Module("process").Get("process").(*goja.Object).Get("exitCode").ToInteger())
}

func (r *repl) newTerminal() *term.Terminal {
	return term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{r.input, os.Stdout}, prompt)
}

// keys is the terminal's input. It notes a Ctrl-C, which term.Terminal does not distinguish from the end. It also
// changes the line ends of text that was typed ahead, before the terminal was in raw mode.
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

// Write prints for scripts. While a line is being typed, the terminal draws the prompt and the line again.
func (r *repl) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading {
		return r.terminal.Write(b)
	}
	return os.Stdout.Write(b)
}

// leave restores the terminal, when the program ends while a line is being typed.
func (r *repl) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading {
		fmt.Print("\r\n")
		r.cooked()
	}
}

func (r *repl) cooked() {
	_ = modules.SetRaw(int(os.Stdin.Fd()), false, nil)
	r.reading = false
}

var errInterrupted = errors.New("interrupted")

// readLine reads a line. It returns io.EOF at the end of the input, and errInterrupted for a Ctrl-C.
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
	if err := modules.SetRaw(int(os.Stdin.Fd()), true, r.p.host.Hears); err != nil {
		r.mu.Unlock()
		return "", err
	}
	r.reading = true
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 { // the window may have another size by now
		_ = r.terminal.SetSize(w, h)
	}
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

// loop reads and evaluates lines until the input ends.
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

// command runs a line that begins with a dot. It returns false if that ends the session.
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

// evaluate runs the typed text, waits if it awaits, and prints the value. It returns false if the text needs another line.
func (r *repl) evaluate(text string) (complete bool) {
	ctx, stop := r.interruptible()
	defer stop()
	settled := make(chan struct{})
	finish := sync.OnceFunc(func() { close(settled) })
	err := r.p.host.Do(ctx, func(*goja.Runtime) error {
		v, awaits, err := r.p.modules.Line("[repl]", text)
		if err != nil {
			return err
		}
		done := func(v goja.Value) {
			defer finish()
			_ = r.p.host.Set("_", v)
			fmt.Fprintln(r, r.p.modules.Inspect(v))
		}
		if !awaits {
			done(v)
			return nil
		}
		return r.p.modules.Then(v, done, func(reason goja.Value) {
			defer finish()
			fmt.Fprintln(r, "Uncaught "+r.shown(reason))
		})
	})
	var e *gojaloop.Error
	switch {
	case errors.Is(err, modules.ErrIncomplete):
		return false
	case ctx.Err() != nil:
		fmt.Fprintln(r, "Uncaught Error: interrupted")
		return true
	case errors.As(err, &e):
		text := e.Error()
		_ = r.p.host.Do(context.Background(), func(*goja.Runtime) error {
			if v := r.p.host.Thrown(e); v != nil {
				text = r.shown(v)
			}
			return nil
		})
		fmt.Fprintln(r, "Uncaught "+text)
		return true
	case err != nil:
		if !errors.Is(err, gojaloop.ErrClosed) { // not by process.exit
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

// interruptible returns a context that Ctrl-C ends, until stop is called. If the script goes on all the same, a
// message says so, and another Ctrl-C ends the process. The terminal must not be in raw mode.
func (r *repl) interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	pressed, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(pressed, os.Interrupt)
	go func() {
		select {
		case <-done:
			return
		case <-pressed:
		}
		cancel()
		late := time.AfterFunc(patience, func() { fmt.Fprintln(r, "(it does not end: Ctrl-C once more ends the session)") })
		defer late.Stop()
		select {
		case <-done:
		case <-pressed:
			quit(interruptedCode)
		}
	}()
	return ctx, func() {
		signal.Stop(pressed)
		close(done)
		cancel()
	}
}

// uncaught prints an exception of a callback; the session goes on. On the loop.
func (r *repl) uncaught(e *gojaloop.Error) {
	text := e.Error()
	if v := r.p.host.Thrown(e); v != nil {
		text = r.shown(v)
	}
	fmt.Fprintln(r, "Uncaught "+text)
}

// shown returns a thrown value as text, without the brackets that inspect puts around an error without a stack. On the loop.
func (r *repl) shown(v goja.Value) string {
	text := r.p.modules.Inspect(v)
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Error" {
		if head, ok := strings.CutPrefix(text, "["+o.String()+"]"); ok {
			return o.String() + head
		}
	}
	return text
}
