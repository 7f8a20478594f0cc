package wheel_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/wheel"
)

// model is the wheel as anyone would write it first: a slice sorted by (deadline, seq).
type model struct {
	timers  []timer
	removed bool // since the model was last empty
}

type timer struct {
	deadline int64
	seq, id  uint64
	ref      bool
}

func compare(a, b timer) int {
	if a.deadline != b.deadline {
		if a.deadline < b.deadline {
			return -1
		}
		return 1
	}
	if a.seq < b.seq {
		return -1
	}
	return 1
}

func (m *model) insert(t timer) {
	i, _ := slices.BinarySearchFunc(m.timers, t, compare)
	m.timers = slices.Insert(m.timers, i, t)
}

func (m *model) find(id uint64) int {
	return slices.IndexFunc(m.timers, func(t timer) bool { return t.id == id })
}

func (m *model) delete(i int) {
	m.timers = slices.Delete(m.timers, i, i+1)
	if len(m.timers) == 0 {
		m.removed = false
	}
}

func (m *model) refs() (n int) {
	for _, t := range m.timers {
		if t.ref {
			n++
		}
	}
	return n
}

// pair runs the same operations on a wheel and on the model and compares all that can be seen of them.
type pair struct {
	t     testing.TB
	w     *wheel.Wheel
	m     model
	now   int64
	steps int
	fired uint64            // the seq that the last called function was inserted with
	ids   []uint64          // all ids, in order of insertion
	known map[uint64]uint64 // id -> seq: no id may come twice
}

func newPair(t testing.TB) *pair {
	return &pair{t: t, w: new(wheel.Wheel), known: map[uint64]uint64{}}
}

func (p *pair) insert(deadline int64, ref bool) {
	seq := p.w.Seq()
	id := p.w.Insert(deadline, func() { p.fired = seq }, ref)
	if id == 0 {
		p.t.Fatalf("Insert #%d: id 0", seq)
	}
	if old, ok := p.known[id]; ok {
		p.t.Fatalf("Insert #%d: id %#x was given out for #%d already", seq, id, old)
	}
	if p.w.Seq() != seq+1 {
		p.t.Fatalf("Seq went from %d to %d in one Insert", seq, p.w.Seq())
	}
	p.known[id] = seq
	p.ids = append(p.ids, id)
	p.m.insert(timer{deadline, seq, id, ref})
	p.check()
}

func (p *pair) remove(id uint64) {
	i := p.m.find(id)
	if got, want := p.w.Remove(id), i >= 0; got != want {
		p.t.Fatalf("Remove(%#x) = %v, pending: %v", id, got, want)
	}
	if i >= 0 {
		p.m.removed = true
		p.m.delete(i)
	}
	p.check()
}

func (p *pair) setRef(id uint64, ref bool) {
	i := p.m.find(id)
	if got, want := p.w.SetRef(id, ref), i >= 0; got != want {
		p.t.Fatalf("SetRef(%#x) = %v, pending: %v", id, got, want)
	}
	if i >= 0 {
		p.m.timers[i].ref = ref
	}
	p.check()
}

func (p *pair) pop(before uint64) bool {
	fn, ok := p.w.PopDue(p.now, before)
	want := len(p.m.timers) > 0 && p.m.timers[0].deadline <= p.now && p.m.timers[0].seq < before
	if ok != want {
		p.t.Fatalf("PopDue(%d, %d) = %v, model: %v, earliest of %v", p.now, before, ok, want, p.m.timers[:min(3, len(p.m.timers))])
	}
	if ok {
		p.fired = math.MaxUint64
		fn()
		if first := p.m.timers[0]; p.fired != first.seq {
			p.t.Fatalf("PopDue(%d): got #%d, want #%d due %d", p.now, p.fired, first.seq, first.deadline)
		}
		p.m.delete(0)
	} else if before == p.w.Seq() && p.now < math.MaxInt64 && p.w.Next() <= p.now {
		p.t.Fatalf("nothing is due at %d but Next is %d: its owner would spin", p.now, p.w.Next())
	}
	p.check()
	return ok
}

