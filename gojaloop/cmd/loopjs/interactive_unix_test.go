//go:build unix

package main

// What needs signals, pipes that break, or a terminal.

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// lines reads lines of an output in the background, so that a test can wait for one.
type lines struct {
	t    *testing.T
	came chan string
}

func readLines(t *testing.T, r io.Reader) *lines {
	l := &lines{t, make(chan string, 1000)}
	go func() {
		defer close(l.came)
		s := bufio.NewScanner(r)
		for s.Scan() {
			l.came <- s.Text()
		}
	}()
	return l
}

// await returns the first line that has the text in it.
func (l *lines) await(text string) string {
	l.t.Helper()
	late := time.After(50 * time.Second)
	for {
		select {
		case line, ok := <-l.came:
			if !ok {
				l.t.Fatalf("the output is over, without %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-late:
			l.t.Fatalf("there is no %q", text)
		}
	}
}

func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		name, code string
		signals    int
		exit       int
	}{
		{"timers", "setInterval(() => {}, 1000); console.log('ready')", 1, 130},
		{"endless loop", "console.log('ready'); for (;;);", 1, 130},
		{"endless promises", "console.log('ready'); const f = () => Promise.resolve().then(f); f()", 1, 130},
		{"endless loop behind an await", "await 1; console.log('ready'); for (;;);", 1, 130},
		{"input", "process.stdin.on('data', () => {}); console.log('ready')", 1, 130},
		{"a listener", "process.on('SIGINT', s => { console.log(s); process.exit(5) }); setInterval(() => {}, 1000); console.log('ready')", 1, 5},
		{"a listener that never hears", "process.on('SIGINT', () => {}); console.log('ready'); for (;;);", 2, 130},
		{"a listener that is gone", "const f = () => {}; process.on('SIGINT', f); process.off('SIGINT', f); setInterval(f, 1000); console.log('ready')", 1, 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := loopjs(t, t.TempDir(), "-e", c.code)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			l := readLines(t, out)
			l.await("ready")
			// Two signals at once may be one, so where more than one is needed there are as many as it takes.
			for over := false; !over; {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				again := time.After(50 * time.Millisecond)
				if c.signals == 1 {
					again = nil
				}
				select {
				case <-l.came: // what it prints, or the end
					for range l.came {
					}
					over = true
				case <-again:
				}
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.exit {
				t.Errorf("exit code %d, want %d; %s", code, c.exit, &errs)
			}
			if errs.Len() > 0 {
				t.Errorf("it prints %s", &errs)
			}
		})
	}
}

// Who reads no more ends the program, and quietly.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	cmd := loopjs(t, t.TempDir(), "-e", "setInterval(() => console.log('x'.repeat(10000)), 1)")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	r.Close()
	_ = cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGPIPE {
		t.Errorf("it ends with %v", cmd.ProcessState)
	}
	if errs.Len() > 0 {
		t.Errorf("it prints %s", &errs)
	}
}

func TestTraceAlive(t *testing.T) {
	t.Parallel()
	dir := folder(t, files{"main.js": "setTimeout(() => {}, 100000)\nsetInterval(() => {}, 70000)\nsetTimeout(() => {}, 5).unref()\nclearTimeout(setTimeout(() => {}, 9))\nprocess.stdin.on('data', () => {})\n"})
	cmd := loopjs(t, dir, "--trace-alive=300ms", "main.js")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l := readLines(t, errs)
	l.await("what keeps the program alive")
	for _, want := range []string{`a timer of 100000 ms for \d+ ms at .*main.js:1:`, `an interval of 70000 ms for \d+ ms at .*main.js:2:`, `reading the standard input for \d+m?s`} {
		if line := l.await("  "); !regexp.MustCompile(want).MatchString(line) {
			t.Errorf("it prints %q, want %s", line, want)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	l.await("interrupted, what keeps the program alive")
	for range l.came {
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// On a terminal: lines are edited, arrows bring the last ones back, and Ctrl-C ends what runs, but not the session.
func TestTerminal(t *testing.T) {
	t.Parallel()
	cmd := loopjs(t, t.TempDir())
	cmd.Env = append(cmd.Env, "TERM=xterm")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		t.Skip("there is no pseudo-terminal:", err)
	}
	defer terminal.Close()
	l := readLines(t, terminal)
	// Each is awaited in words that are not typed so. What interrupts comes when what it interrupts has begun.
	for _, s := range []struct{ keys, want string }{
		{"", "loopjs"},
		{"'fir' + 'st'\r", "'first'"},
		{"\x1b[A + '!'\r", "'first!'"},
		{"const x = await Promise.resolve('awai' + 'ted')\r", "undefined"},
		{"x\r", "'awaited'"},
		{"console.log('run' + 'ning'); for (;;);\r", "running"},
		{"\x03", "Uncaught Error: interrupted"},
		{"setTimeout(() => console.log('wait' + 'ing'), 50); await new Promise(() => {})\r", "waiting"},
		{"\x03", "Uncaught Error: interrupted"},
		{"setTimeout(() => console.log('bet' + 'ween'), 1); 0\r", "between"},
		{"'two ' +\r", ""},
		{"'lines'\r", "'two lines'"},
		{".exit\r", ""},
	} {
		if _, err := io.WriteString(terminal, s.keys); err != nil {
			t.Fatal(err)
		}
		if s.want != "" {
			l.await(s.want)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
