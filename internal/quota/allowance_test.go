package quota_test

// Tests of an allowance, in time of its own.

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/quota"
)

const us, ms = 1_000, 1_000_000

// tick runs callbacks under an allowance until they are to wait, as a loop does. takes returns how long callback n, from 0,
// takes. The result is how many have run, how often the clock was read, and when it was read last.
func tick(a *quota.Allowance, now *int64, takes func(n int) int64) (ran, looks int, last int64) {
	for ; ; ran++ {
		if a.Due() {
			looks, last = looks+1, *now
			if a.Spent(*now) {
				return ran, looks, last
			}
		}
		a.Count()
		*now += takes(ran)
	}
}

// of returns a new allowance.
func of(most int) (a quota.Allowance) {
	a.Renew(most)
	return a
}

func each(d int64) func(int) int64 { return func(int) int64 { return d } }

// However long callbacks are, and whatever came before them, the rest waits after about a fifth of a tick.
func TestAllowanceOfTime(t *testing.T) {
	for _, c := range []struct {
		quick       int // callbacks before the others, which take no time
		each        int64
		least, most int // callbacks that take time
	}{
		{0, 100 * us, 20, 26},
		{700, 100 * us, 1, 80},
		{0, ms, 4, 8},
		{300, ms, 1, 66},
		{0, 20 * ms, 4, 4},
		{4, 20 * ms, 1, 4},
		{9, 20 * ms, 1, 18},
	} {
		for _, began := range []int64{0, 1, 1 << 60} {
			now, a := began, of(quota.Unlimited)
			ran, _, _ := tick(&a, &now, func(n int) int64 {
				if n < c.quick {
					return 0
				}
				return c.each
			})
			require.GreaterOrEqual(t, ran-c.quick, c.least, "%+v", c)
			require.LessOrEqual(t, ran-c.quick, c.most, "%+v", c)
			require.False(t, a.Out())
		}
	}
}

// As many callbacks start as there may, also if they are fewer than run without a look at the clock.
func TestAllowanceOfNumber(t *testing.T) {
	for _, most := range []int{0, 1, 2, 3, 4, 5, 64, 65, 1024} {
		now, a := int64(0), of(most)
		require.False(t, a.Used())
		ran, _, _ := tick(&a, &now, each(1))
		require.Equal(t, most, ran)
		require.Equal(t, most > 0, a.Used())
		require.True(t, a.Out())
		require.True(t, a.Due() && a.Spent(now), "it stays spent")
	}
	require.True(t, new(quota.Allowance).Spent(0))
}

// Quick callbacks cost few looks at the clock.
func TestAllowanceLooksRarely(t *testing.T) {
	now, a := int64(0), of(1<<16)
	ran, looks, _ := tick(&a, &now, each(20))
	require.Equal(t, 1<<16, ran)
	require.Less(t, looks, ran/60+10)
}

// A number goes on in the next tick if the time was over before it, and begins anew if it was spent, or not needed.
func TestAllowanceGoesOn(t *testing.T) {
	const budget = 20
	now, a, ticks := int64(0), quota.Allowance{}, 0
	for total := 0; total < budget; ticks++ {
		a.Renew(budget)
		ran, _, _ := tick(&a, &now, each(ms))
		require.Positive(t, ran)
		total += ran
		require.LessOrEqual(t, total, budget)
		require.Equal(t, total == budget, a.Out())
	}
	require.Greater(t, ticks, 2)
	a.Renew(budget)
	ran, _, _ := tick(&a, &now, each(0))
	require.Equal(t, budget, ran)
	a.Renew(budget)
	a.Count()
	a.Renew(budget)
	ran, _, _ = tick(&a, &now, each(0))
	require.Equal(t, budget, ran)
}

// Of callbacks of any length, those behind the first look end a share in time, apart from those between two looks; and as long
// as the share is not over, the rest need not wait.
func TestAllowanceOfAnything(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		lengths := []int64{0, 20, us, 50 * us, ms, 30 * ms}[:1+rng.IntN(6)]
		most := []int{1024, 100_000, quota.Unlimited}[rng.IntN(3)]
		now, a := rng.Int64N(1<<62), of(most)
		var at []int64 // when each callback began
		began := int64(0)
		ran, _, last := tick(&a, &now, func(n int) int64 {
			if n == 3 {
				began = now
			}
			at = append(at, now)
			if n > 1<<14 {
				return ms
			}
			return rng.Int64N(lengths[rng.IntN(len(lengths))] + 1)
		})
		if a.Out() {
			require.Equal(t, most, ran)
			continue
		}
		require.GreaterOrEqual(t, last-began, int64(quota.Share), "seed %d", seed)
		before := max(3, ran-64, ran/3-1) // the look before was no earlier than behind a third of them, or 64 callbacks ago
		require.Less(t, at[before]-began, int64(quota.Share), "seed %d: of %d callbacks, %d began in time", seed, ran, before)
	}
}
