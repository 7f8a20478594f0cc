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

// Queue is a first-in first-out list with steps of constant cost, also for what is put in front of it.
class Queue {
	#list = []
	#head = 0
	get length() { return this.#list.length - this.#head }
	first() { return this.#list[this.#head] }
	push(v) { this.#list.push(v) }
	unshift(v) { if (this.#head > 0) this.#list[--this.#head] = v; else this.#list.unshift(v) }
	shift() {
		if (this.#head === this.#list.length) return undefined
		const v = this.#list[this.#head]
		this.#list[this.#head++] = undefined
		if (this.#head > 32 && this.#head * 2 > this.#list.length) { this.#list.splice(0, this.#head); this.#head = 0 }
		return v
	}
	clear() { const all = [...this]; this.#list = []; this.#head = 0; return all }
	get head() { return this.#list.slice(this.#head).reduceRight((next, data) => ({ data, next }), null) } // as packages that look into a stream know it
	[Symbol.iterator]() { return this.#list.slice(this.#head)[Symbol.iterator]() }
}

// replaced returns a list of [name, value] with a pair in place of the first one of its name, and without the others of that name.
function replaced(list, pair) {
	const i = list.findIndex(p => p[0] === pair[0])
	return i < 0 ? [...list, pair] : list.map((p, j) => j === i ? pair : p).filter((p, j) => p[0] !== pair[0] || j === i)
}

return { Listeners, Queue, replaced }
})
