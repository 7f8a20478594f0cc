package park_test

// What an exploration asks of its states and steps when it has them all.

import "slices"

// graph has the steps of all states: those from state i are the ones before until[i], and behind those of the state before.
type graph struct {
	to    []int32
	marks []marks
	until []int32
}

// marks tell steps apart.
type marks uint8

// cycle is a way to go on for ever that must not be: round and round by steps that all have the marks in all, and of
// which one has those in one.
type cycle struct {
	all, one marks
	wrong    string
}

func (m marks) have(all marks) bool { return m&all == all }

func (g *graph) steps(at int32) (begin, end int32) {
	if at > 0 {
		begin = g.until[at-1]
	}
	return begin, g.until[at]
}

// lost returns the first state from which no end can be reached, or -1.
func (g *graph) lost(ends []int32) int32 {
	// The same graph with its arrows turned round.
	begin := make([]int32, len(g.until)+1)
	for _, to := range g.to {
		begin[to+1]++
	}
	for i := range g.until {
		begin[i+1] += begin[i]
	}
	fill, back := slices.Clone(begin), make([]int32, len(g.to))
	at := int32(0)
	for i, end := range g.until {
		for ; at < end; at++ {
			back[fill[g.to[at]]] = int32(i)
			fill[g.to[at]]++
		}
	}

	good := make([]bool, len(g.until))
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

// find returns the states of a cycle, of which the first is also the last; nil if there is none.
func (g *graph) find(c cycle) []int32 {
	component := g.components(c.all)
	at := int32(0)
	for from, end := range g.until {
		for ; at < end; at++ {
			if to := g.to[at]; component[to] == component[from] && g.marks[at].have(c.all|c.one) {
				return append([]int32{int32(from)}, g.way(c.all, component, to, int32(from))...)
			}
		}
	}
	return nil
}

// components tells which states can be reached from each other by steps with marks: they have the same number. (The
// algorithm is Tarjan's, without recursion.)
func (g *graph) components(all marks) []int32 {
	number := make([]int32, len(g.until)) // in the order of visits; of states whose component is known, less than zero
	type visit struct{ at, edge, low int32 }
	var visits []visit
	var open []int32
	visited, components := int32(0), int32(0)
	enter := func(at int32) {
		visited++
		number[at] = visited
		open = append(open, at)
		edge, _ := g.steps(at)
		visits = append(visits, visit{at, edge, visited})
	}
	for root := range g.until {
		if number[root] != 0 {
			continue
		}
		enter(int32(root))
		for len(visits) > 0 {
			v := &visits[len(visits)-1]
			if v.edge < g.until[v.at] {
				to, goes := g.to[v.edge], g.marks[v.edge].have(all)
				v.edge++
				switch {
				case !goes:
				case number[to] == 0:
					enter(to)
				case number[to] > 0:
					v.low = min(v.low, number[to])
				}
				continue
			}
			done := *v
			visits = visits[:len(visits)-1]
			if len(visits) > 0 {
				v := &visits[len(visits)-1]
				v.low = min(v.low, done.low)
			}
			if done.low == number[done.at] {
				components--
				for member := int32(-1); member != done.at; {
					member = open[len(open)-1]
					open = open[:len(open)-1]
					number[member] = components
				}
			}
		}
	}
	return number
}

// way returns the states of a shortest way within a component, both ends included.
func (g *graph) way(all marks, component []int32, from, to int32) (path []int32) {
	before := map[int32]int32{from: from}
	for todo := []int32{from}; ; todo = todo[1:] {
		at := todo[0]
		if at == to {
			break
		}
		for edge, end := g.steps(at); edge < end; edge++ {
			next := g.to[edge]
			if _, known := before[next]; !known && component[next] == component[at] && g.marks[edge].have(all) {
				before[next] = at
				todo = append(todo, next)
			}
		}
	}
	for at := to; ; at = before[at] {
		path = append(path, at)
		if at == from {
			slices.Reverse(path)
			return path
		}
	}
}
