package modules

// Child processes, for node:child_process.

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dop251/goja"
)

// children are the processes that were started and have not been waited for.
var children sync.Map // of int to *exec.Cmd

// spawn starts a process. The arguments are a file, its arguments, the folder, the environment (null: this process's), the
// descriptors ("pipe", "ignore", or a number), whether it leads a group of its own, and ids of a user and a group (or -1). It
// returns the process's number, and this end's descriptors of the pipes.
func (p *Program) spawn(call goja.FunctionCall) goja.Value {
	var o struct {
		File     string
		Args     []string
		Cwd      string
		Env      []string
		Stdio    []any
		Detached bool
		UID, GID int64
	}
	vm := p.vm
	given := call.Argument(0).ToObject(vm)
	for name, to := range map[string]any{"file": &o.File, "args": &o.Args, "cwd": &o.Cwd, "env": &o.Env, "stdio": &o.Stdio, "detached": &o.Detached, "uid": &o.UID, "gid": &o.GID} {
		if v := given.Get(name); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
			if err := vm.ExportTo(v, to); err != nil {
				panic(p.newError("TypeError", "spawn: "+name+": "+err.Error()))
			}
		}
	}
	cmd := &exec.Cmd{Args: o.Args, Dir: o.Cwd, Env: o.Env}
	setCredentials(cmd, o.Detached, o.UID, o.GID)
	var ours []any
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	fail := func(err error) goja.Value {
		for _, fd := range ours {
			if n, ok := fd.(int); ok && n >= 0 {
				_, _ = operate("fclose", arguments{int64(n)})
			}
		}
		return p.outcome(nil, asFailure(err, "spawn "+o.File, arguments{o.File}))
	}
	files := make([]*os.File, max(len(o.Stdio), 3))
	for i, kind := range o.Stdio {
		ours = append(ours, -1)
		switch kind := kind.(type) {
		case int64:
			f, ok := opened.Load(int(kind))
			switch {
			case ok:
				files[i] = f.(*os.File)
			case kind == 1:
				files[i] = os.Stdout
			case kind == 2:
				files[i] = os.Stderr
			default:
				return fail(syscall.EBADF)
			}
		case string:
			if kind != "pipe" {
				break
			}
			r, w, err := os.Pipe()
			if err != nil {
				return fail(err)
			}
			mine, other := r, w
			if i == 0 {
				mine, other = w, r
			}
			files[i] = other
			theirs = append(theirs, other)
			fd, err := numberOf(mine)
			if err != nil {
				return fail(err)
			}
			opened.Store(fd, mine)
			ours[i] = fd
		}
	}
	null := func(i int) *os.File {
		if files[i] != nil {
			return files[i]
		}
		f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err == nil {
			theirs = append(theirs, f)
		}
		return f
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null(0), null(1), null(2)
	for i := 3; i < len(files); i++ {
		cmd.ExtraFiles = append(cmd.ExtraFiles, null(i))
	}
	path, err := lookPath(o.File, o.Env)
	if err != nil {
		return fail(err)
	}
	cmd.Path = path
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	children.Store(cmd.Process.Pid, cmd)
	return p.outcome(map[string]any{"pid": cmd.Process.Pid, "fds": ours}, nil)
}

// lookPath finds a program by the PATH of the environment that it gets.
func lookPath(file string, env []string) (string, error) {
	if strings.ContainsRune(file, filepath.Separator) || env == nil {
		path, err := exec.LookPath(file)
		return path, unwrapped(err)
	}
	for _, e := range env {
		if dirs, ok := strings.CutPrefix(e, "PATH="); ok {
			for _, dir := range filepath.SplitList(dirs) {
				if path, err := exec.LookPath(filepath.Join(dir, file)); err == nil {
					return path, nil
				}
			}
			return "", syscall.ENOENT
		}
	}
	path, err := exec.LookPath(file)
	return path, unwrapped(err)
}

// unwrapped returns the system's error for one of exec.LookPath.
func unwrapped(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return syscall.ENOENT
	}
	return err
}

// numberOf returns the descriptor of a file, which stays as it is; Fd would make it block.
func numberOf(f *os.File) (int, error) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	n := 0
	err = c.Control(func(fd uintptr) { n = int(fd) })
	return n, err
}

// waitForChild waits for a child's end, and returns its exit code, and the signal that ended it or 0.
func waitForChild(_ context.Context, a arguments) (any, error) {
	c, ok := children.LoadAndDelete(int(a.number(0)))
	if !ok {
		return nil, syscall.ECHILD
	}
	cmd := c.(*exec.Cmd)
	_ = cmd.Wait()
	code, signal := ended(cmd.ProcessState)
	return map[string]any{"code": code, "signal": signal}, nil
}

// finishChild waits for a child, on the loop, and blocks it: the arguments are its number, this end's descriptors, the input, how
// many milliseconds it may take (0: any), the signal that ends it, and how many bytes it may print on each descriptor.
func (p *Program) finishChild(call goja.FunctionCall) goja.Value {
	c, _ := children.LoadAndDelete(int(call.Argument(0).ToInteger()))
	cmd := c.(*exec.Cmd)
	var fds []int
	_ = p.vm.ExportTo(call.Argument(1), &fds)
	input := bytesOf(call.Argument(2))
	signal, most := syscall.Signal(call.Argument(4).ToInteger()), call.Argument(5).ToFloat()
	var why atomic.Pointer[string]
	end := func(reason string) {
		why.CompareAndSwap(nil, &reason)
		_ = cmd.Process.Signal(signal)
	}
	if ms := call.Argument(3).ToInteger(); ms > 0 {
		defer time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { end("ETIMEDOUT") }).Stop()
	}
	var group sync.WaitGroup
	output := make([][]byte, len(fds))
	for i, fd := range fds {
		file, ok := opened.LoadAndDelete(fd)
		if !ok {
			continue
		}
		f := file.(*os.File)
		group.Go(func() {
			defer f.Close()
			if i == 0 {
				_, _ = f.Write(input)
				return
			}
			out, b := []byte{}, make([]byte, 32<<10)
			for {
				n, err := f.Read(b)
				if out = append(out, b[:n]...); float64(len(out)) > most {
					out = out[:int(most)]
					output[i] = out
					end("ENOBUFS")
					return
				}
				if err != nil {
					output[i] = out
					return
				}
			}
		})
	}
	_ = cmd.Wait()
	group.Wait()
	all := make([]any, len(output))
	for i, b := range output {
		if b != nil {
			all[i] = b
		}
	}
	code, number := ended(cmd.ProcessState)
	o := map[string]any{"output": all, "code": code, "signal": number}
	if reason := why.Load(); reason != nil {
		o["why"] = *reason
	}
	return p.plain(o)
}

// kill is process.kill.
func kill(pid, sig int) *failure {
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Signal(syscall.Signal(sig))
		if errors.Is(err, os.ErrProcessDone) {
			err = syscall.ESRCH
		}
	}
	return asFailure(err, "kill", nil)
}
