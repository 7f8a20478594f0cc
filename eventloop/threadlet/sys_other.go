//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package threadlet

// Systems whose sockets this package does not know. sysDup fails, so there are no descriptors, and nothing else is called.

import (
	"errors"
	"net"
)

const shutRead, shutWrite = 0, 1

func sysDup(uintptr) (int, error)                          { return 0, errors.ErrUnsupported }
func sysRead(int, []byte) (n int, again bool, err error)   { return 0, false, errors.ErrUnsupported }
func sysWrite(int, []byte) (n int, again bool, err error)  { return 0, false, errors.ErrUnsupported }
func sysAccept(int, *Conn) (fd int, again bool, err error) { return 0, false, errors.ErrUnsupported }
func sysShutdown(int, int) error                           { return errors.ErrUnsupported }
func sysClose(int) error                                   { return errors.ErrUnsupported }
func passes(error) bool                                    { return false }
func keepAlive(*net.TCPListener, net.KeepAliveConfig)      {}
