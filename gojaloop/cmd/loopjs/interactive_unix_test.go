//go:build unix

package main

// Tests that need signals, broken pipes or a terminal.

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/turnloop/turnloop/internal/beat"
)

// bySignal is what package os/exec gives for the exit code of a process that a signal has ended.
const bySignal = -1

func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		name, code string
		signals    int
		exit       int
	}{
		{"timers", "setInterval(() => {}, 1000); console.log('ready')", 1, bySignal},
		{"endless loop", "console.log('ready'); for (;;);", 1, bySignal},
		{"endless promises", "console.log('ready'); const f = () => Promise.resolve().then(f); f()", 1, bySignal},
		{"endless loop behind an await", "await 1; console.log('ready'); for (;;);", 1, bySignal},
		{"input", "process.stdin.on('data', () => {}); console.log('ready')", 1, bySignal},
		{"a listener", "process.on('SIGINT', s => { console.log(s); process.exit(5) }); setInterval(() => {}, 1000); console.log('ready')", 1, 5},
		{"a listener that never hears", "process.on('SIGINT', () => {}); console.log('ready'); for (;;);", 2, bySignal},
		{"a listener that is gone", "const f = () => {}; process.on('SIGINT', f); process.off('SIGINT', f); setInterval(f, 1000); console.log('ready')", 1, bySignal},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := loopjs(t, t.TempDir(), "-e", c.code)
			cmd.Env = append(cmd.Env, asCommand+"="+asUsers) // some wait for input that never comes
			var errs bytes.Buffer
			cmd.Stderr = &errs
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			l := begin(t, cmd, cmd.StdoutPipe)
			l.await("ready")
			// Two signals at once may be delivered as one, so signals are sent until enough have arrived.
			for over := false; !over; {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				again := time.After(50 * time.Millisecond)
				if c.signals == 1 {
					again = nil
				}
				select {
				case <-l.came: // another line, or the end
					for range l.came {
					}
					over = true
				case <-again:
				}
			}
			_ = cmd.Wait()
			if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); c.exit == bySignal && (!ok || w.Signal() != syscall.SIGINT) {
				t.Errorf("no SIGINT has ended it, but %v", cmd.ProcessState)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.exit {
				t.Errorf("exit code %d, want %d; %s", code, c.exit, &errs)
			}
			if errs.Len() > 0 {
				t.Errorf("it prints %s", &errs)
			}
		})
	}
}

// A reader that closes the pipe ends the program, quietly.
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
	want := regexp.MustCompile(`^  a timer of 100000 ms for \d+ ms at .*main.js:1:.*
  an interval of 70000 ms for \d+ ms at .*main.js:2:.*
  reading the standard input for \d+m?s$`)
	for _, after := range []string{"300ms", "3s", "30s"} { // a busy machine takes longer to begin
		cmd := loopjs(t, dir, "--trace-alive="+after, "main.js")
		cmd.Env = append(cmd.Env, asCommand+"="+asUsers)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		l := begin(t, cmd, cmd.StderrPipe)
		l.await("what keeps the program alive")
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		var printed []string
		for line := l.await(""); !strings.Contains(line, "interrupted, what keeps the program alive"); line = l.await("") {
			printed = append(printed, line)
		}
		for range l.came {
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != bySignal {
			t.Errorf("exit code %d", code)
		}
		if want.MatchString(strings.Join(printed, "\n")) {
			return
		}
		t.Logf("after %s it prints %q", after, printed)
	}
	t.Errorf("it never prints %s", want)
}

// The commands of docs/loopjs.md, without the first one, which installs loopjs: another test covers it where the
// modules are served.
func TestDocsCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/loopjs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```\n")
	block, _, _ = strings.Cut(block, "```")
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	dir := folder(t, files{"sizes.ts": "import { readdir, stat } from 'node:fs/promises'\nfor (const name of await readdir(process.argv[2]!)) console.log(name, (await stat(name)).size as number)\n",
		"race.js": "let data\nrequire('fs').readFile(__filename, (e, d) => { data = d })\nsetTimeout(() => console.log(data.length > 0), 50)\n"})
	wants := map[string]string{"sizes.ts": "sizes.ts ", "-p": "404\n", "--explore": "--seed "}
	commands := 0
	for line := range strings.Lines(block) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "loopjs ")
		if !ok {
			continue
		}
		commands++
		sh := exec.Command("sh", "-c", `exec "$0" `+strings.ReplaceAll(line, "http://localhost:8080", server.URL), os.Args[0])
		sh.Dir, sh.Env = dir, loopjs(t, dir).Env
		out, _ := sh.CombinedOutput()
		name, _, _ := strings.Cut(line, " ")
		if want := wants[name]; want == "" || !strings.Contains(string(out), want) {
			t.Errorf("loopjs %s prints %q, without %q", line, out, want)
		}
	}
	if commands != len(wants) {
		t.Errorf("the page has %d commands of loopjs, want %d", commands, len(wants))
	}
}

