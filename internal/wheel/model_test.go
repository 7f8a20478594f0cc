package wheel_test

// The wheel against a simple model.

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/wheel"
)

// model is the wheel as anyone would write it first: a slice per tier, sorted by (deadline, seq).
type model [wheel.Tiers]struct {
	timers  []timer
	removed bool // since the tier was last empty
}

type timer struct {
	deadline int64
	seq, id  uint64
	ref      bool
}

func compare(a, b timer) int {
	return cmp.Or(cmp.Compare(a.deadline, b.deadline), cmp.Compare(a.seq, b.seq))
}

func (m *model) insert(tier wheel.Tier, t timer) {
	q := &m[tier]
	i, _ := slices.BinarySearchFunc(q.timers, t, compare)
	q.timers = slices.Insert(q.timers, i, t)
}

// find returns where a timer is: at i in its tier, or nowhere, at -1.
func (m *model) find(id uint64) (tier wheel.Tier, i int) {
	for tier := range tiers {
		if i := slices.IndexFunc(m[tier].timers, func(t timer) bool { return t.id == id }); i >= 0 {
			return tier, i
		}
	}
	return 0, -1
}

func (m *model) delete(tier wheel.Tier, i int) {
	q := &m[tier]
	q.timers = slices.Delete(q.timers, i, i+1)
	if len(q.timers) == 0 {
		q.removed = false
	}
}

func (m *model) count() (all, refs int) {
	for _, q := range m {
		all += len(q.timers)
		for _, t := range q.timers {
			if t.ref {
				refs++
			}
		}
	}
	return all, refs
}

const tiers = wheel.Tier(wheel.Tiers)

// pair runs the same operations on a wheel and on the model and compares all that can be seen of them.
type pair struct {
	t     testing.TB
	w     *wheel.Wheel
	m     model
	now   int64
	steps int
	fired uint64            // the seq that the last called function was inserted with
	most  int               // the most timers that there were
	parts bool              // pop returns after each step
	waits int               // steps since a timer was popped
	ids   []uint64          // all ids, in order of insertion
	known map[uint64]uint64 // id -> seq: no id may come twice
}

func newPair(t testing.TB) *pair {
	return &pair{t: t, w: new(wheel.Wheel), known: map[uint64]uint64{}}
}

func (p *pair) insert(tier wheel.Tier, deadline int64, ref bool) {
	seq := p.w.Seq()
	if p.w.Short() && seq%2 == 0 {
		if p.w.Provide(new(wheel.Memory)); p.w.Short() {
			p.t.Fatalf("Short although there was memory")
		}
	}
	id := p.w.Insert(tier, deadline, func() { p.fired = seq }, ref)
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
	p.m.insert(tier, timer{deadline, seq, id, ref})
	p.check()
}

func (p *pair) remove(id uint64) {
	tier, i := p.m.find(id)
	if got, want := p.w.Remove(id), i >= 0; got != want {
		p.t.Fatalf("Remove(%#x) = %v, pending: %v", id, got, want)
	}
	if i >= 0 {
		p.m[tier].removed = true
		p.m.delete(tier, i)
	}
	p.check()
}

func (p *pair) setRef(id uint64, ref bool) {
	tier, i := p.m.find(id)
	if got, want := p.w.SetRef(id, ref), i >= 0; got != want {
		p.t.Fatalf("SetRef(%#x) = %v, pending: %v", id, got, want)
	}
	if i >= 0 {
		p.m[tier].timers[i].ref = ref
	}
	p.check()
}

func (p *pair) pop(tier wheel.Tier, before uint64) bool {
	fn, ok := p.w.PopDue(tier, p.now, before)
	for ; ok && fn == nil; fn, ok = p.w.PopDue(tier, p.now, before) {
		if next := p.w.NextOf(tier); next > p.now {
			p.t.Fatalf("tier %d has more to do at %d, but its next is %d: its owner would sleep", tier, p.now, next)
		}
		if p.waits++; p.waits > 20*(p.most+1) {
			p.t.Fatalf("%d steps, and nothing of tier %d is popped", p.waits, tier)
		}
		if p.check(); p.parts {
			return true
		}
	}
	p.waits = 0
	q := &p.m[tier]
	want := len(q.timers) > 0 && q.timers[0].deadline <= p.now && q.timers[0].seq < before
	if ok != want {
		p.t.Fatalf("PopDue(%d, %d, %d) = %v, model: %v, earliest of %v", tier, p.now, before, ok, want, q.timers[:min(3, len(q.timers))])
	}
	if ok {
		p.fired = math.MaxUint64
		fn()
		first := q.timers[0]
		if p.fired != first.seq {
			p.t.Fatalf("PopDue(%d, %d): got #%d, want #%d due %d", tier, p.now, p.fired, first.seq, first.deadline)
		}
		p.m.delete(tier, 0)
	} else if next := p.w.NextOf(tier); before == p.w.Seq() && p.now < math.MaxInt64 && next <= p.now {
		p.t.Fatalf("nothing of tier %d is due at %d but its next is %d: its owner would spin", tier, p.now, next)
	}
	p.check()
	return ok
}

// popAll pops what is due of a tier.
func (p *pair) popAll(tier wheel.Tier) {
	for p.pop(tier, p.w.Seq()) {
	}
}

