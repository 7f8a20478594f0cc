package threadlet

// What tests need to know of the package.

import "net"

// FailAccepts has attempts to accept fail as long as next returns an error.
func FailAccepts(ln net.Listener, next func() error) {
	own := ln.(*listener)
	system := own.sys
	own.sys = func(fd int, c *Conn) (int, bool, error) {
		if err := next(); err != nil {
			return 0, false, err
		}
		return system(fd, c)
	}
}

const MostIdle = mostIdle

// SlotsAfter returns how many slots a table has when n coroutines have come and gone beside one, and whether it finds that one.
func SlotsAfter(n int) (slots int, found bool) {
	var tab table
	stays := &coroutine{id: 7}
	all := make([]coroutine, n)
	for i := range all {
		if all[i].id = uintptr(1+i) * 8; i == n/2 {
			tab.add(stays)
		}
		tab.add(&all[i])
	}
	for i := range all {
		tab.remove(&all[i])
	}
	return len(tab.slots.Load().of), tab.find(stays.id) == stays
}

// FindsRemoved tells whether a coroutine with the given identity is found after its removal.
func FindsRemoved(id uintptr) bool {
	var tab table
	c := &coroutine{id: id}
	tab.add(c)
	tab.remove(c)
	return tab.find(id) != nil
}
