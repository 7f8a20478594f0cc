package goroutine

// StackID is the implementation for architectures without an assembly stub.
var StackID = stackID