func (p *pair) check() {
	if p.steps++; p.steps%16 == 0 {
		if err := p.w.Check(); err != nil {
			p.t.Fatal(err)
		}
	}
	all, refs := p.m.count()
	p.most = max(p.most, all)
	if p.w.Len() != all || p.w.Refs() != refs {
		p.t.Fatalf("Len, Refs = %d, %d, want %d, %d", p.w.Len(), p.w.Refs(), all, refs)
	}
	least, first, removed := int64(math.MaxInt64), int64(math.MaxInt64), false
	for tier := range tiers {
		q := &p.m[tier]
		earliest := int64(math.MaxInt64)
		if len(q.timers) > 0 {
			earliest = q.timers[0].deadline
		}
		next := p.w.NextOf(tier)
		least, first, removed = min(least, next), min(first, earliest), removed || q.removed
		if next > earliest {
			p.t.Fatalf("NextOf(%d) is %d, after the earliest deadline %d: its owner would oversleep", tier, next, earliest)
		}
		lead := int64(0) // for steps that are to be done before
		if p.most > wheel.AtOnce() {
			lead = 2 * int64(p.most) * wheel.Lead
		}
		if uint64(earliest-next) > uint64(lead) && !q.removed {
			p.t.Fatalf("NextOf(%d) is %d, the earliest deadline %d, and nothing was removed", tier, next, earliest)
		}
	}
	if next := p.w.Next(); next != least {
		p.t.Fatalf("Next is %d, the least of NextOf %d", next, least)
	}
	if got := p.w.Earliest(); got > first || got != first && !removed {
		p.t.Fatalf("Earliest is %d, want %d; removed: %t", got, first, removed)
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

// play runs a script: three bytes say what to do, and with which tier, eight more how far. The length of the script says how
// many timers the wheel deals out at once.
func (p *pair) play(script []byte) {
	defer wheel.SetAtOnce(1 + len(script)/11%5)()
	p.parts = true
	for len(script) >= 11 {
		op, tier, kind, flag := script[0]%16, wheel.Tier(script[0]/16)%tiers, script[1], script[2]
		v := int64(binary.LittleEndian.Uint64(script[3:]) & math.MaxInt64)
		script = script[11:]
		pick := func() uint64 {
			if timers := p.m[tier].timers; len(timers) > 0 && flag%4 > 0 {
				return timers[v%int64(len(timers))].id
			}
			if len(p.ids) > 0 && flag%8 > 0 {
				return p.ids[v%int64(len(p.ids))] // mostly stale
			}
			return uint64(v) << (flag / 8 % 3)
		}
		switch op {
		case 0, 1, 2, 3, 4, 5:
			p.insert(tier, p.deadline(kind, v), flag&1 == 0)
		case 6: // a burst within a tick, in about the order of the deadlines or in none
			if len(p.m[tier].timers) > 100 {
				continue // the model is slow
			}
			step := []int64{0, 1, wheel.Tick / 64, wheel.Tick / 3}[flag%4]
			for i := range v % 40 {
				if at := p.now + (i*step+(v>>8)*i%(1+int64(kind)/8))%wheel.Tick; at >= 0 {
					p.insert(tier, at, flag&16 == 0)
				}
			}
		case 7, 8:
			p.remove(pick())
		case 9:
			p.setRef(pick(), flag&16 == 0)
		case 10: // a phase that also inserts
			before := p.w.Seq()
			for p.pop(tier, before) {
				if flag&1 == 0 && p.w.Seq() < before+8 {
					p.insert(tier, p.deadline(kind+1, v), true)
				}
			}
		case 11: // what is due, up to some
			for range v % 8 {
				p.pop(tier, p.w.Seq())
			}
		case 12: // the owner slept until Next
			if next := p.w.Next(); next > p.now && next < math.MaxInt64 {
				p.now = next
			}
			for tier := range tiers {
				p.popAll(tier)
			}
		case 13, 14: // the clock went on by whatever it took, and the other tiers wait
			if to := p.deadline(kind, v); to > p.now && (to < math.MaxInt64/2 || kind > 250) {
				p.now = to
			}
			p.popAll(tier)
		case 15:
			p.pop(tier, uint64(v)%(p.w.Seq()+1))
		}
	}
	p.drain()
}

// drain pops all that can come due, sleeping as an owner would, then removes the rest.
func (p *pair) drain() {
	for p.w.Next() < math.MaxInt64 {
		p.now = max(p.now, p.w.Next())
		for tier := range tiers {
			p.popAll(tier)
		}
	}
	for tier := range tiers {
		for len(p.m[tier].timers) > 0 {
			p.remove(p.m[tier].timers[0].id)
		}
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
		newPair(t).play(randomScript(seed, 1500+int(seed%5)))
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
	var tiered []byte // all in one tick, each tier in another order, then tier by tier
	for v := range uint64(60) {
		tiered = append(tiered, one(byte(v%3)<<4, 0, 0, v%3*1000+(v*(v%3*8+1))%61)...)
	}
	for tier := range byte(3) {
		tiered = append(tiered, one(9|tier<<4, 0, 17, 5)...)
		tiered = append(tiered, one(7|tier<<4, 0, 1, 5)...)
		tiered = append(tiered, one(14|tier<<4, 1, 0, 1200)...)
	}
	f.Add(tiered)
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 11*300 {
			t.Skip("too long for the slow model")
		}
		newPair(t).play(script)
	})
}
