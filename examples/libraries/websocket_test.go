package libraries

// WebSockets in handlers of package httploop, which let a library hijack the connection.

import (
	"context"
	"net/http"
	"strings"
	"testing"

	coder "github.com/coder/websocket"
	"github.com/gorilla/websocket"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/httploop"
)

// serveHTTP serves a handler on a loop, and returns the address.
func serveHTTP(t *testing.T, l *eventloop.Loop, handler http.HandlerFunc) string {
	t.Helper()
	ln := listen(t, l)
	run(t, l, func() { _ = httploop.Serve(ln, handler) })
	return ln.Addr().String()
}

var messages = []string{"one", strings.Repeat("x", 1<<20), ""}

func gorillaSocket(t *testing.T) {
	addr := serveHTTP(t, start(t), func(w http.ResponseWriter, r *http.Request) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for {
			kind, p, err := c.ReadMessage()
			if err != nil || c.WriteMessage(kind, p) != nil {
				return
			}
		}
	})
	c, _, err := websocket.DefaultDialer.Dial("ws://"+addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, text := range messages {
		if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.ReadMessage(); string(got) != text || err != nil {
			t.Fatal(len(got), err)
		}
	}
}

// coderSocket has the server's side used in the handler's threadlet, or on goroutines of its own: several write at once there.
func coderSocket(t *testing.T, goroutines bool) {
	ended := make(chan error, 1)
	echo := func(c *coder.Conn) error {
		c.SetReadLimit(-1)
		for {
			kind, p, err := c.Read(context.Background())
			switch {
			case coder.CloseStatus(err) == coder.StatusNormalClosure:
				return nil
			case err != nil:
				return err
			case string(p) == "bye":
				_ = c.Close(coder.StatusGoingAway, "as told")
				return nil
			}
			if err := c.Write(context.Background(), kind, p); err != nil {
				return err
			}
		}
	}
	addr := serveHTTP(t, start(t), func(w http.ResponseWriter, r *http.Request) {
		c, err := coder.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if !goroutines {
			ended <- echo(c)
			_ = c.CloseNow()
			return
		}
		go func() {
			pinged := make(chan error, 1)
			go func() { pinged <- c.Ping(context.Background()) }()
			ended <- echo(c)
			<-pinged
			_ = c.CloseNow()
		}()
	})
	for _, end := range []string{"the client closes", "the server closes", "the client vanishes"} {
		c, _, err := coder.Dial(t.Context(), "ws://"+addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.SetReadLimit(-1)
		for _, text := range messages {
			if err := c.Write(t.Context(), coder.MessageText, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if _, got, err := c.Read(t.Context()); string(got) != text || err != nil {
				t.Fatal(len(got), err)
			}
		}
		switch end { // how a Close ends depends on a limit of five seconds
		case "the client closes":
			_ = c.Close(coder.StatusNormalClosure, "")
		case "the server closes":
			if err = c.Write(t.Context(), coder.MessageText, []byte("bye")); err == nil {
				_, _, err = c.Read(t.Context())
			}
			if coder.CloseStatus(err) != coder.StatusGoingAway {
				t.Error(err)
			}
		}
		_ = c.CloseNow()
		if there := <-ended; (there != nil) != (end == "the client vanishes") {
			t.Errorf("%s: %v", end, there)
		}
	}
}
