//go:build !unix

package threadlet_test

// The processor time of the process, where it cannot be had.

import "testing"

func processorTime(testing.TB) int64 { return 0 }
