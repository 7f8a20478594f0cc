package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// monitored runs a loop with its monitor, until the end of the test.
func monitored(t *testing.T, opts ...eventloop.Option) *monitor {
	m := new(monitor)
	l, err := eventloop.New(append(opts, m.options()...)...)
	if err != nil {
		t.Fatal(err)
	}
	m.loop = l
	go func() { _ = l.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-l.Done()
	})
	return m
}

func get(t *testing.T, m *monitor, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != 200 || w.Body.Len() == 0 {
		t.Fatalf("%s: status %d, %d bytes", path, w.Code, w.Body.Len())
	}
	return w.Body.String()
}

// samples parses the text format of Prometheus, and checks what it promises of histograms.
func samples(t *testing.T, text string) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	line := regexp.MustCompile(`^(turnloop_[a-z_0-9]+)\{loop="\d+"(?:,([a-z]+="[^"]*"))?\} (\S+)$`)
	typed := map[string]bool{}
	buckets := map[string]float64{}
	for _, s := range strings.Split(strings.TrimSpace(text), "\n") {
		if name, ok := strings.CutPrefix(s, "# TYPE "); ok {
			name, _, _ = strings.Cut(name, " ")
			if typed[name] {
				t.Errorf("two types of %s", name)
			}
			typed[name] = true
			continue
		}
		if strings.HasPrefix(s, "# HELP ") {
			continue
		}
		f := line.FindStringSubmatch(s)
		if f == nil {
			t.Fatalf("not a sample: %q", s)
		}
		v, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f[1], "_bucket") {
			if v < buckets[f[1]] {
				t.Errorf("%s: buckets are cumulative", s)
			}
			buckets[f[1]] = v
		}
		name := f[1]
		if f[2] != "" {
			name += " " + f[2]
		}
		if _, twice := got[name]; twice {
			t.Errorf("two samples of %s", name)
		}
		got[name] = v
	}
	return got
}

// Under load, all that the page, expvar's figures and Prometheus tell agrees with what the callbacks have counted
// themselves, on a clock that only they move.
func TestFiguresAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := monitored(t)
		l := m.loop
		synctest.Wait()
		r := rand.New(rand.NewPCG(3, 4))
		var mu sync.Mutex
		var took, waited []float64
		stalls := 0
		callback := func(accepted time.Time, queued bool) func() {
			d := time.Duration(r.ExpFloat64() * float64(10*time.Millisecond))
			if d > threshold*5/4 {
				stalls++
			}
			if d > threshold && d <= threshold*5/4 {
				d = threshold / 2 // too near to the threshold for a watch that looks four times in it
			}
			return func() {
				began := time.Now()
				time.Sleep(d)
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began).Seconds())
				if queued {
					waited = append(waited, began.Sub(accepted).Seconds())
				}
			}
		}
		for range 40 {
			for range 10 {
				_ = l.Submit(callback(time.Now(), true))
				_ = l.SubmitInternal(callback(time.Now(), true))
				_ = l.ScheduleMicrotask(callback(time.Now(), false))
				_, _ = l.ScheduleTimer(time.Duration(r.Int64N(int64(100*time.Millisecond))), callback(time.Now(), false))
			}
			time.Sleep(200 * time.Millisecond)
		}
		synctest.Wait()
		mu.Lock()
		if got, want := m.figures().Metrics.TPS, float64(len(took))/8; math.Abs(got-want) > want/50 {
			t.Errorf("TPS is %v, want %v", got, want)
		}
		mu.Unlock()
		time.Sleep(30 * time.Second)
		release := make(chan struct{})
		_ = l.Submit(func() { <-release })
		synctest.Wait()
		for range 7 {
			_ = l.Submit(func() {})
		}
		_, _ = l.ScheduleTimer(time.Hour, func() {})
		defer l.HoldNamed("seen")()
		time.Sleep(time.Second)
		stalls++

		var f figures
		if err := json.Unmarshal([]byte(get(t, m, "/figures")), &f); err != nil {
			t.Fatal(err)
		}
		prometheus := samples(t, get(t, m, "/metrics"))
		slices.Sort(took)
		slices.Sort(waited)
		quantile := func(vs []float64, q float64) float64 { return vs[int(math.Ceil(q*float64(len(vs))))-1] }
		sum := func(vs []float64) (s float64) {
			for _, v := range vs {
				s += v
			}
			return s
		}
		atMost := func(vs []float64, d float64) float64 { return float64(len(slices.Collect(below(vs, d)))) }
		check := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 0.02*math.Abs(want)+1e-9 {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
		sec := time.Duration.Seconds
		check("Run", float64(f.Metrics.Run), float64(len(took)))
		for name, of := range map[string]struct {
			eventloop.Latency
			truth []float64
			name  string
		}{"Callback": {f.Metrics.Callback, took, "callback_seconds"}, "QueueDelay": {f.Metrics.QueueDelay, waited, "queue_delay_seconds"}} {
			for _, q := range []struct {
				d time.Duration
				q float64
			}{{of.P50, 0.5}, {of.P90, 0.9}, {of.P95, 0.95}, {of.P99, 0.99}, {of.Max, 1}} {
				check(fmt.Sprint(name, " ", q.q), sec(q.d), quantile(of.truth, q.q))
			}
			n := len(of.truth)
			check(name+" Count", float64(of.Count), float64(n))
			check(name+" Mean", sec(of.Mean), sum(of.truth)/float64(n))
			check(name+" sum", prometheus["turnloop_"+of.name+"_sum"], sum(of.truth))
			check(name+" +Inf", prometheus["turnloop_"+of.name+`_bucket le="+Inf"`], float64(n))
			for _, d := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
				got := prometheus[fmt.Sprintf("turnloop_%s_bucket le=%q", of.name, fmt.Sprintf("%g", d.Seconds()))]
				if got < atMost(of.truth, 0.98*d.Seconds()) || got > atMost(of.truth, 1.04*d.Seconds()) {
					t.Errorf("bucket %v: %v, want %v", d, got, atMost(of.truth, d.Seconds()))
				}
			}
		}
		check("TPS", f.Metrics.TPS, 0)
		check("utilization", f.Metrics.Utilization, 0.1)
		for name, want := range map[string]float64{
			"callbacks_total":                  float64(len(took)),
			"stalls_total":                     float64(stalls),
			"queue_depth queue=\"external\"":   7,
			"queue_depth queue=\"internal\"":   0,
			"queue_depth queue=\"microtasks\"": 0,
			"timers":                           1,
			"holds":                            1,
			"workers":                          0,
			"ticks_total":                      float64(l.Metrics().Ticks),
			"sleeps_total":                     float64(l.Metrics().Sleeps),
			"wakes_total":                      float64(l.Metrics().Wakes),
			"pauses_total":                     float64(l.Metrics().Pauses),
			"promises":                         0,
		} {
			v, there := prometheus["turnloop_"+name]
			if !there {
				t.Errorf("no %s", name)
			}
			check(name, v, want)
		}
		if want := stalls; int(f.Stalled) != want || !strings.Contains(f.Stalls[len(f.Stalls)-1].Stack, "TestFiguresAgree") {
			t.Errorf("%d stalls, want %d", f.Stalled, want)
		}
		active := strings.Join(f.Active, "\n")
		for _, want := range []string{"task running for 1s", "task 7 waiting", "timer #", "hold seen"} {
			if !strings.Contains(active, want) {
				t.Errorf("%q is not in\n%s", want, active)
			}
		}
		close(release)
	})
}

