package eventloop_test

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
	name(actor int) string
	describe(S) string
}

type step[S comparable] struct {
	actor int
	does  string
	to    S
	wrong string // what the step violates, if anything
}

// exploration is what an exploration has found.
type exploration[S comparable] struct {
	states, ends int
	wrong        string // what is violated first; "" if nothing is
	trace        []step[S]
}

// explore visits all states breadth first, so that what it finds wrong it finds by the fewest steps. Besides what the
// model says is wrong it wants a way to rest from every state: where there is none, everybody is stuck, or busy for ever.
func explore[S comparable](m model[S]) exploration[S] { return exploreSome(m, math.MaxInt) }

// exploreSome is explore that goes no further than to so many states; then it does not know which ways lead to rest.
func exploreSome[S comparable](m model[S], most int) exploration[S] {
	first := m.same(m.initial())
	states, parents := []S{first}, []int32{0}
	seed := maphash.MakeSeed()
	found := map[uint64]int32{maphash.Comparable(seed, first): 0}
	var edges []int32 // the successors of all states
	var until []int32 // where in edges those of each state end
	var ends []int32
	trace := func(at int32) []step[S] {
		var path []S
		for ; at != 0; at = parents[at] {
			path = append(path, states[at])
		}
		slices.Reverse(path)
		return retrace(m, path)
	}
	for at := int32(0); int(at) < len(states); at++ {
		if len(states) >= most {
			return exploration[S]{states: len(states), ends: len(ends)}
		}
		from := states[at]
		var wrong *step[S]
		before := len(edges)
		m.steps(from, func(s step[S]) {
			s.to = m.same(s.to)
			if s.wrong != "" && wrong == nil {
				first := s
				wrong = &first
			}
			hash := maphash.Comparable(seed, s.to)
			to, known := found[hash]
			if !known {
				to = int32(len(states))
				found[hash] = to
				states, parents = append(states, s.to), append(parents, at)
			} else if states[to] != s.to {
				panic("two states have one hash: run it again, with another seed")
			}
			edges = append(edges, to)
		})
		until = append(until, int32(len(edges)))
		if wrong != nil {
			return exploration[S]{states: len(states), wrong: wrong.wrong, trace: append(trace(at), *wrong)}
		}
		if len(edges) == before {
			if wrong := m.rest(from); wrong != "" {
				return exploration[S]{states: len(states), wrong: wrong, trace: trace(at)}
			}
			ends = append(ends, at)
		}
	}
	if at := lost(edges, until, ends); at >= 0 {
		return exploration[S]{states: len(states), wrong: "from here nothing ever comes to rest", trace: trace(at)}
	}
	return exploration[S]{states: len(states), ends: len(ends)}
}

// lost returns the first state from which no end can be reached, or -1. The successors of state i are those before
// until[i] in edges.
func lost(edges, until, ends []int32) int32 {
	// The same graph with its arrows turned round.
	begin := make([]int32, len(until)+1)
	for _, to := range edges {
		begin[to+1]++
	}
	for i := range until {
		begin[i+1] += begin[i]
	}
	fill, back := slices.Clone(begin), make([]int32, len(edges))
	at := int32(0)
	for i, end := range until {
		for ; at < end; at++ {
			back[fill[edges[at]]] = int32(i)
			fill[edges[at]]++
		}
	}

	good := make([]bool, len(until))
	for todo := ends; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !good[at] {
			good[at] = true
			todo = append(todo, back[begin[at]:begin[at+1]]...)
		}
	}
	return int32(slices.Index(good, false))
}

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
		fmt.Fprintf(&b, "%4d  %d %-11s %-68s %s\n", i+1, s.actor, m.name(s.actor), s.does, m.describe(s.to))
	}
	fmt.Fprintf(&b, "      %s", found.wrong)
	return b.String()
}