func (p *pair) check() {
	if p.steps++; p.steps%16 == 0 {
		if err := p.w.Check(); err != nil {
			p.t.Fatal(err)
		}
	}
	if p.w.Len() != len(p.m.timers) || p.w.Refs() != p.m.refs() {
		p.t.Fatalf("Len, Refs = %d, %d, want %d, %d", p.w.Len(), p.w.Refs(), len(p.m.timers), p.m.refs())
	}
	earliest := int64(math.MaxInt64)
	if len(p.m.timers) > 0 {
		earliest = p.m.timers[0].deadline
	}
	next := p.w.Next()
	if next > earliest {
		p.t.Fatalf("Next is %d, after the earliest deadline %d: its owner would oversleep", next, earliest)
	}
	if next != earliest && (!p.m.removed || len(p.m.timers) == 0) {
		p.t.Fatalf("Next is %d, the earliest deadline %d, and nothing was removed", next, earliest)
	}
}

// deadline makes one that is awkward in the way that kind says.
func (p *pair) deadline(kind byte, v int64) int64 {
	const ms = 1_000_000
	far := p.now
	switch kind % 10 {
	case 0: // within the tick
		far += v % wheel.Tick
	case 1: // soon
		far += v % (100 * ms)
	case 2: // sparse
		far += v % (1000 * 3600 * 1000 * ms)
	case 3: // equal to others
		far += v % 3
	case 4: // in the past
		far -= v % (10 * ms)
	case 5: // at the border of a slot of some level, relative to now
		far += wheel.Tick<<(6*(v%7)) + (v/7)%3 - 1
	case 6: // at the border of a slot of some level, absolutely
		width := int64(wheel.Tick) << (6 * (v % 7))
		far = (far/width+1)*width + (v/7)%3 - 1
	case 7: // never
		return math.MaxInt64
	case 8: // just before never
		return math.MaxInt64 - v%(2*wheel.Tick)
	case 9: // anywhere
		return v
	}
	if far < 0 {
		if kind%10 == 4 {
			return 0
		}
		return math.MaxInt64 // wrapped
	}
	return far
}

// play runs a script: three bytes say what to do, eight more how far.
func (p *pair) play(script []byte) {
	for len(script) >= 11 {
		op, kind, flag := script[0], script[1], script[2]
		v := int64(binary.LittleEndian.Uint64(script[3:]) & math.MaxInt64)
		script = script[11:]
		pick := func() uint64 {
			if len(p.m.timers) > 0 && flag%4 > 0 {
				return p.m.timers[v%int64(len(p.m.timers))].id
			}
			if len(p.ids) > 0 && flag%8 > 0 {
				return p.ids[v%int64(len(p.ids))] // mostly stale
			}
			return uint64(v) << (flag / 8 % 3)
		}
		switch op % 16 {
		case 0, 1, 2, 3, 4, 5, 6:
			p.insert(p.deadline(kind, v), flag&1 == 0)
		case 7, 8:
			p.remove(pick())
		case 9:
			p.setRef(pick(), flag&16 == 0)
		case 10: // a phase that also inserts
			before := p.w.Seq()
			for p.pop(before) {
				if flag&1 == 0 && p.w.Seq() < before+8 {
					p.insert(p.deadline(kind+1, v), true)
				}
			}
		case 11: // what is due, up to some
			for range v % 8 {
				p.pop(p.w.Seq())
			}
		case 12: // the owner slept until Next
			if next := p.w.Next(); next > p.now && next < math.MaxInt64 {
				p.now = next
			}
			for p.pop(p.w.Seq()) {
			}
		case 13, 14: // the clock went on by whatever it took
			if to := p.deadline(kind, v); to > p.now && (to < math.MaxInt64/2 || kind > 250) {
				p.now = to
			}
			for p.pop(p.w.Seq()) {
			}
		case 15:
			p.pop(uint64(v) % (p.w.Seq() + 1))
		}
	}
	p.drain()
}

// drain pops all that can come due, sleeping as an owner would, then removes the rest.
func (p *pair) drain() {
	for p.w.Next() < math.MaxInt64 {
		p.now = max(p.now, p.w.Next())
		for p.pop(p.w.Seq()) {
		}
	}
	for len(p.m.timers) > 0 {
		p.remove(p.m.timers[0].id)
	}
}

func randomScript(seed uint64, ops int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	b := make([]byte, ops*11)
	r.Read(b)
	return b
}

