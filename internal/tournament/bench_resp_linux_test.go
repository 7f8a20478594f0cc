package tournament

// Tests of the benchmarks with redis-benchmark.

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// TestAsked: the rates that redis-benchmark prints become times, and what it does not print becomes an error.
func TestAsked(t *testing.T) {
	const head = "\"test\",\"rps\",\"avg_latency_ms\"\n"
	for csv, want := range map[string]time.Duration{
		head + "\"SET\",\"1000.00\",\"0.1\"\n\"GET\",\"500.00\",\"0.1\"\n": 300 * time.Millisecond,
		head + "\"SET\",\"inf\",\"0.1\"\n\"GET\",\"500.00\",\"0.1\"\n":     0,
		head + "\"SET\",\"1000.00\",\"0.1\"\n":                             -1,
		head + "\"SET\",\"0.00\",\"0\"\n\"GET\",\"500.00\",\"0.1\"\n":      -1,
		"ERROR: refused": -1,
	} {
		got, err := asked(csv, 100)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %v, %v; want %v", csv, got, err, want)
		}
	}
}

// TestRESPStore: requests that come together are answered in their order, and whoever hangs up is no error.
func TestRESPStore(t *testing.T) {
	client, server := net.Pipe()
	store := respStore{lock: &sync.Mutex{}, values: map[string][]byte{}}
	ended := make(chan error, 1)
	go func() { ended <- store.serve(server) }()
	const requests = "GET a\r\nSET a one\r\n*2\r\n$3\r\nget\r\n$1\r\na\r\nSET a\r\n"
	const want = "$-1\r\n+OK\r\n$3\r\none\r\n-ERR unknown command\r\n"
	if _, err := client.Write([]byte(requests)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(client, got); err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("after the client has hung up: %v", err)
	}
}
