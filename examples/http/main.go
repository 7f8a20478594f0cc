// Command http serves HTTP/1.1 on event loops, one for each processor, with a threadlet for each connection. Handlers
// are those of package net/http, in straight-line code, with TLS or without.
//
//	go run ./examples/http -addr localhost:8080
//	curl localhost:8080; curl --data-binary @go.mod localhost:8080/echo; curl 'localhost:8080/sleep?for=1s'
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "where to listen")
	cert := flag.String("cert", "", "certificate; without one there is no TLS")
	key := flag.String("key", "", "its key")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "http: %q is no flag\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(*addr, *cert, *key); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

// run serves until SIGINT or SIGTERM; a second one ends the wait for requests that are under way.
func run(addr, cert, key string) error {
	s := &server{handler: handlers(), limits: usual}
	if (cert == "") != (key == "") {
		return errors.New("-cert and -key go together")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return err
		}
		s.tls = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	group, err := eventloop.NewGroup(0)
	if err != nil {
		return err
	}
	listener, err := s.listen(group, addr)
	if err != nil {
		return err
	}
	fmt.Println("listening on", listener.Addr())
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return flow.RunUntil(signals, group, 10*time.Second)
}

// listen accepts connections, and spreads them over the loops of a group.
func (s *server) listen(group *eventloop.Group, addr string) (net.Listener, error) {
	first := group.Loop(0)
	listener, err := threadlet.Listen(first, "tcp", addr)
	if err != nil {
		return nil, err
	}
	_, err = threadlet.Go(first, func() { _ = threadlet.ServeGroup(group, listener, s.serve) })
	return listener, err
}

// handlers returns the pages. They may wait as threadlets do; long computations and other blocking calls go through
// threadlet.Do.
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
	mux.HandleFunc("/hostname", func(w http.ResponseWriter, r *http.Request) {
		var name string
		err := threadlet.Do(r.Context(), func(context.Context) (err error) {
			name, err = os.Hostname()
			return err
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, name)
	})
	return mux
}
