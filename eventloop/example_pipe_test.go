//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventloop_test

// The example of RegisterFD.

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

// A loop that watches a pipe until its writer is done. The registration keeps it alive, so with auto-exit it ends then.
func ExampleLoop_RegisterFD() {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	reader, writer := pipe[0], pipe[1]
	if err := unix.SetNonblock(reader, true); err != nil {
		panic(err)
	}
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}

	received := make(chan struct{}, 1)
	buf := make([]byte, 512)
	err = loop.RegisterFD(reader, eventloop.EventRead, func(eventloop.IOEvents) {
		n, err := unix.Read(reader, buf)
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
			// Not ready after all. The loop tells when it is.
		case err != nil || n == 0:
			fmt.Println("end of the pipe")
			loop.UnregisterFD(reader) // before it is closed
			unix.Close(reader)
		default:
			fmt.Printf("%s\n", buf[:n])
			received <- struct{}{}
		}
	})
	if err != nil {
		panic(err)
	}

	go func() { // usually another process
		for _, word := range []string{"tick", "tock"} {
			unix.Write(writer, []byte(word))
			<-received
		}
		unix.Close(writer)
	}()
	fmt.Println(loop.Run(context.Background()))
	// Output:
	// tick
	// tock
	// end of the pipe
	// <nil>
}

// Another goroutine has a descriptor closed. Its callback may be running; what UnregisterFDThen is given waits for it.
func ExampleLoop_UnregisterFDThen() {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	reader, writer := pipe[0], pipe[1]
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	closeReader := func() { fmt.Println(unix.Close(reader)) }

	hello := make(chan struct{})
	buf := make([]byte, 512)
	err = loop.RegisterFD(reader, eventloop.EventRead, func(eventloop.IOEvents) {
		n, _ := unix.Read(reader, buf)
		fmt.Printf("%s\n", buf[:n])
		close(hello)
	})
	if err != nil {
		panic(err)
	}

	go func() {
		unix.Write(writer, []byte("hello"))
		<-hello // the callback has not returned yet
		if err := loop.UnregisterFDThen(reader, closeReader); errors.Is(err, eventloop.ErrLoopTerminated) {
			closeReader() // nothing of the loop's runs any more
		}
	}()
	fmt.Println(loop.Run(context.Background()))
	unix.Close(writer)
	// Output:
	// hello
	// <nil>
	// <nil>
}
