//go:build !linux

package echo

// Usual is the leanest client.
const Usual = Net
