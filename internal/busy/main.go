// Command busy runs a command beside processes that keep the machine busy: "make test-busy". Half of them compute; the others
// allocate and start threads, which disturbs the scheduler of the system as well.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// role is the variable of the environment that says what a copy of this program does.
const role = "TURNLOOP_BUSY"

func main() {
	switch os.Getenv(role) {
	case "compute":
		compute()
	case "churn":
		churn()
	}
	each := flag.Int("each", 4, "processes for each processor")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: busy [-each N] COMMAND [ARGUMENT...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 || *each < 1 {
		flag.Usage()
		os.Exit(2)
	}
	os.Exit(run(*each*runtime.NumCPU(), flag.Args()))
}

// run runs the command beside n processes, and returns its exit status.
func run(n int, command []string) int {
	// A signal from the terminal goes to all; the command ends by it, and run waits for that.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "busy:", err)
		return 2
	}
	for i := range n {
		kind := [...]string{"compute", "churn"}[i%2]
		p := exec.Command(self)
		p.Env = append(os.Environ(), role+"="+kind)
		input, err := p.StdinPipe() // they end with this process, however it ends
		if err == nil {
			err = p.Start()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "busy:", err)
			return 2
		}
		defer func() {
			input.Close()
			p.Process.Kill()
			p.Wait()
		}()
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return max(1, failed.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "busy:", err)
		return 2
	}
	return 0
}

// endWithParent ends the process when its standard input is closed.
func endWithParent() {
	os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// compute keeps one processor busy.
func compute() {
	go endWithParent()
	for x := uint64(1); ; {
		for range 1 << 20 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		runtime.KeepAlive(x)
	}
}

// churn allocates, and starts threads that end at once.
func churn() {
	go endWithParent()
	var kept [64][]byte
	for i := 0; ; i++ {
		kept[i%len(kept)] = make([]byte, 1<<16)
		ended := make(chan bool)
		go func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			close(ended)
		}()
		<-ended
	}
}
