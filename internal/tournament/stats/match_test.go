package stats

// Tests of the tests: signed ranks and equivalence.

import (
	"math"
	"testing"
)

func TestSignedRank(t *testing.T) {
	below := series{}
	for i := 1; i <= 10; i++ {
		below[i] = -float64(i)
	}
	for _, c := range []struct {
		what   string
		values series
		limit  float64
		want   float64
	}{
		{"all below", below, 0, 1. / 1024},
		{"all above", below.negative(), 0, 1},
		{"all below another limit", below.negative(), 11, 1. / 1024},
		{"the smallest is above", series{1: 1, 2: -2, 3: -3}, 0, 2. / 8},
		{"ties share a rank", series{1: 1, 2: -1, 3: -3}, 0, 3. / 8},
		{"nothing but the limit", series{1: 2, 2: 2}, 2, 1},
	} {
		if got := signedRank(c.values, c.limit); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// What was not shown to differ has not been shown to be level, and the other way round.
func TestMatches(t *testing.T) {
	values := map[string][]float64{"P@main": jitter(100, 0.01), "P@main-again": jitter(101, 0.01)}
	for bench, of := range map[string][3]float64{ // what main takes, what the rival does, and how much main varies
		"Ahead": {50, 100, 0.01}, "Behind": {150, 100, 0.01}, "Level": {104, 100, 0.01}, "Open": {120, 100, 3}, "Close": {109, 100, 1},
	} {
		values[bench+"@main"], values[bench+"@rival"] = jitter(of[0], of[2]), flat(of[1]*1e-9)
		values[bench+"@baseline"] = jitter(1000, 0.01)
	}
	values["Ahead@main@p99-sec/op"], values["Ahead@rival@p99-sec/op"] = jitter(300, 0.01), jitter(200, 0.01)
	a := analyse(values)
	got := map[string]Outcome{}
	for _, m := range a.ToBest {
		if m.Bench != "P" {
			got[m.Bench+" "+m.Unit] = m.Outcome
		}
		if m.To != "rival" || m.Headline != (m.Unit == "sec/op") {
			t.Errorf("%+v", m)
		}
	}
	want := map[string]Outcome{"Ahead sec/op": Ahead, "Behind sec/op": Behind, "Level sec/op": Within, "Open sec/op": Open, "Close sec/op": Open,
		"Ahead p99-sec/op": Behind}
	for name, outcome := range want {
		if got[name] != outcome {
			t.Errorf("%s: %s, want %s", name, got[name], outcome)
		}
	}
	if len(got) != len(want) {
		t.Errorf("matches %v", got)
	}
	for _, m := range a.ToReference {
		if m.Bench != "P" && (m.To != "baseline" || m.Outcome != Ahead) {
			t.Errorf("against the reference: %+v", m)
		}
	}
}
