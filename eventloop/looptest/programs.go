package looptest

// Programs worth playing: named ones, each for one kind of fault, and random ones.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// programs are the named programs. They are short on purpose, because fuzzing starts from them.
var programs = []struct{ name, text string }{
	{"nothing", ""},
	{"each lane before Run", "simt0t4"},
	{"lanes nested in each other", ".s(im(s)t0)i(sm(i)m)m(im)t0(sim)"},
	{"internal work that comes during external work", ".s2(i(i)s)s"},
	{"from elsewhere to a loop at rest", ":simt0t4s(m)i(m)m(m)"},
	{"from elsewhere while it is busy", ";s3i3m3s2i2m2"},
	{"microtasks from elsewhere, and of callbacks behind them", "mi(m);m2(m)"},
	{"the seam between chunks", ".s8s8i8i8;s8s5s6i8;s8m8"},
	{"the ring of microtasks grows", ".m3m7(m)m7m8(m2);m3m7m8"},
	{"the ring grows with its head in the middle", ".m6(m2)m7(m3(m))"},
	{"the budget of microtasks", ".m9(m)m9s3(m)t0"},
	{"the budget of tasks", ".s9(s)s9i3t0(i);s9t0i"},
	{"small budgets", "!.s6(m2)m5(m(s))i4t0(m5)t0s5"},
	{"microtasks that the budget held back", "!.m5(m)m4t0(m)i(m)s(m)"},
	{"timers that are due behind a spent budget", "!m(t0t0m7)"},
	{"a timer that exits, one that is due behind it, and one that it has scheduled", ".t(tg)t(s)"},
	{"equal deadlines", ".t4t4t5t4t6t4"},
	{"timers without delay take turns", ".t0(t0(t0(m)s)i)t0(s)t1(t1)"},
	{"distant timers", ".t7t8t9t3;t8t6;c1c0"},
	{"cancelled by one that is due as well", ".t4(c2c1c0)t4t4t4"},
	{"cancelled twice", ".t4t4c0c0c1c1c2;t4c0:c0t0c0"},
	{"a timer that is the earliest, from elsewhere", ";t7t6t5t4:t6t4"},
	{"Shutdown with everything queued", ".s8(im)i8(m)m8t0t4Ss(m)i(im)m(i(m))t0"},
	{"Shutdown from elsewhere", ";s6(im)i5(i)m5t0Ssi(m)mt0"},
	{"Shutdown before Run", "s(i(m))i(s)m(i)t0S"},
	{"Shutdown over many ticks", "!.t0s6S"},
	{"Close with everything queued", ".s8i8m8t0Csimt0"},
	{"Close from elsewhere", ";s5i5m5t0Csimt0"},
	{"Close before Run", "simt0t4C"},
	{"Close behind Shutdown", ".s2i2(C)m2St0:S"},
	{"ended twice", ".SSCC"},
	{"panics in all lanes", ".s2(mp)i2(mp)m2(mp)t0(mp)t0(mp)t0"},
	{"exits in all lanes", ".s2(mg)i2(mg)m2(mg)t0(mg)t0(mg)t0"},
	{"a panic while ending", ".s3(ip)i3(mp)m2(p)S"},
	{"modes", "f2:f0sf1sf2s;f1;sf0s;t4f2"},
	{"a descriptor of each mode", "f1r0f0r0f1f2w0:u0f1r0"},
	{"level-triggered", ":r0(ms)w0w0w0;w0w0r1(i)w1w1"},
	{"one callback ends the others", ";" + others("u%d") + atOnce},
	{"numbers used again", ":r0r0x0r0w0X0r0w0u0u0d0;r1(x2r2w2)r2(X1r1w1)w1w2"},
	{"interest that comes and goes", ":r0d0w0d0w0;r1(d1)w1w1:d1"},
	{"descriptors between tasks", ".r0(smi)r1(mt0)w0w0w1s3(m)t0"},
	{"the end with descriptors", ".r0(s)r1w0w1S;u0"},
}

// Programs returns programs to start fuzzing from; see Player.
func Programs() []string {
	var texts []string
	for _, p := range programs {
		texts = append(texts, p.text)
	}
	return texts
}

// The letters of random programs. Operations that end a function or the loop are rare.
const (
	common   = "ssssiiiimmmmttttcc(((((()))))000011223333444455566;.:"
	rare     = "78pgfSC!"
	veryRare = "9"
	withFDs  = "rrrruuddwwwwwwxX"
)

// randomProgram writes a program of about n operations.
func randomProgram(rng *rand.Rand, letters string, n int) string {
	var b strings.Builder
	for range n {
		switch v := rng.IntN(400); {
		case v == 0:
			b.WriteByte(veryRare[rng.IntN(len(veryRare))])
		case v < 16:
			b.WriteByte(rare[rng.IntN(len(rare))])
		default:
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
	}
	return ";:."[rng.IntN(3):][:rng.IntN(2)] + b.String()
}

// played returns a check that plays programs.
func played(programs ...string) func(t *trial) {
	return func(t *trial) {
		t.strict = true
		t.rounds(len(programs), func(i int) {
			playOne(t, programs[i], play)
			t.cleanup()
		})
	}
}

// all returns a check of several parts.
func all(parts ...func(t *trial)) func(t *trial) {
	return func(t *trial) {
		for _, part := range parts {
			part(t)
		}
	}
}

// everyThird is a program in which every third function of a long batch panics.
func everyThird(lane string) string { return ";" + strings.Repeat(lane+"(p)"+lane+"1", 110) }

// others is a program that registers all descriptors, of which each does in its callback to the others what the format says.
func others(format string) (program string) {
	for i := range slots {
		program += fmt.Sprintf("r%d(", i)
		for j := range slots {
			if j != i {
				program += fmt.Sprintf(format, j)
			}
		}
		program += ")"
	}
	return program
}

// atOnce makes all descriptors ready.
const atOnce = "w0w1w2w3"

// playMany plays the named programs for which meant returns true, and n random ones, scaled.
func playMany(t *trial, letters string, n int, meant func(text string) bool, play func(t *trial, program string)) {
	texts := slices.DeleteFunc(Programs(), func(text string) bool { return !meant(text) })
	for i := range t.scale(n) {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		texts = append(texts, randomProgram(rng, letters, 4+rng.IntN(60)))
	}
	for _, text := range texts {
		playOne(t, text, play)
		if t.failed() {
			return
		}
		t.cleanup()
	}
}

// playOne plays one program, and names it in the first failure.
func playOne(t *trial, text string, play func(t *trial, program string)) {
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(t.failures) > 0 {
			t.failures[0] = fmt.Sprintf("program %q: %s", text, t.failures[0])
		}
	}()
	play(t, text)
}

func randomOperations(t *trial) {
	playMany(t, common, 300, func(text string) bool { return !usesDescriptors(parse(text)) }, play)
}

func randomRegistrations(t *trial) {
	playMany(t, common+withFDs+withFDs, 150, func(text string) bool { return usesDescriptors(parse(text)) }, play)
}

func randomTogether(t *trial) {
	playMany(t, common+";;;;", 150, func(string) bool { return true }, playTogether)
}
