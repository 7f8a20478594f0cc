// Command tournament is the tournament of this repository's loops.
package main

import (
	"github.com/turnloop/turnloop/internal/tournament"
	"github.com/turnloop/turnloop/internal/tournament/command"
)

func main() { command.Main(tournament.Own(), "go run ./internal/tournament/cmd/tournament") }
