package gojabaseline_test

// The conformance kit, held against goja_nodejs's loop.

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/gojabaseline"
)

func TestConformance(t *testing.T) { looptest.Hold(t, gojabaseline.Entry()) }

func TestLiveness(t *testing.T) { looptest.HoldLiveness(t, gojabaseline.Entry()) }
