// Lists that scripts and peers can make grow.
(function () {
'use strict'

// Listeners is a list of listeners in their order, with steps of constant cost: a linked list, and its nodes by function. What
// is added twice is in it twice, and the last one is removed first.
class Listeners {
	first = null
	last = null
	size = 0
	#last = new Map() // by function its last node, which links to those before
	#first = new Map() // and its first one
	#all = null // what all returns, until the list changes
	add(f, node = { f }, front = false) {
		node.f = f
		node.removed = false
		node.before = front ? null : this.last
		node.after = front ? this.first : null
		const other = (front ? this.#first : this.#last).get(f)
		node.earlier = front ? null : other
		node.later = front ? other : null
		if (node.earlier) node.earlier.later = node
		if (node.later) node.later.earlier = node
		if (!node.later) this.#last.set(f, node)
		if (!node.earlier) this.#first.set(f, node)
		if (node.before) node.before.after = node
		else this.first = node
		if (node.after) node.after.before = node
		else this.last = node
		this.size++
		this.#all = null
		return node
	}
	find(f) { return this.#last.get(f) }
	remove(node) {
		if (node.removed) return
		node.removed = true
		if (node.before) node.before.after = node.after
		else this.first = node.after
		if (node.after) node.after.before = node.before
		else this.last = node.before
		if (node.earlier) node.earlier.later = node.later
		else node.later ? this.#first.set(node.f, node.later) : this.#first.delete(node.f)
		if (node.later) node.later.earlier = node.earlier
		else node.earlier ? this.#last.set(node.f, node.earlier) : this.#last.delete(node.f)
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
