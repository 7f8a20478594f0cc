package stats

// Tests of ratios within rounds.

import "testing"

func TestRounds(t *testing.T) {
	a := analyse(map[string][]float64{"A@main": {4, 2, 6, 8}, "A@baseline": {2, 2, 2, 4}})
	rounds := a.Rounds("A", "main", "sec/op")
	for i, want := range []float64{4, 2, 6, 8} {
		if i >= len(rounds) || rounds[i].Round != rounds[0].Round+i || rounds[i].Value != want {
			t.Fatalf("rounds %v", rounds)
		}
	}
	if none := a.Rounds("A", "nobody", "sec/op"); len(rounds) != 4 || len(none) != 0 {
		t.Errorf("%d rounds, of nobody %v", len(rounds), none)
	}
	if got := a.Ratio("A", "sec/op", "main", "baseline"); got.Center != 2 || got.N != 4 { // 2, 1, 3, 2
		t.Errorf("the ratio within rounds is %+v, want 2 over 4", got)
	}
	if got := a.Ratio("A", "sec/op", "main", "nobody"); got.OK() {
		t.Errorf("a ratio to nobody: %+v", got)
	}
	if got := new(Analysis).Ratio("A", "sec/op", "main", "baseline"); got.OK() {
		t.Errorf("a ratio without samples: %+v", got)
	}
}
