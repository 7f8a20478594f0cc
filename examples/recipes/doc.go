// Package recipes holds the test of docs/recipes: it takes the programs from the pages, builds them and runs them.
package recipes
