//go:build 386 || amd64 || arm || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x

package goroutine

// The identity, on architectures with an assembly stub.

// id returns the address of the runtime's descriptor of the running goroutine (g). The runtime never moves a descriptor,
// and reuses those of ended goroutines for new ones.
func id() uintptr
