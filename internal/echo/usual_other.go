//go:build !linux

package echo

// Usual is the name of the leanest client.
const Usual = Net
