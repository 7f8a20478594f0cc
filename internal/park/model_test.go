package park_test

// An explorer of small concurrent models: it visits every state that any interleaving can reach.

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
)

// model is a set of actors that take steps in any order. A state is a value: comparable, without pointers.
type model[S comparable] interface {
	initial() S
	// steps yields every step that some actor can take from a state.
	steps(from S, yield func(step[S]))
	// same maps states that differ only by who of several equal actors is which to one of them.
	same(S) S
	// rest tells what is wrong with a state in which nobody can take a step; "" if nothing is.
	rest(S) (wrong string)
	// endless are the ways in which nobody may go on for ever.
	endless() []cycle
	name(actor int) string
	describe(S) string
}

type step[S comparable] struct {
	actor int
	does  string
	to    S
	wrong string // what the step violates, if anything
	marks marks
}

// exploration is what an exploration has found.
type exploration[S comparable] struct {
	states, ends int
	wrong        string // what is violated first; "" if nothing is
	trace        []step[S]
	round        int // so many steps at the end of the trace go on for ever
}

// explore visits all states breadth first, so that what it finds wrong it finds by the fewest steps. Besides what the
// model says is wrong it wants a way to rest from every state: where there is none, everybody is stuck, or busy for ever.
// Last it looks for cycles.
func explore[S comparable](m model[S]) exploration[S] { return exploreSome(m, math.MaxInt) }

// exploreSome is explore that goes no further than to so many states; then it does not know which ways lead to rest.
func exploreSome[S comparable](m model[S], most int) exploration[S] {
	first := m.same(m.initial())
	var states list[S]
	states.add(first)
	parents := []int32{0}
	seed := maphash.MakeSeed()
	found := map[uint64]int32{maphash.Comparable(seed, first): 0}
	var g graph
	var ends []int32
	way := func(at int32) (path []S) {
		for ; at != 0; at = parents[at] {
			path = append(path, states.at(at))
		}
		slices.Reverse(path)
		return path
	}
	for at := int32(0); int(at) < states.n; at++ {
		if states.n >= most {
			return exploration[S]{states: states.n, ends: len(ends)}
		}
		from := states.at(at)
		var wrong *step[S]
		before := len(g.to)
		m.steps(from, func(s step[S]) {
			s.to = m.same(s.to)
			if s.wrong != "" && wrong == nil {
				first := s
				wrong = &first
			}
			hash := maphash.Comparable(seed, s.to)
			to, known := found[hash]
			if !known {
				to = int32(states.n)
				found[hash] = to
				states.add(s.to)
				parents = append(parents, at)
			} else if states.at(to) != s.to {
				panic("two states have one hash: run it again, with another seed")
			}
			g.to, g.marks = append(g.to, to), append(g.marks, s.marks)
		})
		g.until = append(g.until, int32(len(g.to)))
		if wrong != nil {
			return exploration[S]{states: states.n, wrong: wrong.wrong, trace: append(retrace(m, way(at)), *wrong)}
		}
		if len(g.to) == before {
			if wrong := m.rest(from); wrong != "" {
				return exploration[S]{states: states.n, wrong: wrong, trace: retrace(m, way(at))}
			}
			ends = append(ends, at)
		}
	}
	if at := g.lost(ends); at >= 0 {
		return exploration[S]{states: states.n, wrong: "from here nothing ever comes to rest", trace: retrace(m, way(at))}
	}
	for _, c := range m.endless() {
		if round := g.find(c); round != nil {
			path := way(round[0])
			for _, at := range round[1:] {
				path = append(path, states.at(at))
			}
			return exploration[S]{states: states.n, wrong: c.wrong, trace: retrace(m, path), round: len(round) - 1}
		}
	}
	return exploration[S]{states: states.n, ends: len(ends)}
}

// list is a slice that does not move what it holds, which may be gigabytes.
type list[S any] struct {
	chunks [][]S
	n      int
}

const listChunk = 1 << 14

func (l *list[S]) add(s S) {
	if l.n%listChunk == 0 {
		l.chunks = append(l.chunks, make([]S, 0, listChunk))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, s)
	l.n++
}

func (l *list[S]) at(i int32) S { return l.chunks[i/listChunk][i%listChunk] }

// retrace finds the steps that lead through states, in which equal actors may have changed places, with each actor in
// one place.
func retrace[S comparable](m model[S], path []S) (trace []step[S]) {
	at := m.initial()
	for _, to := range path {
		var next *step[S]
		m.steps(at, func(s step[S]) {
			if next == nil && m.same(s.to) == to {
				found := s
				next = &found
			}
		})
		trace = append(trace, *next)
		at = next.to
	}
	return trace
}

// report prints a trace, one line for each step.
func report[S comparable](m model[S], found exploration[S]) string {
	var b strings.Builder
	for i, s := range found.trace {
		if i > 0 && i == len(found.trace)-found.round {
			b.WriteString("      and from here on the same for ever:\n")
		}
		fmt.Fprintf(&b, "%4d  %d %-11s %-68s %s\n", i+1, s.actor, m.name(s.actor), s.does, m.describe(s.to))
	}
	fmt.Fprintf(&b, "      %s", found.wrong)
	return b.String()
}
