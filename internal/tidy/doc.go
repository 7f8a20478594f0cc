// Package tidy holds the architecture: its test reads the source tree and fails, with the reason, when a package
// imports what it should not, a module misses a requirement, or a file breaks a rule of the house.
//
// The rules are tables at the top of tidy_test.go. A rule for a folder that does not exist is kept by nobody yet.
package tidy
