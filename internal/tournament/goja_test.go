package tournament

// That the programs in JavaScript notice what is lost.

import (
	"fmt"
	"testing"
	"time"
)

// TestFaultyPrograms: goja's programs notice what they lose and what is wrong, too.
func TestFaultyPrograms(t *testing.T) {
	defer func(d time.Duration) { hung = d }(hung)
	hung = 20 * time.Millisecond
	const settle = "{ const P = Promise; Promise = function (f) { return new P((resolve) => f(() => { %s })) };" +
		" Promise.all = P.all.bind(P); Promise.race = P.race.bind(P) }"
	neverSettles, settlesWrong := fmt.Sprintf(settle, ""), fmt.Sprintf(settle, "resolve(-1)")
	for _, c := range []struct{ fault, program string }{
		{neverSettles, "then"}, {neverSettles, "fanout"}, {neverSettles, "all"}, {neverSettles, "race"},
		{"promisify = () => new Promise(() => {});", "promisify"}, {"setTimeout = () => {};", "timeout"},
		{settlesWrong, "then"}, {settlesWrong, "fanout"}, {settlesWrong, "all"}, {settlesWrong, "race"},
		{"promisify = () => Promise.resolve(-1);", "promisify"}, {"clearTimeout = () => {};", "timeout"},
		{"oops", "then"},
	} {
		result := testing.Benchmark(func(b *testing.B) { runProgram(b, crowd, c.fault+programs[c.program]) })
		if result.N != 0 {
			t.Errorf("%s: with %s there is a result: %v", c.program, c.fault, result)
		}
	}
}
