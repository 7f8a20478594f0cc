package gojabaseline_test

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/gojabaseline"
)

func TestConformance(t *testing.T) { looptest.Hold(t, gojabaseline.Entry()) }
