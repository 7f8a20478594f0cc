package goroutine

// Access to internals for tests in package goroutine_test.

// StackID is the implementation for architectures without an assembly stub.
var StackID = stackID
