//go:build freebsd || linux

package threadlet

// Accepting a connection where one system call does all of it.

import "golang.org/x/sys/unix"

func acceptNonblock(fd int) (int, unix.Sockaddr, error) {
	return unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}
