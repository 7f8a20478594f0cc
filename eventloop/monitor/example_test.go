package monitor_test

// Examples of package monitor.

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/monitor"
)

// The page at /loops/, and the figures for Prometheus at /metrics.
func Example() {
	m := new(monitor.Monitor)
	loop, _ := eventloop.New(m.Options()...)
	m.Watch(loop)
	go loop.Run(context.Background())

	mux := http.NewServeMux()
	mux.Handle("/loops/", http.StripPrefix("/loops", m))
	mux.Handle("/metrics", m.Prometheus())
	for _, path := range []string{"/loops/", "/metrics"} {
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, nil))
		kind, _, _ := strings.Cut(response.Header().Get("Content-Type"), ";")
		fmt.Println(response.Code, kind)
	}
	_ = loop.Close()
	// Output:
	// 200 text/html
	// 200 text/plain
}