func below(vs []float64, d float64) func(func(float64) bool) {
	return func(yield func(float64) bool) {
		for _, v := range vs {
			if v <= d && !yield(v) {
				return
			}
		}
	}
}

// Every address answers while a callback blocks the loop.
func TestAnswersWhileBlocked(t *testing.T) {
	m := monitored(t, eventloop.WithDebug(true))
	release, blocked := make(chan struct{}), make(chan struct{})
	defer close(release)
	if err := m.loop.Submit(func() { close(blocked); <-release }); err != nil {
		t.Fatal(err)
	}
	<-blocked
	for path, want := range map[string]string{
		"/":           "<h1>Loop",
		"/figures":    "task running from",
		"/metrics":    "turnloop_utilization",
		"/debug/vars": "memstats",
		"/events":     "task",
		"/trace":      "traceEvents",
	} {
		if text := get(t, m, path); !strings.Contains(text, want) {
			t.Errorf("%s has no %q: %s", path, want, text)
		}
	}
	w := httptest.NewRecorder()
	if m.ServeHTTP(w, httptest.NewRequest("GET", "/nothing", nil)); w.Code != 404 {
		t.Errorf("/nothing: status %d", w.Code)
	}
	text := get(t, m, "/")
	if found := regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//|@import|url\(`).FindString(text); found != "" {
		t.Errorf("the page needs the network: %s", found)
	}
}

// dark has the browser say that the user prefers that.
const dark = "--blink-settings=preferredColorScheme=0"

// In a browser the page shows the figures. TURNLOOP_SCREENSHOT is the folder where pictures of it go.
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
	for i := 0; i < 200 && m.figures().Stalled == 0; i++ {
		time.Sleep(20 * time.Millisecond)
	}
	for range 56 {
		_ = m.loop.Submit(func() {})
	}
	show := func(url string, args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + t.TempDir(),
			"--virtual-time-budget=4000", "--hide-scrollbars", "--window-size=1100,900"}, args...)
		out, err := exec.CommandContext(ctx, browser, append(args, url)...).Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		return string(out)
	}
	text := show(server.URL, "--dump-dom")
	for _, want := range []string{
		fmt.Sprintf(`<span id="loop">%d</span>`, m.loop.ID()),
		"<tr><td>Run</td><td>1234</td></tr>",
		`<div class="now" id="Waiting">56</div>`,
		"hold the browser's",
		"task running from",
		`<span id="stalled" class="bad">1</span>`,
		`<path d="M`,
	} {
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
	time.Sleep(2 * time.Second) // which leaves something to show
	for name, args := range map[string][]string{
		"monitor":             {"--window-size=1000,760"},
		"monitor-dark":        {"--window-size=1000,760", dark},
		"monitor-narrow":      {"--window-size=400,760"},
		"monitor-narrow-dark": {"--window-size=400,760", dark},
	} {
		show(pictured.URL+"/?every=33", append(args, "--screenshot="+filepath.Join(folder, name+".png"))...)
	}
}
