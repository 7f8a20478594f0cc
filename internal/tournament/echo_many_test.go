//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

// Echo with other numbers of connections than the ranking's.

import (
	"fmt"
	"testing"
)

// BenchmarkEchoMany: Echo with one connection, and with 512.
func BenchmarkEchoMany(b *testing.B) {
	for _, conns := range []int{1, 512} {
		variant := fmt.Sprintf("conns=%d", conns)
		each(b, func(b *testing.B, c Contestant) {
			b.Run(variant, func(b *testing.B) { echoCell(serveOnLoop, conns)(b, c) })
		})
		b.Run("impl="+NetControl+"/"+variant, echoControl(serveWithNet, conns))
		b.Run("impl="+GnetControl+"/"+variant, echoControl(serveWithGnet, conns))
	}
}
