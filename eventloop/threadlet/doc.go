// Package threadlet runs straight-line code that waits, on an event loop and without blocking it.
//
// A threadlet is a coroutine that only its loop resumes. [Go] starts one; it runs until it waits for something
// ([Yield], [Sleep], [Await], [Do], [Threadlet.Join], a [Mutex], a [Cond], a [Chan]), and meanwhile the loop does other
// things. It never moves to another loop.
//
// # Threading rule
//
// Threadlets of one loop, and its callbacks, run one at a time, and one that runs is interrupted only where it waits: what
// only they touch needs no lock. [eventloop.Loop.OnLoop] is true in a threadlet, and whatever callbacks may do, it may do:
// submit tasks, schedule timers and microtasks, use promises.
//
// Functions that wait do so for the threadlet that calls them, and return [ErrNotThreadlet] to anybody else, also in a
// coroutine (iter.Pull) of the threadlet's own. [Go], [Threadlet.Join] and [Threadlet.Signal] may be called from any
// goroutine.
//
// A threadlet that computes for long keeps the loop from everything else, as a callback does, and nothing interrupts it:
// it calls [Yield] now and then, or has it done elsewhere with [Do]. Whatever else blocks a goroutine, a channel, a
// sync.Mutex that another threadlet holds while it waits, blocks the loop.
//
// # What ends a wait
//
// What it waits for, [Threadlet.Signal] with [ErrSignaled], or the end of the loop with eventloop.ErrLoopTerminated. When
// several come at once, the first that the loop sees counts: a wait ends once. A signal that finds its threadlet running
// ends the next wait.
//
// # How threadlets end
//
// When the function returns, panics or calls runtime.Goexit (as t.FailNow does), the threadlet ends and the loop goes on.
// A panic is reported as that of a callback is, with the stack of its origin, and [Threadlet.Join] returns it.
//
// A loop that is shut down runs everything that it has accepted; a threadlet that still waits then hears
// eventloop.ErrLoopTerminated, from this wait and from all that follow. So it does, without anything else being run,
// when the loop is closed; those that have not begun do not begin then. Whoever goes on waiting a thousand times more is
// unwound: a panic of this package's own runs its deferred functions and ends it. The loop has ended when all of its
// threadlets have.
//
// # Threads and goroutines
//
// A threadlet runs on a goroutine of its own, one at a time with that of the loop. Calls of runtime.LockOSThread must be
// undone before the next wait. A goroutine that is locked to its thread may call Run, and must stay locked; but then no
// threadlet may call runtime.Goexit. The runtime ends the program if these rules are broken.
package threadlet
