package observe

// What the flight recorder keeps is dumped in order.

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What is added late stands where it belongs, and nothing behind the end.
func TestDumpIsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Anchor: time.Now(), Events: 100})
		stalledIn := func(ahead time.Duration) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.ring.add(record{end: p.now() + int64(ahead), kind: Stalled})
		}
		dump := func(ended bool) (kinds []string) {
			var b strings.Builder
			require.NoError(t, p.DumpEvents(&b, ended, 1))
			last := time.Duration(0)
			for i, line := range slices.Collect(strings.Lines(b.String())) {
				if f := strings.Fields(line); i > 0 {
					at, err := time.ParseDuration(f[0])
					require.NoError(t, err)
					took, err := time.ParseDuration(f[1])
					require.NoError(t, err)
					require.GreaterOrEqual(t, at+took, last, b.String())
					last = at + took
					kinds = append(kinds, f[2])
				}
			}
			return kinds
		}
		p.Woke(None, false)
		p.Tick(p.now())
		stalledIn(90 * time.Second)
		p.Call(Task, 0, nil, func() { time.Sleep(time.Minute) })
		p.Call(Task, 0, nil, func() { time.Sleep(time.Hour) })
		p.Parked()
		require.Equal(t, []string{"tick", "task", "stall", "task", "sleep"}, dump(false))
		stalledIn(time.Hour)
		kinds := dump(true)
		require.Equal(t, "end", kinds[len(kinds)-1])
	})
}
