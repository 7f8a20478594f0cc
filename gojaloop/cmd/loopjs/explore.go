package main

import (
	"errors"
	"os"
)

func explore(*options, *compiler) int {
	return complain(os.Stderr, errors.New("--explore and --seed are not there yet"))
}
