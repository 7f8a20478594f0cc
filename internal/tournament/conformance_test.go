package tournament_test

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/tournament"
)

// TestConformance holds every ranked contestant to the specification: impl=NAME/CHECK.
func TestConformance(t *testing.T) {
	for _, c := range tournament.Contestants() {
		if !c.Ranked {
			continue
		}
		options := []looptest.Option{looptest.Name(c.Name)}
		if c.VirtualTime {
			options = append(options, looptest.VirtualTime())
		}
		for check, reason := range c.Divergences {
			options = append(options, looptest.Diverges(check, reason))
		}
		for check, reason := range c.MayDiverge {
			options = append(options, looptest.MayDiverge(check, reason))
		}
		looptest.Run(t, c.New, options...)
	}
}
