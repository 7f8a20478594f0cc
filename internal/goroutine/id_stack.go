//go:build !(386 || amd64 || arm || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package goroutine

// The identity of a goroutine on architectures without an assembly stub.

func id() uintptr { return stackID() }
