package js_test

// Random programs, in Go and in JavaScript, whose order is compared with that of Node.

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/turnloop/turnloop/eventloop"
)

// step is a statement of a random program; each language has an interpreter for it. A and B are numbers to say, or choose
// among the promises that there are by then.
type step struct {
	Do     string
	A, B   int
	Result string // of a handler: value, error or promise
	Body   []step // of a callback or handler
}

// kinds are the statements, each as often as it is to be chosen.
var kinds = strings.Fields("say tick tick job job soon after new new resolve resolve resolve reject follow follow" +
	" then then then then both catch catch finally all allSettled race any resolved rejected")

func randomSteps(r *rand.Rand, depth int) (steps []step) {
	for range 3 + r.IntN(9-2*depth) {
		s := step{Do: kinds[r.IntN(len(kinds))], A: r.IntN(100), B: r.IntN(100)}
		switch s.Do {
		case "after":
			if depth > 0 {
				continue // or the program would not decide which of several timers is due
			}
			fallthrough
		case "tick", "job", "soon", "then", "both", "catch", "finally":
			if depth < 3 {
				s.Body = randomSteps(r, depth+1)
			}
			s.Result = []string{"value", "value", "error", "promise"}[r.IntN(4)]
		}
		steps = append(steps, s)
	}
	return steps
}

// interpreter is the one in JavaScript. Promises wait only for such as are older, so there are no cycles.
const interpreter = `
const ps = [], noop = () => {};
const add = (p, resolve = noop, reject = noop) => { ps.push({ p, resolve, reject }) };
const show = v => v === undefined ? 'nil' : Array.isArray(v) ? '[' + v.map(show).join(' ') + ']' :
	v instanceof Error ? v.message : v.status ? show(v.value ?? v.reason) : String(v);
function run(steps) {
	for (const s of steps) {
		const q = ps[s.A % ps.length], r = ps[s.B % ps.length], age = ps.length;
		const call = () => { log(s.Do + s.A); run(s.Body ?? []) };
		const handle = v => {
			log(s.Do + s.A + ' ' + show(v)); run(s.Body ?? []);
			if (s.Result == 'error') fail('e' + s.B);
			return s.Result == 'promise' ? ps[s.B % age].p : s.B;
		};
		switch (s.Do) {
		case 'say': log('say' + s.A); break;
		case 'tick': tick(call); break;
		case 'job': job(call); break;
		case 'soon': soon(call); break;
		case 'after': after(5, call); break;
		case 'new': add(...resolvers()); break;
		case 'resolve': q.resolve(s.B); break;
		case 'reject': q.reject(new Error('e' + s.B)); break;
		case 'follow': if (s.A % age) q.resolve(ps[s.B % (s.A % age)].p); break;
		case 'then': add(q.p.then(handle)); break;
		case 'both': add(q.p.then(handle, handle)); break;
		case 'catch': add(q.p.catch(handle)); break;
		case 'finally': add(q.p.finally(() => { call(); if (s.Result == 'error') fail('e' + s.B) })); break;
		case 'all': case 'allSettled': case 'race': case 'any': add(Promise[s.Do]([q.p, r.p])); break;
		case 'resolved': add(Promise.resolve(s.A % 2 ? r.p : s.B)); break;
		case 'rejected': add(failed('e' + s.B)); break;
		}
	}
}
const script = steps => io(() => { add(...resolvers()); run(steps); busy(20) });
`

// settler is a promise, and what settles it.
type settler struct {
	p       *eventloop.Promise
	resolve func(any)
	reject  func(error)
}

// machine is the interpreter in Go.
type machine struct {
	*world
	ps []settler
}

// over tells whether only pending promises are left, whose handlers a loop that ends calls and Node does not.
func (m *machine) ended() bool { return m.loop.State() != eventloop.StateRunning }

func (m *machine) say(s string) {
	if !m.ended() {
		m.world.say(s)
	}
}

func (m *machine) add(p *eventloop.Promise) {
	m.ps = append(m.ps, settler{p, func(any) {}, func(error) {}})
}

func (m *machine) addNew() {
	p, resolve, reject := m.WithResolvers()
	m.ps = append(m.ps, settler{p, resolve, reject})
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = show(v[i])
		}
		return "[" + strings.Join(words, " ") + "]"
	case []eventloop.Result:
		words := make([]any, len(v))
		for i := range v {
			if words[i] = v[i].Value; v[i].Err != nil {
				words[i] = v[i].Err
			}
		}
		return show(words)
	case *eventloop.AggregateError:
		return "All promises were rejected"
	}
	return fmt.Sprint(v)
}

func (m *machine) script(steps []step) {
	m.io(func() {
		m.addNew()
		m.exec(steps)
		m.busy(20)
	})
}

