// What becomes of the children of a runner that is killed.

package runner

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

// The helper stands for a runner that is killed: it starts a child that hangs, and tells its id.
func TestMain(m *testing.M) {
	if os.Getenv("RUNNER") != "" {
		cmd := exec.Command("sleep", "60")
		isolate(cmd)
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		os.Stdout.WriteString(strconv.Itoa(cmd.Process.Pid) + "\n")
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

func TestChildrenDieWithAKilledRunner(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(exe)
	killed.Env = append(os.Environ(), "RUNNER=on")
	out, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 32)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if !beat.Until(func() bool { return !alive(pid) }) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Fatal("the child outlives its runner")
	}
}

// alive tells whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
