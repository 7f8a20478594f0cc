//go:build darwin || openbsd

package threadlet_test

// The options of sockets that tests of keep-alive read, where there are none.

// probes are options that systems have which do not say when a silent peer is probed, or say it in another way.
var probes = [2]int{1, 1} // TCP_NODELAY
