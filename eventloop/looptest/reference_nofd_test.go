//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

// Without poll(2) the reference has no descriptors.
package looptest_test

import "time"

type descriptors struct{}

func (l *reference) watching() bool        { return false }
func (l *reference) collect(time.Duration) {}
func (l *reference) hasReady() bool        { return false }
func (l *reference) nextReady(bool) func() { return nil }
func (l *reference) wakePoll()             {}
func (l *reference) forget()               {}
func (l *reference) release()              {}
