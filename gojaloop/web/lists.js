// Lists that scripts and peers can make grow.
(function () {
'use strict'

// Listeners is a list of listeners in their order, with steps of constant cost: a linked list, and its nodes by function. What
// is added twice is in it twice, and its latest is removed first.
class Listeners {
	first = null
	last = null
	size = 0
	#nodes = new Map() // by function the latest node, which links to the earlier ones
	#all = null // what all returns, until the list changes
	add(f, node = { f }, front = false) {
		node.f = f
		node.removed = false
		node.before = front ? null : this.last
		node.after = front ? this.first : null
		node.earlier = node.later = null
		if (node.before) node.before.after = node
		else this.first = node
		if (node.after) node.after.before = node
		else this.last = node
		const other = this.#nodes.get(f)
		if (other) {
			node.earlier = other
			other.later = node
		}
		this.#nodes.set(f, node)
		this.size++
		this.#all = null
		return node
	}
	find(f) { return this.#nodes.get(f) }
	remove(node) {
		if (node.removed) return
		node.removed = true
		if (node.before) node.before.after = node.after
		else this.first = node.after
		if (node.after) node.after.before = node.before
		else this.last = node.before
		if (node.earlier) node.earlier.later = node.later
		if (node.later) node.later.earlier = node.earlier
		else if (node.earlier) this.#nodes.set(node.f, node.earlier)
		else this.#nodes.delete(node.f)
		this.size--
		this.#all = null
	}
	// all returns the nodes of now, for a dispatch during which the list may change. It must not be written to.
	all() {
		if (this.#all === null) {
			this.#all = []
			for (let n = this.first; n !== null; n = n.after) this.#all.push(n)
		}
		return this.#all
	}
}

// Queue is a first-in first-out list with steps of constant cost.
class Queue {
	#in = []
	#out = []
	get length() { return this.#in.length + this.#out.length }
	push(v) { this.#in.push(v) }
	shift() {
		if (this.#out.length === 0) {
			this.#out = this.#in.reverse()
			this.#in = []
		}
		return this.#out.pop()
	}
	clear() { const all = [...this.#out.reverse(), ...this.#in]; this.#in = []; this.#out = []; return all }
}

return { Listeners, Queue }
})
