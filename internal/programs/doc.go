// Package programs holds the event loop, and all that is built on it, to its promises in random programs over the whole public API: each
// function that is accepted runs exactly once, in its order and on its loop, or has the fate that its documentation says; whatever the
// program does, and from wherever, the end comes, and nothing is left behind. There are only tests here.
package programs
