//go:build !linux

package echo

// The usual client on systems other than Linux.

// Usual is the name of the leanest client.
const Usual = Net
