// Package contestants lists the loops of this module that compete. The tournament, which adds entries from elsewhere, the
// rules of the tree, the mutants and the long tests read the list.
package contestants

import (
	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/production"
)

// All returns the contestants in the order of reports. The first is the loop with which the others are compared.
func All() []loopapi.Entry {
	return []loopapi.Entry{
		production.Entry(),
		alternateone.Entry(),
		alternatetwo.Entry(),
		alternatethree.Entry(),
	}
}
