// Package sched lets a test decide which goroutine goes on, wherever goroutines meet.
//
// Code takes its atomics from package sched/atomic and its mutexes from here, and says with the functions of this
// package where it blocks, yields, starts a goroutine, or reads the clock. In an ordinary build the types are those of
// sync and sync/atomic, and the functions are nothing, or the plain thing. With the build tag schedules each of them is
// a point at which a schedule, see [Bounded] and [Random] there, may let another goroutine go on. Goroutines that no
// schedule has started pass through.
package sched
