//go:build unix

package recipes

// The test of the recipes.

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

const pages = "../../docs/recipes"

// A page has at most one program, and each program has a test below.
func TestEveryPageIsTested(t *testing.T) {
	names, err := filepath.Glob(pages + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text := page(t, name)
		programs := strings.Count(text, "```go\n")
		want := map[string]bool{"server.md": true, "jobs.md": true, "javascript.md": true, "actor.md": true, "descriptors.md": true, "testing.md": true}
		if base := filepath.Base(name); programs > 1 || want[base] != (programs == 1) {
			t.Errorf("%s has %d programs", base, programs)
		}
	}
}

func TestServer(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	p := start(t, build(t, "server"), dir, nil, "-addr", "127.0.0.1:0")
	addr := p.line("listening on ")
	conn, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for _, word := range []string{"hello", "again"} {
		fmt.Fprintln(conn, word)
		if line, err := lines.ReadString('\n'); line != strings.ToUpper(word)+"\n" {
			t.Fatalf("%q, %v", line, err)
		}
	}
	p.stop() // with a connection still open
	if _, err := lines.ReadByte(); err == nil {
		t.Error("the connection lives on")
	}
	if said := p.errs.String(); said != "" {
		t.Errorf("an ordinary stop has said %q", said)
	}
}

// What a stop has waited for in vain is what the program ends with: here a handler whose client does not read.
func TestServerThatDoesNotDrain(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	program := build(t, "server", "10*time.Second", "10*time.Millisecond", "strings.ToUpper(line)", "strings.Repeat(line, 1<<23)")
	p := start(t, program, dir, nil, "-addr", "127.0.0.1:0")
	conn, err := tls.Dial("tcp", p.line("listening on "), &tls.Config{RootCAs: pool, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintln(conn, "hello")
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err == nil || !strings.Contains(p.errs.String(), "waits for: ") {
		t.Errorf("the program has ended with %v\n%s", err, p.errs.String())
	}
}

func TestJobs(t *testing.T) {
	program, dir := build(t, "jobs"), t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	_ = free.Close()
	t.Setenv("MONITOR", at)
	first := start(t, program, dir, strings.NewReader("echo one > one\ntest -f there\n"))
	first.line("done: echo one > one")
	shows(t, at, `"Timers":3,"Descriptors":0,"Workers":0,"Waiting":0,`) // one job waits for its next try, beside two schedules
	first.stop()
	if left := page(t, filepath.Join(dir, "pending.txt")); left != "test -f there\n" {
		t.Fatalf("%q is left", left)
	}
	if err := os.WriteFile(filepath.Join(dir, "there"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second := start(t, program, dir, strings.NewReader(""))
	second.line("done: test -f there")
	second.stop()
	if left := page(t, filepath.Join(dir, "pending.txt")); left != "" {
		t.Errorf("%q is left", left)
	}
}

// A job that goes on after a stop's patience is named in the log, is dead when the program has ended, and waits for the next start.
func TestJobsThatGoOn(t *testing.T) {
	program := build(t, "jobs", "10*time.Second", "time.Millisecond")
	for range 10 {
		dir := t.TempDir()
		const job = "exec cat pipe"
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, program, dir, strings.NewReader(job+"\n"))
		pipe, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_WRONLY, 0) // once the job reads it
		if err != nil {
			t.Fatal(err)
		}
		p.stop()
		if _, err := pipe.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Fatalf("the job lives on: %v", err)
		}
		pipe.Close()
		if errs := p.errs.String(); !strings.Contains(errs, "waits for: ") || !strings.Contains(errs, "worker") {
			t.Fatalf("the log has %q", errs)
		}
		if left := page(t, filepath.Join(dir, "pending.txt")); left != job+"\n" {
			t.Fatalf("%q is left", left)
		}
	}
}

func TestJavaScript(t *testing.T) {
	t.Setenv("ADDR", "127.0.0.1:0")
	p := start(t, build(t, "javascript"), t.TempDir(), nil)
	addr := p.line("listening on ")
	for _, c := range []struct{ n, answer string }{{"20", "30"}, {"-1", "the rules take too long"}, {"2000000", "the rules take too long"}, {"2", "3"}} {
		response, err := http.Get("http://" + addr + "/?n=" + c.n)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if strings.TrimSpace(string(answer)) != c.answer {
			t.Errorf("the price of %s is %q, want %q", c.n, answer, c.answer)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	p.stop()
}

// An answer that is under way when the program is told to end still leaves.
func TestJavaScriptAnswersAtTheEnd(t *testing.T) {
	t.Setenv("ADDR", "127.0.0.1:0")
	const answer = "fmt.Fprintln(w, price)"
	slow := "fmt.Println(\"answering\")\n\t\t\ttime.Sleep(time.Second / 2)\n\t\t\t" + answer
	p := start(t, build(t, "javascript", answer, slow), t.TempDir(), nil)
	addr, got := p.line("listening on "), make(chan string)
	go func() {
		response, err := http.Get("http://" + addr + "/?n=20")
		if err != nil {
			got <- err.Error()
			return
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		got <- fmt.Sprint(string(text), err)
	}()
	p.line("answering")
	p.stop()
	if text := <-got; text != "30\n<nil>" {
		t.Errorf("the answer is %q", text)
	}
}

func TestActor(t *testing.T) {
	out, err := exec.Command(build(t, "actor")).CombinedOutput()
	if string(out) != "0 100 101\n" {
		t.Fatalf("%s%v", out, err)
	}
}

func TestDescriptors(t *testing.T) {
	p := start(t, build(t, "descriptors"), t.TempDir(), nil)
	conn, err := net.Dial("udp", "127.0.0.1:"+p.line("port "))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("apple")); err != nil {
		t.Fatal(err)
	}
	p.line("map[apple:1]")
	p.stop()
}

func TestTesting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "debounce_test.go")
	if err := os.WriteFile(file, program(t, "testing"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-v", file).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestDebounce")) {
		t.Fatalf("%s%v", out, err)
	}
}

func page(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// program is the Go program of a recipe's page.
func program(t *testing.T, recipe string) []byte {
	_, text, _ := strings.Cut(page(t, filepath.Join(pages, recipe+".md")), "```go\n")
	text, _, ok := strings.Cut(text, "\n```")
	if !ok {
		t.Fatalf("%s.md has no program", recipe)
	}
	return []byte(text + "\n")
}

// patience replaces the limits of a recipe, which a busy machine would exceed, by ones that only what hangs does.
var patience = []string{"10*time.Second", "time.Hour", "5*time.Second", "time.Hour", "5 * time.Second", "time.Hour", "Add(time.Minute)", "Add(time.Hour)",
	"r.Context(), time.Second", "r.Context(), map[bool]time.Duration{true: time.Second, false: time.Hour}[n < 0]"}

// build builds a recipe's program, with each odd one of the changes, and of patience, replaced by the next. The folder is outside of all
// modules; imports come from the workspace.
func build(t *testing.T, recipe string, changes ...string) (binary string) {
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, recipe)
	text := strings.NewReplacer(append(changes, patience...)...).Replace(string(program(t, recipe)))
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	if out, err := exec.Command("gofmt", "-l", source).CombinedOutput(); len(out) > 0 && err == nil {
		t.Errorf("%s.md: gofmt has something to say", recipe)
	}
	return binary
}

// process is a running recipe.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	errs  bytes.Buffer
}

