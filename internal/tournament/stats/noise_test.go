// Tests of the noise that control pairs show.

package stats

import "testing"

// A single pair whose rounds differ by a third either way, and whose median is 1, agrees by chance.
func TestASinglePairIsAsNoisyAsItsInterval(t *testing.T) {
	values := map[string][]float64{
		"A@main": jitter(100, 0), "A@main-again": jitter(100, 0.6), "A@rival": jitter(110, 0),
	}
	if a := analyse(values); a.Noise.Floor < 0.15 || a.Noise.Floor > 0.6 || a.Noise.Mean != a.Noise.Floor || !a.Rows[0].entry("rival").Best {
		t.Errorf("10 %% are more than noise of %+v", a.Noise)
	}
}
