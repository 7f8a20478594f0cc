//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Tests of threadlets that switch for ever, beside connections.

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// Pairs that switch for ever keep no connection waiting.
func TestEndlessPairsBesideConnections(t *testing.T) {
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			unchanged(t)
			l := start(t)
			for _, turn := range pair(l) {
				_, err := threadlet.Go(l, func() {
					for turn() == nil {
					}
				})
				require.NoError(t, err)
			}
			c := dial(t, listen(t, l, "tcp", echo))
			for p, rounds := make([]byte, 1), byte(scale(5, 10, 100)); p[0] < rounds; p[0]++ {
				want := p[0]
				_, err := c.Write(p)
				require.NoError(t, err)
				_, err = c.Read(p)
				require.NoError(t, err)
				require.Equal(t, want, p[0])
			}
			require.NoError(t, l.Close())
		})
	}
}
