package report

// A browser that tests drive.

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

var screenshots = flag.String("screenshots", "", "`folder` for pictures of the pages that the browser tests have seen")

// A browser is a headless Chromium with one page and the test that is at it, driven over a pipe by the DevTools protocol: JSON, each message ended by a zero
// byte, commands on its descriptor 3, answers and events on its descriptor 4.
type browser struct {
	t       *testing.T
	in, out *os.File
	reader  *bufio.Reader // of out
	id      int
	session string
	events  []event // not yet waited for
}

type event struct {
	Method string
	Params json.RawMessage
}

// chromium starts a browser. Where there is none the test is skipped, or fails if TURNLOOP_BROWSER is set.
func chromium(t *testing.T) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("TURNLOOP_BROWSER") != "" {
			t.Fatal("there is no chromium in PATH")
		}
		t.Skip("no chromium in PATH to drive the page with (Debian: apt-get install chromium)")
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Its sandbox needs privileges that containers do not give; the page is our own.
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--user-data-dir="+profile, "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: in, out: out, reader: bufio.NewReader(out)}
	t.Cleanup(func() {
		fmt.Fprintf(in, `{"id": %d, "method": "Browser.close"}`+"\x00", b.id+1)
		late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		late.Stop()
		in.Close()
		out.Close()
		if !beat.Until(func() bool { return os.RemoveAll(profile) == nil }) { // its helpers go on writing for a moment
			t.Errorf("%s cannot be removed", profile)
		}
	})
	target := b.call("Target.createTarget", args{"url": "about:blank"})["targetId"]
	b.session = b.call("Target.attachToTarget", args{"targetId": target, "flatten": true})["sessionId"].(string)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
	return b
}

type args = map[string]any

// call sends a command and returns its result.
func (b *browser) call(method string, params args) map[string]any {
	b.t.Helper()
	b.id++
	message := args{"id": b.id, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	data, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(data, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		answer := b.receive(method)
		if answer.ID == b.id {
			if answer.Error.Message != "" {
				b.t.Fatalf("%s: %s", method, answer.Error.Message)
			}
			return answer.Result
		}
		b.events = append(b.events, answer.event)
	}
}

type answer struct {
	event
	ID     int
	Result map[string]any
	Error  struct{ Message string }
}

func (b *browser) receive(during string) (a answer) {
	b.t.Helper()
	ctx, cancel := beat.Context(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, func() { b.out.SetReadDeadline(time.Now()) })()
	data, err := b.reader.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("%s: %v", during, err)
	}
	if err := json.Unmarshal(data[:len(data)-1], &a); err != nil {
		b.t.Fatal(err)
	}
	return a
}

// open loads a page in a window of a width, in a colour scheme, and waits until it is there.
func (b *browser) open(path string, width int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", args{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
	b.call("Emulation.setEmulatedMedia", args{"features": []args{{"name": "prefers-color-scheme", "value": scheme}}})
	absolute, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.events = nil
	b.call("Page.navigate", args{"url": "file://" + filepath.ToSlash(absolute)})
	for !b.happened("Page.loadEventFired") {
		b.events = append(b.events, b.receive("load").event)
	}
}

func (b *browser) happened(method string) bool {
	for _, e := range b.events {
		if e.Method == method {
			return true
		}
	}
	return false
}

// consoleErrors returns what the page has thrown or logged, and what it has asked of the network.
func (b *browser) consoleErrors() []string {
	var out []string
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded":
			out = append(out, fmt.Sprintf("%s %s", e.Method, e.Params))
		case "Network.requestWillBeSent":
			var sent struct{ Request struct{ URL string } }
			if err := json.Unmarshal(e.Params, &sent); err != nil || filepath.Ext(sent.Request.URL) != ".html" {
				out = append(out, fmt.Sprintf("%s %s", e.Method, sent.Request.URL))
			}
		}
	}
	return out
}

// eval returns the value of a JavaScript expression.
func (b *browser) eval(format string, a ...any) any {
	b.t.Helper()
	expression := fmt.Sprintf(format, a...)
	result := b.call("Runtime.evaluate", args{"expression": expression, "returnByValue": true, "userGesture": true})
	if thrown := result["exceptionDetails"]; thrown != nil {
		b.t.Fatalf("%s: %v", expression, thrown)
	}
	return result["result"].(map[string]any)["value"]
}

// press presses and releases a key, as a keyboard does.
func (b *browser) press(key string, code int) {
	b.t.Helper()
	b.call("Input.dispatchKeyEvent", args{"type": "rawKeyDown", "key": key, "windowsVirtualKeyCode": code})
	if key == "Enter" {
		b.call("Input.dispatchKeyEvent", args{"type": "char", "key": key, "text": "\r"})
	}
	b.call("Input.dispatchKeyEvent", args{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code})
}

// click clicks in the middle of an element, with a mouse.
func (b *browser) click(selector string) {
	b.t.Helper()
	at := b.eval(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2] })()`, selector).([]any)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", args{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1})
	}
}

// picture keeps the page as it looks, if -screenshots says where.
func (b *browser) picture(name string, whole bool) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	data := b.call("Page.captureScreenshot", args{"format": "png", "captureBeyondViewport": whole})["data"].(string)
	png, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
