//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

// Echo with other numbers of connections than the ranking's.

import (
	"fmt"
	"testing"
)

// BenchmarkEchoMany: Echo with one connection, and with 512.
func BenchmarkEchoMany(b *testing.B) {
	for name, serve := range map[string]echoService{NetControl: serveWithNet, GnetControl: serveWithGnet} {
		b.Run("impl="+name, func(b *testing.B) { manyConnections(b, serve) })
	}
	each(b, func(b *testing.B, c Contestant) {
		manyConnections(b, func(b *testing.B) string { return serveOnLoop(b, c) })
	})
}

func manyConnections(b *testing.B, serve echoService) {
	for _, conns := range []int{1, 512} {
		b.Run(fmt.Sprintf("conns=%d", conns), echoControl(serve, conns))
	}
}
