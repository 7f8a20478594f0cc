// Command monitor serves a live page of an event loop: its work, how long callbacks take and wait, what keeps it
// alive, and what has blocked it. It also serves the figures for expvar and Prometheus, and the flight recorder's
// dumps.
//
//	go run ./examples/monitor            the page is at http://localhost:8080
//	curl localhost:8080/block?for=2s     blocks the loop, to see what that looks like
package main

import (
	"context"
	"expvar"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/monitor"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "where to serve the page")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "monitor: %q is no flag\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "monitor:", err)
		os.Exit(1)
	}
}

func run(addr string) error {
	m := new(monitor.Monitor)
	loop, err := eventloop.New(append(m.Options(), eventloop.WithDebug(true))...)
	if err != nil {
		return err
	}
	m.Watch(loop)
	expvar.Publish("turnloop", expvar.Func(func() any { return m.Figures() }))
	http.Handle("/", m)
	http.HandleFunc("/block", func(w http.ResponseWriter, r *http.Request) {
		d, err := time.ParseDuration(r.FormValue("for"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = loop.Submit(func() { time.Sleep(d) })
	})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	work(ctx, loop)
	failed := make(chan error, 1)
	go func() {
		failed <- http.ListenAndServe(addr, nil)
		stop()
	}()
	fmt.Printf("monitor: http://%s\n", addr)
	if err := loop.Run(ctx); ctx.Err() == nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// work gives the loop something to do: bursts of tasks, some of them long, a timer that repeats, functions on
// goroutines of their own, and a hold.
func work(ctx context.Context, loop *eventloop.Loop) {
	loop.HoldNamed("monitor's example load")
	var again func()
	again = func() {
		for range rand.IntN(200) {
			d := time.Duration(rand.ExpFloat64() * float64(20*time.Microsecond))
			_ = loop.Submit(func() {
				for began := time.Now(); time.Since(began) < d; {
				}
			})
		}
		loop.Promisify(ctx, func(ctx context.Context) (any, error) {
			select {
			case <-time.After(rand.N(200 * time.Millisecond)):
			case <-ctx.Done():
			}
			return nil, nil
		}).Then(func(v any) (any, error) { return v, nil }, func(error) (any, error) { return nil, nil })
		_, _ = loop.ScheduleTimer(rand.N(40*time.Millisecond), again)
	}
	_ = loop.Submit(again)
}
