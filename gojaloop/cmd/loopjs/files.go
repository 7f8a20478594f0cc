package main

// The file system, for node:fs. Each operation takes the script's arguments, exported, and may run on any goroutine.

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// failure is an error with the properties that Node gives it.
type failure struct {
	Code, Message, Syscall, Path, Dest string
	Errno                              int
}

var fileOperations = map[string]struct {
	syscall string
	run     func(a arguments) (any, error)
}{
	"access": {"access", func(a arguments) (any, error) { _, err := os.Stat(a.text(0)); return nil, err }},
	"append": {"open", func(a arguments) (any, error) { return nil, write(a, os.O_APPEND) }},
	"chmod":  {"chmod", func(a arguments) (any, error) { return nil, os.Chmod(a.text(0), fs.FileMode(a.number(1))) }},
	"copy":   {"copyfile", func(a arguments) (any, error) { return nil, copyFile(a.text(0), a.text(1)) }},
	"cp":     {"cp", func(a arguments) (any, error) { return nil, copyTree(a) }},
	"exists": {"access", func(a arguments) (any, error) { _, err := os.Stat(a.text(0)); return err == nil, nil }},
	"lstat":  {"lstat", func(a arguments) (any, error) { return stat(os.Lstat(a.text(0))) }},
	"mkdir":  {"mkdir", func(a arguments) (any, error) { return makeFolder(a) }},
	"mkdtemp": {"mkdtemp", func(a arguments) (any, error) {
		return os.MkdirTemp(filepath.Dir(a.text(0)), filepath.Base(a.text(0))+"*")
	}},
	"read":     {"open", func(a arguments) (any, error) { return readFile(a.text(0)) }},
	"readdir":  {"scandir", func(a arguments) (any, error) { return list(a.text(0), a.text(0), a.flag(1)) }},
	"readlink": {"readlink", func(a arguments) (any, error) { return os.Readlink(a.text(0)) }},
	"realpath": {"realpath", func(a arguments) (any, error) {
		path, err := filepath.EvalSymlinks(a.text(0))
		if err != nil {
			return nil, err
		}
		return filepath.Abs(path)
	}},
	"rename":   {"rename", func(a arguments) (any, error) { return nil, os.Rename(a.text(0), a.text(1)) }},
	"rm":       {"rm", func(a arguments) (any, error) { return nil, remove(a) }},
	"rmdir":    {"rmdir", func(a arguments) (any, error) { return nil, removeFolder(a.text(0)) }},
	"stat":     {"stat", func(a arguments) (any, error) { return stat(os.Stat(a.text(0))) }},
	"symlink":  {"symlink", func(a arguments) (any, error) { return nil, os.Symlink(a.text(0), a.text(1)) }},
	"truncate": {"truncate", func(a arguments) (any, error) { return nil, os.Truncate(a.text(0), int64(a.number(1))) }},
	"unlink":   {"unlink", func(a arguments) (any, error) { return nil, unlink(a.text(0)) }},
	"utimes": {"utime", func(a arguments) (any, error) {
		at := func(i int) time.Time { return time.UnixMicro(int64(a.number(i) * 1e6)) }
		return nil, os.Chtimes(a.text(0), at(1), at(2))
	}},
	"write": {"open", func(a arguments) (any, error) { return nil, write(a, os.O_TRUNC) }},
	// The next bytes of the standard input, none at its end.
	"stdin": {"read", func(arguments) (any, error) {
		b := make([]byte, 64<<10)
		n, err := os.Stdin.Read(b)
		if n > 0 || err == nil || err.Error() == "EOF" {
			return b[:n], nil
		}
		return nil, err
	}},
}

// arguments are a script's arguments, exported.
type arguments []any

func (a arguments) text(i int) string {
	if i < len(a) {
		s, _ := a[i].(string)
		return s
	}
	return ""
}

func (a arguments) number(i int) float64 {
	if i < len(a) {
		switch n := a[i].(type) {
		case int64:
			return float64(n)
		case float64:
			return n
		}
	}
	return 0
}

func (a arguments) flag(i int) bool {
	b, _ := any(nil), false
	if i < len(a) {
		b = a[i]
	}
	return b == true
}

func readFile(path string) (any, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, syscall.EISDIR) {
		err = &fs.PathError{Op: "read", Err: syscall.EISDIR}
	}
	return b, err
}

// write writes the second argument to the file that the first names. The third is Node's flag, which overrides how;
// the fourth is the mode.
func write(a arguments, how int) error {
	flags := os.O_CREATE | os.O_WRONLY | how
	if f := a.text(2); strings.HasPrefix(f, "a") {
		flags = flags&^os.O_TRUNC | os.O_APPEND
	} else if strings.HasPrefix(f, "r") {
		flags = os.O_RDWR
	}
	if strings.Contains(a.text(2), "x") {
		flags |= os.O_EXCL
	}
	mode := fs.FileMode(0o666)
	if m := a.number(3); m != 0 {
		mode = fs.FileMode(m)
	}
	f, err := os.OpenFile(a.text(0), flags, mode)
	if err != nil {
		return err
	}
	var data []byte
	if len(a) > 1 {
		data, _ = a[1].([]byte)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, info.Mode().Perm())
}

