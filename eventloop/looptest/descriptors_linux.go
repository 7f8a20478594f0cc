// What only Linux has: a signal to one thread.
package looptest

import "golang.org/x/sys/unix"

func signalThread(pid, id int) error { return unix.Tgkill(pid, id, unix.SIGURG) }