// start runs a program in a folder. It is killed with the test.
func start(t *testing.T, binary, dir string, in io.Reader, args ...string) *process {
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), binary, args...)}
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stderr = dir, in, &p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Wait() })
	p.lines = bufio.NewScanner(out)
	return p
}

// line waits for a line that begins with this text, and returns the rest of it.
func (p *process) line(prefix string) string {
	p.t.Helper()
	for p.lines.Scan() {
		if rest, ok := strings.CutPrefix(p.lines.Text(), prefix); ok {
			return rest
		}
	}
	p.t.Fatalf("the program has ended without %q: %v\n%s", prefix, p.cmd.Wait(), p.errs.String())
	return ""
}

// shows waits until a monitor's figures have the text. A job that is tried again passes through states without it.
func shows(t *testing.T, at, text string) {
	t.Helper()
	beat.Eventually(t, func() bool {
		r, err := http.Get("http://" + at + "/figures")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		said, _ := io.ReadAll(r.Body)
		return strings.Contains(string(said), text)
	}, text)
}

// stop tells the program to end, and checks that it ends without an error.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	for p.lines.Scan() {
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the program has ended with %v\n%s", err, p.errs.String())
	}
}

// certificate writes a certificate for localhost, and returns a pool that trusts it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(certificate)
	return pool
}