// copyTree copies a file, or a folder with everything in it, and replaces files that exist.
func copyTree(a arguments) error {
	from, to := a.text(0), a.text(1)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		there := filepath.Join(to, relative)
		switch {
		case d.IsDir() && !a.flag(2):
			return &fs.PathError{Op: "cp", Path: from, Err: syscall.EISDIR}
		case d.IsDir():
			return os.MkdirAll(there, 0o777)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			_ = os.Remove(there)
			return os.Symlink(link, there)
		}
		return copyFile(path, there)
	})
}

// makeFolder makes a folder. If the second argument says so, it makes the folders above too, and returns the first
// folder that it made.
func makeFolder(a arguments) (any, error) {
	path := a.text(0)
	if !a.flag(1) {
		return nil, os.Mkdir(path, 0o777)
	}
	made := ""
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		made = at
	}
	if err := os.MkdirAll(path, 0o777); err != nil || made == "" {
		return nil, err
	}
	return made, nil
}

func remove(a arguments) error {
	info, err := os.Lstat(a.text(0))
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.flag(2):
		return nil
	case err != nil:
		return err
	case info.IsDir() && !a.flag(1):
		return &fs.PathError{Op: "rm", Path: a.text(0), Err: syscall.EISDIR}
	}
	return os.RemoveAll(a.text(0))
}

func removeFolder(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "rmdir", Path: path, Err: syscall.ENOTDIR}
	}
	return os.Remove(path)
}

func unlink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return &fs.PathError{Op: "unlink", Path: path, Err: syscall.EISDIR}
	}
	return os.Remove(path)
}

// list returns the entries of the folder at: name, parent, path relative to folder, and kind. If deep is set, it
// returns those of subfolders too.
func list(folder, at string, deep bool) ([]any, error) {
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, e := range entries {
		path := filepath.Join(at, e.Name())
		relative, _ := filepath.Rel(folder, path)
		all = append(all, map[string]any{"name": e.Name(), "parent": at, "relative": relative, "kind": kind(e.Type())})
		if deep && e.IsDir() {
			more, err := list(folder, path, true)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeNamedPipe != 0:
		return "fifo"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeCharDevice != 0:
		return "character"
	}
	return "block"
}

func stat(info fs.FileInfo, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	types := map[string]int{"file": 0o100000, "directory": 0o40000, "link": 0o120000, "fifo": 0o10000, "socket": 0o140000, "character": 0o20000, "block": 0o60000}
	k := kind(info.Mode())
	return map[string]any{
		"size": info.Size(), "mode": types[k] | int(info.Mode().Perm()), "kind": k, "mtimeMs": float64(info.ModTime().UnixMicro()) / 1000,
	}, nil
}

// errorName is an error of the system, with Node's name and text.
type errorName struct {
	err        syscall.Errno
	name, text string
}

// numbers lists the errors that have a name; any other is EIO.
var numbers = []errorName{
	{syscall.ENOENT, "ENOENT", "no such file or directory"},
	{syscall.EEXIST, "EEXIST", "file already exists"},
	{syscall.EACCES, "EACCES", "permission denied"},
	{syscall.EPERM, "EPERM", "operation not permitted"},
	{syscall.ENOTDIR, "ENOTDIR", "not a directory"},
	{syscall.EISDIR, "EISDIR", "illegal operation on a directory"},
	{syscall.ENOTEMPTY, "ENOTEMPTY", "directory not empty"},
	{syscall.EINVAL, "EINVAL", "invalid argument"},
	{syscall.EXDEV, "EXDEV", "cross-device link not permitted"},
	{syscall.ELOOP, "ELOOP", "too many symbolic links encountered"},
	{syscall.ENAMETOOLONG, "ENAMETOOLONG", "name too long"},
	{syscall.EMFILE, "EMFILE", "too many open files"},
	{syscall.ENOSPC, "ENOSPC", "no space left on device"},
	{syscall.EROFS, "EROFS", "read-only file system"},
	{syscall.EBADF, "EBADF", "bad file descriptor"},
	{syscall.EPIPE, "EPIPE", "broken pipe"},
	{syscall.ESRCH, "ESRCH", "no such process"},
}

// asFailure returns an error as Node reports it.
func asFailure(err error, call string, a arguments) *failure {
	f := &failure{Code: "EIO", Message: err.Error(), Syscall: call, Path: a.text(0), Errno: -5}
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == "" { // an error of a descriptor
		f.Syscall, f.Path = p.Op, ""
	}
	if call == "rm" && errors.Is(err, fs.ErrNotExist) {
		f.Syscall = "lstat"
	}
	if call == "rename" || call == "copyfile" || call == "symlink" {
		f.Dest = a.text(1)
	}
	var number syscall.Errno
	exact := errors.As(err, &number) && slices.ContainsFunc(numbers, func(n errorName) bool { return n.err == number })
	for _, n := range numbers {
		if exact && n.err != number {
			continue
		}
		if errors.Is(err, n.err) || n.err == syscall.ENOENT && errors.Is(err, fs.ErrNotExist) || n.err == syscall.EEXIST && errors.Is(err, fs.ErrExist) {
			f.Code, f.Errno, f.Message = n.name, -int(n.err), n.text
			break
		}
	}
	return f
}
