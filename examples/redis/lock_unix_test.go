//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The file is for one server alone.

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
)

// TestSecondServer: a server that is started with the file of another one refuses it, and leaves it as it is, even if it ends
// within a request.
func TestSecondServer(t *testing.T) {
	o := usual
	o.file = filepath.Join(t.TempDir(), "file")
	start := func() (*server, error) {
		loop, err := eventloop.New()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = loop.Close() })
		return newServer(loop, o)
	}
	first, err := start()
	if err != nil {
		t.Fatal(err)
	}
	const half = "*2\r\n$4\r\nINCR"
	if err := os.WriteFile(o.file, []byte(half), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := start(); err == nil {
		t.Error("both have the file")
	}
	if b, err := os.ReadFile(o.file); err != nil || string(b) != half {
		t.Errorf("%q, %v", b, err)
	}
	if err := (<-first.log.disk).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := start(); err != nil {
		t.Error(err)
	}
}
