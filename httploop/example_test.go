package httploop_test

// Examples of package httploop.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/httploop"
)

// Handlers of one loop run one at a time: what only they touch needs no lock, also over a wait.
func ExampleServe() {
	loop, _ := eventloop.New()
	listener, _ := threadlet.Listen(loop, "tcp", "127.0.0.1:0")
	visits := 0
	_, _ = threadlet.Go(loop, func() {
		_ = httploop.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = threadlet.Sleep(time.Millisecond)
			visits++
			fmt.Fprintln(w, "visit", visits)
		}))
	})
	go loop.Run(context.Background())
	for range 2 {
		response, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		fmt.Print(string(text))
	}
	fmt.Println(flow.StopGracefully(context.Background(), loop, time.Minute))
	// Output:
	// visit 1
	// visit 2
	// <nil>
}