// session starts loopjs on a terminal of so many columns.
func session(t *testing.T, columns uint16, how string) (cmd *exec.Cmd, terminal *os.File, l *lines) {
	t.Helper()
	cmd = loopjs(t, t.TempDir())
	cmd.Env = append(cmd.Env, "TERM=xterm", asCommand+"="+how)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil {
		t.Skip("there is no pseudo-terminal:", err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return cmd, terminal, readLines(t, terminal)
}

// On a terminal: lines are edited, arrows bring the last ones back, and Ctrl-C ends what runs, but not the session.
func TestTerminal(t *testing.T) {
	t.Parallel()
	cmd, terminal, l := session(t, 200, "patiently")
	// The test waits for text that differs from what it has typed. An interrupt is sent when the code to be
	// interrupted has begun.
	typed(t, cmd, terminal, l, [][2]string{
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
	})
}

// typed types keys, waits for the text behind each, and for the end of the session.
func typed(t *testing.T, cmd *exec.Cmd, terminal io.Writer, l *lines, steps [][2]string) {
	t.Helper()
	for _, s := range steps {
		if _, err := io.WriteString(terminal, s[0]); err != nil {
			t.Fatal(err)
		}
		if s[1] != "" {
			l.await(s[1])
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A session can be ended whatever a line does: in Go code of goja's that no interrupt reaches, in a place that goja
// cannot leave, and behind a callback that does not return.
func TestTerminalEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []string // keys, and the text to wait for behind them
	}{
		{"native code", []string{"[].indexOf.call({ get length() { console.log('be' + 'gun'); return 2 ** 53 } }, 1)\r", "begun", "\x03", "it does not end", "\x03", ""}},
		{"behind an await", []string{"(async () => { await 1; console.log('be' + 'gun'); for (;;); })()\r", "begun", "\x03", "the session ends"}},
		{"a timer", []string{"setTimeout(() => { console.log('be' + 'gun'); for (;;); }, 1); 0\r", "begun", ".exit\r", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd, terminal, l := session(t, 200, asUsers)
			l.await("loopjs")
			for i := 0; i < len(c.steps); i += 2 {
				if _, err := io.WriteString(terminal, c.steps[i]); err != nil {
					t.Fatal(err)
				}
				if c.steps[i+1] != "" {
					l.await(c.steps[i+1])
				}
				if i == 0 { // what has begun goes on to where it does not end
					spend(t, cmd.Process.Pid)
				}
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != bySignal {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// spend waits until a process has had the processor for a while, or where that cannot be known, for a while.
func spend(t *testing.T, pid int) {
	had := func() (ticks int) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			time.Sleep(300 * time.Millisecond)
			return math.MaxInt
		}
		for _, field := range strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[11:13] { // of the user and of the system
			n, _ := strconv.Atoi(field)
			ticks += n
		}
		return ticks
	}
	began := had()
	beat.Eventually(t, func() bool { is := had(); return is == math.MaxInt || is >= began+30 }, "the program to go on")
}

// A session follows the size of its window, from line to line.
func TestTerminalIsResized(t *testing.T) {
	t.Parallel()
	cmd, terminal, l := session(t, 20, "patiently")
	l.await("loopjs")
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 60)
	typed(t, cmd, terminal, l, [][2]string{{"'fir' + 'st'\r", "'first'"}, {"'" + long + "'.length\r", long}, {"", "60"}, {".exit\r", ""}})
}

// A program that is done with its input ends, though the input goes on.
func TestDoneWithInput(t *testing.T) {
	for name, script := range map[string]string{
		"paused":             "process.stdin.on('data', () => {}); process.stdin.pause()",
		"destroyed":          "process.stdin.on('data', () => process.stdin.destroy())",
		"without a ref":      "process.stdin.on('data', () => {}).unref()",
		"paused by once":     "process.stdin.once('data', () => process.stdin.pause())",
		"a closed interface": "const rl = require('readline').createInterface({ input: process.stdin }); rl.on('line', () => rl.close())",
		"an exception":       "process.on('uncaughtException', () => process.exit(0)); process.stdin.on('data', () => { throw 1 })",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := loopjs(t, ".", "-e", script)
			input, err := cmd.StdinPipe() // it is open until the program has ended
			if err == nil {
				_, err = io.WriteString(input, "a\n")
			}
			if err != nil {
				t.Fatal(err)
			}
			if stdout, stderr, code := run(t, cmd); code != 0 {
				t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
			}
		})
	}
}
