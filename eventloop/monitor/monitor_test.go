package monitor

// The page's figures and Prometheus' agree with independent counts, and answer while the loop is blocked.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
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
func monitored(t *testing.T, opts ...eventloop.Option) (*Monitor, *eventloop.Loop) {
	m := new(Monitor)
	l, err := eventloop.New(append(opts, m.Options()...)...)
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(l)
	go func() { _ = l.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-l.Done()
	})
	return m, l
}

// figures returns those of the only loop.
func figures(m *Monitor) Figures {
	all := m.Figures()
	if len(all) != 1 {
		panic(fmt.Sprint(len(all), " loops"))
	}
	return all[0]
}

func get(t *testing.T, m *Monitor, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != 200 || w.Body.Len() == 0 {
		t.Fatalf("%s: status %d, %d bytes", path, w.Code, w.Body.Len())
	}
	return w.Body.String()
}

// decode returns what the page gets.
func decode(t *testing.T, m *Monitor) Figures {
	t.Helper()
	var all []Figures
	if err := json.Unmarshal([]byte(get(t, m, "/figures")), &all); err != nil || len(all) != 1 {
		t.Fatalf("%d loops, %v", len(all), err)
	}
	return all[0]
}

// samples parses the text format of Prometheus, and checks the format's rules for histograms.
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

// Under load, all figures of the page and of Prometheus agree with the callbacks' own counts, on a clock
// that only callbacks move.
func TestFiguresAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, l := monitored(t)
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
				d = threshold / 2 // too close to the threshold for the watch, which looks four times in it
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
		if got, want := figures(m).Metrics.TPS, float64(len(took))/8; math.Abs(got-want) > want/50 {
			t.Errorf("TPS is %v, want %v", got, want)
		}
		mu.Unlock()
		time.Sleep(time.Minute) // the backlog ends
		before := l.Metrics()
		const rounds = 25 // each wakes the loop once, and lets it sleep again
		for range rounds {
			time.Sleep(time.Second)
			_ = l.Submit(callback(time.Now(), true))
			synctest.Wait()
		}
		time.Sleep(30 * time.Second)
		if m := l.Metrics(); m.Sleeps-before.Sleeps != m.Wakes-before.Wakes {
			t.Errorf("%d sleeps in %d rounds, and %d wakes", m.Sleeps-before.Sleeps, rounds, m.Wakes-before.Wakes)
		} else if n := m.Wakes - before.Wakes; n != rounds {
			t.Errorf("%d wakes in %d rounds", n, rounds)
		}
		const promises = 3
		waits := [3]int{1000, 900, 800} // tasks, internal tasks, microtasks
		_ = l.Submit(func() {
			for range promises {
				p, _, _ := l.NewPromise()
				p.Then(func(v any) (any, error) { return v, nil }, nil)
			}
			mu.Lock()
			took = append(took, 0)
			waited = append(waited, 0)
			mu.Unlock()
		})
		synctest.Wait()
		release := make(chan struct{})
		_ = l.Submit(func() { <-release })
		synctest.Wait()
		for i, submit := range []func(func()) error{l.Submit, l.SubmitInternal, l.ScheduleMicrotask} {
			for range waits[i] {
				_ = submit(func() {})
			}
		}
		_, _ = l.ScheduleTimer(time.Hour, func() {})
		defer l.HoldNamed("seen")()
		l.Promisify(t.Context(), func(context.Context) (any, error) { <-release; return nil, nil })
		time.Sleep(time.Second)
		stalls++

		f := decode(t, m)
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
		events := get(t, m, "/events")
		if n := strings.Count(events, "\n"); n > 4000 {
			t.Fatalf("the flight recorder has forgotten some of %d events", n)
		}
		recorded := func(kind string) float64 {
			return float64(len(regexp.MustCompile(`(?m)s `+kind+`\b`).FindAllString(events, -1)))
		}
		for i, d := range []struct {
			queue string
			eventloop.Depth
		}{{"external", f.Metrics.External}, {"internal", f.Metrics.Internal}, {"microtasks", f.Metrics.Microtasks}} {
			want := float64(waits[i])
			check(d.queue, float64(d.Current), want)
			check(d.queue+" max", float64(d.Max), want)
			check(d.queue+" average", d.EMA, want/2) // they have waited for a second
			check(d.queue+" of Prometheus", prometheus[fmt.Sprintf("turnloop_queue_depth queue=%q", d.queue)], want)
			check(d.queue+" max of Prometheus", prometheus[fmt.Sprintf("turnloop_queue_depth_max queue=%q", d.queue)], want)
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
		check("TPS", f.Metrics.TPS, 0.1)
		check("utilization", f.Metrics.Utilization, 0.1)
		for name, want := range map[string]float64{
			"callbacks_total": float64(len(took)),
			"stalls_total":    float64(stalls),
			"timers":          1,
			"holds":           1,
			"workers":         1,
			"promises":        promises,
			"descriptors":     0,
			"ticks_total":     recorded("tick"),
			"sleeps_total":    recorded("sleep"),
			"wakes_total":     float64(f.Metrics.Wakes),
			"pauses_total":    float64(f.Metrics.Pauses),
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
		for _, want := range []string{"task running for 1s", "task 1000 waiting", "timer #", "hold seen", "worker"} {
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
	m, l := monitored(t, eventloop.WithDebug(true))
	release, blocked := make(chan struct{}), make(chan struct{})
	defer close(release)
	if err := l.Submit(func() { close(blocked); <-release }); err != nil {
		t.Fatal(err)
	}
	<-blocked
	for path, want := range map[string]string{
		"/":        "<h1>Loop",
		"/figures": "task running from",
		"/metrics": "turnloop_utilization",
		"/events":  "task",
		"/trace":   "traceEvents",
	} {
		if text := get(t, m, path); !strings.Contains(text, want) {
			t.Errorf("%s has no %q: %s", path, want, text)
		}
	}
	for _, path := range []string{"/nothing", "/events?loop=0", "/trace?loop=x"} {
		w := httptest.NewRecorder()
		if m.ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != 404 {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
	text := get(t, m, "/")
	if found := regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//|@import|url\(`).FindString(text); found != "" {
		t.Errorf("the page needs the network: %s", found)
	}
}
