// Package threadlet runs straight-line code that waits, on an event loop and without blocking it.
//
// A threadlet is a coroutine that only its loop resumes. [Go] starts one. It runs until it waits for something ([Yield],
// [Sleep], [Await], [Do], [Threadlet.Join], a [Mutex], a [Cond], a [Chan], a [Conn]); while it waits, the loop does other
// work. It never moves to another loop.
//
// # Threading rule
//
// The threadlets and the callbacks of one loop run one at a time, and a threadlet gives way only where it waits: data that
// only they touch needs no lock. [eventloop.Loop.OnLoop] is true in a threadlet, and a threadlet may do whatever a callback
// may: submit tasks, schedule timers and microtasks, use promises.
//
// A function that waits suspends the threadlet that calls it. It returns [ErrNotThreadlet] to every other caller, also to a
// coroutine (iter.Pull) that a threadlet has made. [Go], [Threadlet.Join] and [Threadlet.Signal] may be called from any
// goroutine.
//
// A threadlet that computes for long keeps the loop from everything else, as a callback does, and nothing interrupts it.
// It should call [Yield] now and then, or move the work to another goroutine with [Do]. Anything else that blocks a
// goroutine blocks the loop: a Go channel, or a sync.Mutex that another threadlet holds while it waits.
//
// # What ends a wait
//
// A wait ends with its event, with [ErrSignaled] after [Threadlet.Signal], or with eventloop.ErrLoopTerminated at the end
// of the loop. When several come at once, the first that the loop sees counts: a wait ends once. A signal to a threadlet
// that is running ends its next wait.
//
// # How threadlets end
//
// When the function returns, panics or calls runtime.Goexit (as t.FailNow does), the threadlet ends and the loop goes on.
// A panic is reported as that of a callback is, with the stack of its origin, and [Threadlet.Join] returns it.
//
// A loop that is shut down first runs everything that it has accepted. Then each wait that is left, and each later one, returns
// eventloop.ErrLoopTerminated. A loop that is closed comes to that point at once, and threadlets that have not begun do not
// begin. A threadlet that waits a thousand times more is unwound: a panic of this package's own runs its deferred functions and
// ends it, or, if it recovers a thousand of these panics, runtime.Goexit. The loop has ended when all of its threadlets have.
//
// A loop with eventloop.WithAutoExit ends although threadlets wait, if nothing can end their waits: a deadlock. It logs that
// once, with what each threadlet waits for and its stack; then the waits end as above. A loop without WithAutoExit cannot
// tell, because anybody may submit something: [Threadlets] shows who waits.
//
// # Memory
//
// A threadlet that waits keeps the largest stack that it has needed, and so does the next one on its coroutine: two kilobytes,
// doubled whenever that was not enough. So a buffer belongs on the heap. A local array, and a make of a constant size, are on
// the stack if the compiler sees that they do not escape, as it does when they are passed to a [Conn], but not to a net.Conn.
// Tracing the stack of a threadlet ([Threadlets], the report of a deadlock) needs more of it than most code does.
//
// # Threads and goroutines
//
// A threadlet runs on a goroutine of its own, which takes turns with that of the loop. Calls of runtime.LockOSThread must be
// undone before the next wait, and, by callbacks of a loop that has threadlets, before the callback returns. A goroutine that is
// locked to its thread may call Run if it stays locked, and a callback may lock the loop's goroutine for good before the first
// threadlet begins; then no threadlet may call runtime.Goexit, nor recover the panics that unwind it until runtime.Goexit ends
// it. If these rules are broken, the runtime ends the program, with "OS thread locking must match locking at coroutine creation".
package threadlet