// The wheel does what a sorted slice does, for long sequences of operations with awkward deadlines.
func TestModel(t *testing.T) {
	n := uint64(200)
	if testing.Short() {
		n = 5
	}
	for seed := range n {
		newPair(t).play(randomScript(seed, 1500))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(4) {
		f.Add(randomScript(1000+seed, 60))
	}
	one := func(op, kind, flag byte, v uint64) []byte {
		return binary.LittleEndian.AppendUint64([]byte{op, kind, flag}, v)
	}
	var borders, never, stale []byte
	for v := range uint64(21) {
		borders = append(borders, one(0, 5, 0, v)...)
		borders = append(borders, one(0, 6, 0, v)...)
		never = append(never, one(0, 7+byte(v)%3, 1, v<<58)...)
		stale = append(stale, one(0, 3, 0, v)...)
		stale = append(stale, one(7, 0, 0xff, v)...)
		stale = append(stale, one(7, 0, 0x04, v)...)
	}
	f.Add(append(borders, one(12, 0, 0, 0)...))
	f.Add(append(never, one(13, 251, 0, math.MaxInt64)...))
	f.Add(stale)
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 11*300 {
			t.Skip("too long for the slow model")
		}
		newPair(t).play(script)
	})
}

// One call may take the clock over any distance, also past where other wheels wrapped: 12 days, 400 days, centuries
// (bugs.md rows 37 and 44).
func TestClockJumps(t *testing.T) {
	const day = 24 * 3600 * 1_000_000_000
	for _, jump := range []int64{1, wheel.Tick, day / 24, 12 * day, 49 * day, 400 * day, 100_000 * day, math.MaxInt64 - 1} {
		p := newPair(t)
		for _, deadline := range []int64{jump + 1, jump, jump - 1, 0, 1, jump / 2, jump, math.MaxInt64, jump / 64, jump / 3 * 2} {
			p.insert(deadline, true)
		}
		p.now = jump - 1
		for p.pop(p.w.Seq()) {
		}
		p.insert(0, true) // in the past of the wheel's current tick, and behind one that waits there
		p.insert(jump-1, true)
		p.insert(jump-2+wheel.Tick, true)
		p.now = jump
		for p.pop(p.w.Seq()) {
		}
		p.drain()
	}
}

// An owner that sleeps until Next wakes once per distinct deadline, however many levels a timer comes down, and at
// that deadline exactly.
func TestOneWakePerDeadline(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var w wheel.Wheel
	want := map[int64]int{}
	for range 5000 {
		deadline := r.Int64N(1 << (20 + r.IntN(43)))
		want[deadline]++
		w.Insert(deadline, func() {}, true)
	}
	wakes := 0
	for w.Len() > 0 {
		now := w.Next()
		wakes++
		fired := 0
		for {
			if _, ok := w.PopDue(now, math.MaxUint64); !ok {
				break
			}
			fired++
		}
		if fired != want[now] {
			t.Fatalf("%d timers fired at %d, want %d", fired, now, want[now])
		}
	}
	if wakes != len(want) {
		t.Fatalf("%d wakes for %d deadlines", wakes, len(want))
	}
}

// Removal may leave a bound behind that is too early, but each removal costs its owner one wake at most.
func TestWakesAfterRemoval(t *testing.T) {
	var w wheel.Wheel
	const removed = 200
	for i := range int64(removed) {
		w.Remove(w.Insert(1e9+i*37e6, func() {}, true))
		w.Insert(500e9+i*1e9, func() {}, true)
		w.Remove(w.Insert(2e9+i*37e6, func() {}, true))
	}
	wakes := 0
	for w.Len() > 0 {
		now := w.Next()
		wakes++
		for {
			if _, ok := w.PopDue(now, math.MaxUint64); !ok {
				break
			}
		}
	}
	if wakes > removed+2*removed {
		t.Fatalf("%d wakes for %d timers and %d removed ones", wakes, removed, 2*removed)
	}
}

// A phase that pops up to the Seq of its start does not see what it inserts itself, however early its deadline is.
func TestPhase(t *testing.T) {
	var w wheel.Wheel
	runs := 0
	var again func()
	again = func() {
		runs++
		w.Insert(10, again, true)
	}
	w.Insert(10, again, true)
	for phase := 1; phase <= 3; phase++ {
		before := w.Seq()
		for {
			fn, ok := w.PopDue(100, before)
			if !ok {
				break
			}
			fn()
		}
		if runs != phase {
			t.Fatalf("after %d phases a timer that re-arms itself in the past ran %d times", phase, runs)
		}
	}
}