func (m *machine) exec(steps []step) {
	if m.ended() {
		return
	}
	for _, s := range steps {
		age := len(m.ps)
		q, r := m.ps[s.A%age], m.ps[s.B%age]
		word, failure := s.Do+fmt.Sprint(s.A), fmt.Errorf("e%d", s.B)
		call := func() { m.say(word); m.exec(s.Body) }
		handle := func(v any) (any, error) {
			m.say(word + " " + show(v))
			m.exec(s.Body)
			switch s.Result {
			case "error":
				return nil, failure
			case "promise":
				return m.ps[s.B%age].p, nil
			}
			return s.B, nil
		}
		handleError := func(err error) (any, error) { return handle(err) }
		switch s.Do {
		case "say":
			m.say(word)
		case "tick":
			m.tick(call)
		case "job":
			m.microtask(call)
		case "soon":
			m.immediate(call)
		case "after":
			m.timeout(5, call)
		case "new":
			m.addNew()
		case "resolve":
			q.resolve(s.B)
		case "reject":
			q.reject(failure)
		case "follow":
			if s.A%age != 0 {
				q.resolve(m.ps[s.B%(s.A%age)].p)
			}
		case "then":
			m.add(q.p.Then(handle, nil))
		case "both":
			m.add(q.p.Then(handle, handleError))
		case "catch":
			m.add(q.p.Catch(handleError))
		case "finally":
			m.add(q.p.Finally(func() error {
				if call(); s.Result == "error" {
					return failure
				}
				return nil
			}))
		case "all":
			m.add(m.All(q.p, r.p))
		case "allSettled":
			m.add(m.AllSettled(q.p, r.p))
		case "race":
			m.add(m.Race(q.p, r.p))
		case "any":
			m.add(m.Any(q.p, r.p))
		case "resolved":
			if s.A%2 != 0 {
				m.add(m.Resolve(r.p))
			} else {
				m.add(m.Resolve(s.B))
			}
		case "rejected":
			m.add(m.Reject(failure))
		default:
			panic(s.Do)
		}
	}
}

func randomLog(t *testing.T, steps []step) (log []string) {
	synctest.Test(t, func(t *testing.T) {
		m := new(machine)
		m.world = newWorld(t, eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) {
			m.say("unhandled " + show(err))
		}))
		m.run(func() { m.script(steps) })
		log = m.log
	})
	return log
}

func sumOf(log []string) uint32 { return crc32.ChecksumIEEE([]byte(strings.Join(log, "\n"))) }

// Random programs run in Node's order. The sums are of what Node logged; TURNLOOP_NODE=1 asks it again.
func TestRandomOrder(t *testing.T) {
	for seed, sum := range randomSums {
		log := randomLog(t, randomSteps(rand.New(rand.NewPCG(uint64(seed), 0)), 0))
		if sumOf(log) != sum {
			t.Errorf("program %d is not what Node logged: %q", seed, log)
		}
	}
}

func TestRandomOrderOfNode(t *testing.T) {
	node := nodePath(t)
	for seed, sum := range randomSums {
		steps := randomSteps(rand.New(rand.NewPCG(uint64(seed), 0)), 0)
		source, err := json.Marshal(steps)
		if err != nil {
			t.Fatal(err)
		}
		log, want := randomLog(t, steps), runNode(t, node, interpreter+"script("+string(source)+")")
		if !slices.Equal(log, want) {
			t.Errorf("program %d: %s\ngot  %q\nwant %q", seed, source, log, want)
		} else if got := sumOf(want); got != sum {
			t.Errorf("program %d has the sum %#x", seed, got)
		}
	}
}

// randomSums are the checksums of the logs, by the seed of the program.
var randomSums = []uint32{
	0x147bef26, 0xcca1da19, 0x0c17ae6a, 0x2576cdda, 0x9114bd4f, 0x7f491a7e, 0xe56b57c5, 0x3c618f8b,
	0xb4fa7d78, 0x9f617db1, 0xf5b79c68, 0xfe97e578, 0xbac4d4af, 0xfb6a1fa6, 0x4fc8ccfb, 0xaeb54adb,
	0xc204072a, 0xdb2b28d9, 0x2a94b549, 0x0, 0x8d610ba7, 0x5433d36b, 0x4ab684dd, 0x217f4762,
	0xa5bf2e06, 0xee4330a4, 0xc4b0ac0a, 0xf1bbf679, 0x3981df9a, 0x70c893fb, 0x8b8db5a9, 0x55a344ee,
	0x0f50dcb6, 0xd6e1e6f4, 0xe777c328, 0x74f12b49, 0x9d8bb4d6, 0xc838178f, 0xa511864c, 0x522ffb61,
	0xb2431746, 0xe9378f46, 0x1fd42efd, 0xbcdaca72, 0xb85716ee, 0x0, 0xb4a80259, 0xadeb11ab,
	0xf0a9a841, 0x1b55e6e4, 0x45831dd5, 0xa6e3b7fe, 0x8779c252, 0x78f4f57b, 0xf0cfca33, 0xc115bd15,
	0x88d661db, 0x5ca808f8, 0xdfefae1a, 0xb4c03475, 0xcf27c26b, 0x4829f7d5, 0x34851108, 0x7fb4c22a,
}
