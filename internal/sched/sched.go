// Package sched lets a test decide which goroutine runs next, wherever goroutines share memory.
//
// Code under test takes its atomics from package sched/atomic and its mutexes from here, and calls the functions of this
// package where it blocks, yields, starts a goroutine, or reads the clock. In an ordinary build the types are those of
// sync and sync/atomic, and the functions do nothing or call the standard library. With the build tag schedules each of
// them is a point at which a schedule may let another goroutine run; see [Bounded] and [Random]. Goroutines that no
// schedule has started pass the points unhindered.
package sched
