package main

// The page in a browser, and the pictures of it in the documentation.

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// shown returns a duration as the page writes it.
func shown(d time.Duration) string {
	in := func(unit time.Duration, digits int, name string) string {
		// As toFixed rounds: the exact value of the quotient, halves up.
		return new(big.Rat).SetFloat64(float64(d)/float64(unit)).FloatString(digits) + " " + name
	}
	switch {
	case d < time.Microsecond:
		return in(time.Nanosecond, 0, "ns")
	case d < time.Millisecond:
		return in(time.Microsecond, 1, "µs")
	case d < time.Second:
		return in(time.Millisecond, 1, "ms")
	}
	return in(time.Second, 2, "s")
}

// dark has the browser say that the user prefers a dark page.
const dark = "--blink-settings=preferredColorScheme=0"

// In a browser the page shows the figures. TURNLOOP_SCREENSHOT names the folder for pictures of it.
func TestPageInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && browser == "" {
			browser = found
		}
	}
	if browser == "" || testing.Short() {
		t.Skip("there is no chromium")
	}
	m := monitored(t, eventloop.WithDebug(true))
	m.loop.HoldNamed("the browser's")
	server := httptest.NewServer(m)
	defer server.Close()
	for range 1234 {
		if err := m.loop.SubmitInternal(func() {}); err != nil {
			t.Fatal(err)
		}
	}
	release := make(chan struct{})
	defer close(release)
	_ = m.loop.Submit(func() { <-release })
	beat.Eventually(t, func() bool { return m.figures().Stalled > 0 }, "the stall")
	for range 56 {
		_ = m.loop.Submit(func() {})
	}
	_, _ = m.loop.ScheduleTimer(time.Hour, func() {})
	m.past = []latencies{{At: time.Now().Add(time.Hour)}} // so that the page and the test begin at the same time, before all
	show := func(url string, args ...string) string {
		args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + t.TempDir(),
			"--virtual-time-budget=4000", "--hide-scrollbars", "--window-size=1100,900"}, args...)
		out, err := exec.CommandContext(t.Context(), browser, append(args, url)...).Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		return string(out)
	}
	text := show(server.URL, "--dump-dom")
	var f figures // final but for times and rates, as the loop is blocked
	if err := json.Unmarshal([]byte(get(t, m, "/figures")), &f); err != nil {
		t.Fatal(err)
	}
	s := &f.Metrics
	var rows []string
	for _, c := range []struct {
		name string
		n    any
	}{{"Run", 1234}, {"Ticks", s.Ticks}, {"Sleeps", s.Sleeps}, {"Wakes", s.Wakes}, {"Pauses", s.Pauses}, {"Timers", 1}, {"Descriptors", 0},
		{"Workers", 0}, {"Holds", 1}, {"Promises", s.Promises}} {
		rows = append(rows, fmt.Sprintf("<tr><td>%s</td><td>%v</td></tr>", c.name, c.n))
	}
	for name, l := range map[string]eventloop.Latency{"callback": f.Recent.Callback, "queue delay": f.Recent.QueueDelay} {
		row := "<tr><td>" + name + "</td>"
		for _, d := range []time.Duration{l.Mean, l.P50, l.P90, l.P95, l.P99, l.Max} {
			row += "<td>" + shown(d) + "</td>"
		}
		rows = append(rows, row+fmt.Sprintf("<td>%d</td></tr>", l.Count))
	}
	for name, d := range map[string]eventloop.Depth{"External": s.External, "Internal": s.Internal, "Microtasks": s.Microtasks} {
		if !regexp.MustCompile(fmt.Sprintf(`<tr><td>%s</td><td>%d</td><td>[0-9.]+</td><td>%d</td></tr>`, name, d.Current, d.Max)).MatchString(text) {
			t.Errorf("the page does not show %s: %+v", name, d)
		}
	}
	for _, want := range append(rows,
		fmt.Sprintf(`<span id="loop">%d</span>`, m.loop.ID()),
		`<div class="now" id="Waiting">56</div>`,
		"hold the browser's",
		"task running from",
		fmt.Sprintf(`<span id="stalled" class="bad">%d</span>`, f.Stalled), // a busy machine has more than the one
		`<path d="M`,
	) {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	folder := os.Getenv("TURNLOOP_SCREENSHOT")
	if folder == "" {
		return
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	live := monitored(t, eventloop.WithDebug(true))
	work(t.Context(), live.loop)
	_ = live.loop.Submit(func() { time.Sleep(2 * threshold) })
	pictured := httptest.NewServer(live)
	defer pictured.Close()
	time.Sleep(2 * time.Second) // so that there is something to show
	for name, args := range map[string][]string{
		"monitor":             {"--window-size=1000,1000"},
		"monitor-dark":        {"--window-size=1000,1000", dark},
		"monitor-narrow":      {"--window-size=400,1000"},
		"monitor-narrow-dark": {"--window-size=400,1000", dark},
	} {
		show(pictured.URL+"/?every=33", append(args, "--screenshot="+filepath.Join(folder, name+".png"))...)
	}
}
