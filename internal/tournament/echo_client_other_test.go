//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tournament_test

const usualClient = netClient
