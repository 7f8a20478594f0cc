package threadlet

// What tests need to know of the package.

const MostIdle = mostIdle

// FindsRemoved tells whether a coroutine with the given identity is found after its removal.
func FindsRemoved(id uintptr) bool {
	var tab table
	c := &coroutine{id: id}
	tab.add(c)
	tab.remove(c)
	return tab.find(id) != nil
}
