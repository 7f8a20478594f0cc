package main

// The test of the pool, through its handler.

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Whatever a request does to its VM, all others are answered, meanwhile and later.
func TestPool(t *testing.T) {
	load = time.Hour // on a busy machine
	pool, err := NewPool(2, "rules.js", rules)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	get := func(n int, limit time.Duration) (code int, text string) {
		w := httptest.NewRecorder()
		handler(pool, limit).ServeHTTP(w, httptest.NewRequest("GET", "/?n="+strconv.Itoa(n), nil))
		body, _ := io.ReadAll(w.Body)
		return w.Code, strings.TrimSpace(string(body))
	}
	for range 2 { // each round leaves the pool as it was
		for n, c := range map[int]struct {
			limit time.Duration
			want  int
		}{
			1001: {time.Hour, http.StatusInternalServerError}, 1002: {50 * time.Millisecond, http.StatusGatewayTimeout},
			1003: {50 * time.Millisecond, http.StatusGatewayTimeout}, 1004: {50 * time.Millisecond, http.StatusGatewayTimeout},
		} {
			if code, text := get(n, c.limit); code != c.want {
				t.Errorf("%d: %d, %s", n, code, text)
			}
		}
	}
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			want := strconv.FormatFloat(float64(n)*2.5, 'f', -1, 64)
			if n < 10 {
				want = strconv.Itoa(n * 3)
			}
			if code, text := get(n, time.Hour); code != http.StatusOK || text != want {
				t.Errorf("%d: %d, %s, want %s", n, code, text, want)
			}
		})
	}
	all.Wait()
}

func TestRulesThatDoNotLoad(t *testing.T) {
	for _, source := range []string{"let", "throw 1", "price("} {
		if _, err := NewPool(1, "rules.js", source); err == nil {
			t.Errorf("%s: no error", source)
		}
	}
}
