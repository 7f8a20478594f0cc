// Command http serves HTTP/1.1 on event loops, one for each processor, with handlers of package net/http.
//
//	go run ./examples/http
//	curl localhost:8080; curl --data-binary @go.mod localhost:8080/echo; curl 'localhost:8080/sleep?for=1s'
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/httploop"
)

func main() {
	group, err := eventloop.NewGroup(0, eventloop.WithStallThreshold(2*time.Second, func(s eventloop.Stall) {
		if !s.Ended {
			log.Printf("a handler blocks its loop for %v:\n%s", s.Running, s.Stack)
		}
	}))
	check(err)
	first := group.Loop(0)
	listener, err := threadlet.Listen(first, "tcp", "localhost:8080")
	check(err)
	server := &httploop.Server{Handler: handlers(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	_, err = threadlet.Go(first, func() { _ = server.ServeGroup(group, listener) }) // which logs it if accepting fails
	check(err)
	fmt.Println("listening on", listener.Addr())
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	check(flow.RunUntil(signals, group, 10*time.Second))
}

// handlers returns the pages. They wait as threadlets do; what blocks otherwise goes through threadlet.Do.
func handlers() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello\n") })
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	mux.HandleFunc("/sleep", func(w http.ResponseWriter, r *http.Request) {
		d, err := time.ParseDuration(r.FormValue("for"))
		if err == nil {
			err = threadlet.Sleep(d)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, "slept for", d)
	})
	return mux
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
