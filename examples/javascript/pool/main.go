// Command pool serves HTTP with a script, by a pool of VMs, one for each processor, and with a deadline for each
// request.
//
//	go run ./examples/javascript/pool -addr 127.0.0.1:8080
//	curl 'http://127.0.0.1:8080/?n=20'
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"time"
)

//go:embed rules.js
var rules string

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	limit := flag.Duration("limit", time.Second, "how long a request may take")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag", flag.Arg(0))
	}
	pool, err := NewPool(0, "rules.js", rules)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	log.Fatal(http.ListenAndServe(*addr, handler(pool, *limit)))
}

// handler answers with the price of n things.
func handler(pool *Pool, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.FormValue("n"))
		if err != nil {
			http.Error(w, "n is no number", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		switch price, err := pool.Call(ctx, "price", n); {
		case errors.Is(err, context.DeadlineExceeded):
			http.Error(w, "the rules take too long", http.StatusGatewayTimeout)
		case err != nil:
			log.Print(err) // with the script's stack
			http.Error(w, "the rules have failed", http.StatusInternalServerError)
		default:
			fmt.Fprintln(w, price)
		}
	})
}
