package monitor

// The page in a browser, and the pictures of it in the documentation.

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
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
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && browser == "" {
			browser = found
		}
	}
	if browser == "" {
		t.Skip("there is no chromium")
	}
	m, l := monitored(t, eventloop.WithDebug(true))
	l.HoldNamed("the browser's")
	server := httptest.NewServer(m)
	defer server.Close()
	for range 1234 {
		if err := l.SubmitInternal(func() {}); err != nil {
			t.Fatal(err)
		}
	}
	release := make(chan struct{})
	defer close(release)
	_ = l.Submit(func() { <-release })
	beat.Eventually(t, func() bool { return figures(m).Stalled > 0 }, "the stall")
	for range 56 {
		_ = l.Submit(func() {})
	}
	_, _ = l.ScheduleTimer(time.Hour, func() {})
	m.loops[0].past = []Recent{{At: time.Now().Add(time.Hour)}} // so that the page and the test begin at the same time, before all
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
	f := decode(t, m) // final but for times and rates, as the loop is blocked
	s := &f.Metrics
	var rows []string
	for _, c := range []struct {
		name string
		n    any
	}{{"Run", 1234}, {"Ticks", s.Ticks}, {"Sleeps", s.Sleeps}, {"Wakes", s.Wakes}, {"Pauses", s.Pauses}, {"Timers", 1}, {"Descriptors", 0},
		{"Workers", 0}, {"Waiting", 0}, {"Holds", 1}, {"Promises", s.Promises}} {
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
		fmt.Sprintf(`<span id="loop">%d</span>`, l.ID()),
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
	live := new(Monitor)
	g, err := eventloop.NewGroup(2, append(live.Options(), eventloop.WithDebug(true))...)
	if err != nil {
		t.Fatal(err)
	}
	live.WatchGroup(g)
	go func() { _ = g.Run(context.Background()) }()
	defer g.Close()
	for i := range g.Len() {
		load(t.Context(), g.Loop(i))
	}
	pictured := httptest.NewServer(live)
	defer pictured.Close()
	time.Sleep(2 * time.Second) // so that there is something to show
	for name, args := range map[string][]string{
		"monitor":             {"--window-size=1000,1250"},
		"monitor-dark":        {"--window-size=1000,1250", dark},
		"monitor-narrow":      {"--window-size=400,1150"},
		"monitor-narrow-dark": {"--window-size=400,1150", dark},
	} {
		_ = g.Loop(0).Submit(func() { time.Sleep(6 * threshold) })
		show(pictured.URL+"/?every=33", append(args, "--screenshot="+filepath.Join(folder, name+".png"))...)
	}
}

// load gives a loop bursts of tasks, some of them long, without end.
func load(ctx context.Context, l *eventloop.Loop) {
	l.HoldNamed("an example's load")
	var again func()
	again = func() {
		for range rand.IntN(200) {
			d := time.Duration(rand.ExpFloat64() * float64(20*time.Microsecond))
			_ = l.Submit(func() {
				for began := time.Now(); time.Since(began) < d; {
				}
			})
		}
		if ctx.Err() == nil {
			_, _ = l.ScheduleTimer(rand.N(40*time.Millisecond), again)
		}
	}
	_ = l.Submit(again)
}
