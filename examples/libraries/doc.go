// Package libraries has tests of Go's ordinary network libraries on connections of event loops; docs/libraries.md has the
// table of them.
package libraries
