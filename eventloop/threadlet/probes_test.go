//go:build dragonfly || freebsd || linux || netbsd

package threadlet_test

// The options of sockets that tests of keep-alive read.

import "golang.org/x/sys/unix"

// probes are the options that say when and how often a silent peer is probed.
var probes = [2]int{unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL}
