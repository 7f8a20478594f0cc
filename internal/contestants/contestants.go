// Package contestants is the list of the loops in this module that compete. Everything that goes through the contestants reads it:
// the tournament, which adds those from elsewhere, the rules of the tree, the mutants and the long tests.
package contestants

import (
	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/production"
)

// All returns them in the order of reports. The first is the loop that the others are there to be held against.
func All() []loopapi.Entry {
	return []loopapi.Entry{
		production.Entry(),
		alternateone.Entry(),
		alternatetwo.Entry(),
		alternatethree.Entry(),
	}
}
