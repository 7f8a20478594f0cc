package modules

// The file system, for node:fs. Each operation takes the script's arguments, exported, and may run on any goroutine.

import (
	"errors"
	"io"
	"io/fs"
	"math"
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
	"access":  {"access", func(a arguments) (any, error) { return nil, access(a.text(0), int(a.number(1))) }},
	"chmod":   {"chmod", func(a arguments) (any, error) { return nil, os.Chmod(a.text(0), modeBits(int(a.number(1)))) }},
	"chown":   {"chown", act(func(a arguments) error { return os.Chown(a.text(0), int(a.number(1)), int(a.number(2))) })},
	"copy":    {"copyfile", func(a arguments) (any, error) { return nil, copyFile(a.text(0), a.text(1), a.flag(2)) }},
	"cp":      {"cp", func(a arguments) (any, error) { return nil, copyTree(a) }},
	"exists":  {"access", func(a arguments) (any, error) { _, err := os.Stat(a.text(0)); return err == nil, nil }},
	"lchown":  {"lchown", act(func(a arguments) error { return os.Lchown(a.text(0), int(a.number(1)), int(a.number(2))) })},
	"link":    {"link", func(a arguments) (any, error) { return nil, os.Link(a.text(0), a.text(1)) }},
	"lstat":   {"lstat", func(a arguments) (any, error) { return stat(a.text(0), false) }},
	"lutimes": {"lutime", act(func(a arguments) error { return setTimes(a.text(0), timeOf(a.number(1)), timeOf(a.number(2))) })},
	"mkdir":   {"mkdir", func(a arguments) (any, error) { return makeFolder(a) }},
	"mkdtemp": {"mkdtemp", func(a arguments) (any, error) {
		return os.MkdirTemp(filepath.Dir(a.text(0)+"x"), strings.TrimSuffix(filepath.Base(a.text(0)+"x"), "x")+"*")
	}},
	"opendir":  {"opendir", func(a arguments) (any, error) { return list(a.text(0), a.text(0), a.flag(1)) }},
	"read":     {"open", func(a arguments) (any, error) { return readFile(a) }},
	"readdir":  {"scandir", func(a arguments) (any, error) { return list(a.text(0), a.text(0), a.flag(1)) }},
	"readlink": {"readlink", func(a arguments) (any, error) { return os.Readlink(a.text(0)) }},
	"realpath": {"realpath", func(a arguments) (any, error) {
		path, err := filepath.EvalSymlinks(a.text(0))
		if err != nil {
			return nil, err
		}
		return filepath.Abs(path)
	}},
	"rename": {"rename", func(a arguments) (any, error) { return nil, os.Rename(a.text(0), a.text(1)) }},
	"rm":     {"rm", func(a arguments) (any, error) { return nil, remove(a) }},
	"rmdir": {"rmdir", func(a arguments) (any, error) {
		if err := removeFolder(a.text(0)); err == nil || !a.flag(1) {
			return nil, err
		}
		return nil, os.RemoveAll(a.text(0))
	}},
	"stat":     {"stat", func(a arguments) (any, error) { return stat(a.text(0), true) }},
	"statfs":   {"statfs", func(a arguments) (any, error) { return statFileSystem(a.text(0)) }},
	"symlink":  {"symlink", func(a arguments) (any, error) { return nil, os.Symlink(a.text(0), a.text(1)) }},
	"truncate": {"truncate", func(a arguments) (any, error) { return nil, os.Truncate(a.text(0), int64(a.number(1))) }},
	"umask":    {"umask", func(a arguments) (any, error) { return umask(int(a.number(0))), nil }},
	"unlink":   {"unlink", func(a arguments) (any, error) { return nil, unlink(a.text(0)) }},
	"utimes":   {"utime", act(func(a arguments) error { return os.Chtimes(a.text(0), timeOf(a.number(1)), timeOf(a.number(2))) })},
	"write":    {"open", func(a arguments) (any, error) { return nil, write(a) }},
}

func timeOf(seconds float64) time.Time { return time.UnixMicro(int64(math.Round(seconds * 1e6))) }

// modeBits returns Go's mode for the permissions of a system's.
func modeBits(m int) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	for bit, flag := range map[int]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if m&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// arguments are a script's arguments, exported.
type arguments []any

// act makes an operation of one that returns nothing.
func act(f func(a arguments) error) func(arguments) (any, error) {
	return func(a arguments) (any, error) { return nil, f(a) }
}

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

func readFile(a arguments) (any, error) {
	if a.text(1) == "r" {
		b, err := os.ReadFile(a.text(0))
		if errors.Is(err, syscall.EISDIR) {
			err = &fs.PathError{Op: "read", Err: syscall.EISDIR}
		}
		return b, err
	}
	f, err := openAs(a.text(0), a[1], 0o666)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// write writes the second argument to the file that the first names. The third is Node's flag, the fourth the mode; the fifth tells
// whether the data is to reach the disk.
func write(a arguments) error {
	f, err := openAs(a.text(0), a[2], int(a.number(3)))
	if err != nil {
		return err
	}
	data, _ := a[1].([]byte)
	_, err = f.Write(data)
	if err == nil && a.flag(4) {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func copyFile(from, to string, exclusive bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(to); err == nil && os.SameFile(info, there) && !exclusive {
		return nil
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if exclusive {
		flags |= os.O_EXCL
	}
	out, err := os.OpenFile(to, flags, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// errExists is the error of fs.cp for a file that is there.
//
//lint:ignore ST1005 scripts read the text of Node
var errExists = errors.New("Target already exists")

// copyTree copies a file, or a folder with everything in it. The arguments are the names, and whether it goes into folders,
// replaces files that exist, fails where one exists that it does not replace, follows links, and keeps times.
func copyTree(a arguments) error {
	from, to := a.text(0), a.text(1)
	info := os.Lstat
	if a.flag(5) {
		info = os.Stat
	}
	i, err := info(from)
	if err != nil {
		return err
	}
	there, missing := os.Lstat(to)
	switch {
	case i.IsDir() && !a.flag(2):
		return &fs.PathError{Op: "cp", Path: from, Err: syscall.EISDIR}
	case i.IsDir():
		entries, err := os.ReadDir(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		for _, e := range entries {
			b := append(arguments{filepath.Join(from, e.Name()), filepath.Join(to, e.Name())}, a[2:]...)
			if err := copyTree(b); err != nil {
				return err
			}
		}
		return os.Chmod(to, i.Mode().Perm())
	case missing == nil && !a.flag(3) && a.flag(4):
		return errExists
	case missing == nil && !a.flag(3):
		return nil
	case i.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(link) {
			if link, err = filepath.Abs(filepath.Join(filepath.Dir(from), link)); err != nil {
				return err
			}
		}
		if missing == nil && !there.IsDir() {
			_ = os.Remove(to)
		}
		return os.Symlink(link, to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	err = copyFile(from, to, false)
	if err == nil && a.flag(6) {
		err = os.Chtimes(to, i.ModTime(), i.ModTime())
	}
	return err
}

// makeFolder makes a folder. If the second argument says so, it makes the folders above too, and returns the first
// folder that it made.
func makeFolder(a arguments) (any, error) {
	path, mode := a.text(0), modeBits(int(a.number(2)))
	if !a.flag(1) {
		return nil, os.Mkdir(path, mode)
	}
	made := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		made = at
	}
	if err := os.MkdirAll(path, mode); err != nil || made == "" {
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

// list returns the entries of the folder at: name, parent, path relative to folder, and mode. If deep is set, it
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
		all = append(all, map[string]any{"name": e.Name(), "parent": at, "relative": relative, "mode": kindBits(e.Type())})
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

// kindBits returns the system's number for the kind of a file.
func kindBits(m fs.FileMode) int {
	switch {
	case m.IsRegular():
		return 0o100000
	case m.IsDir():
		return 0o40000
	case m&fs.ModeSymlink != 0:
		return 0o120000
	case m&fs.ModeNamedPipe != 0:
		return 0o10000
	case m&fs.ModeSocket != 0:
		return 0o140000
	case m&fs.ModeCharDevice != 0:
		return 0o20000
	}
	return 0o60000
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

// asFailure returns an error as Node reports it, nil for none.
func asFailure(err error, call string, a arguments) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Code: "EIO", Message: err.Error(), Syscall: call, Path: a.text(0), Errno: -5}
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == "" { // an error of a descriptor
		f.Syscall, f.Path = p.Op, ""
	}
	if call == "rm" && errors.Is(err, fs.ErrNotExist) {
		f.Syscall = "lstat"
	}
	switch call {
	case "rename", "copyfile", "symlink", "link":
		f.Dest = a.text(1)
	}
	if err == errExists {
		return &failure{Code: "ERR_FS_CP_EEXIST", Message: err.Error(), Syscall: "cp", Path: a.text(1), Errno: -int(syscall.EEXIST)}
	}
	var number syscall.Errno
	exact := errors.As(err, &number) && slices.ContainsFunc(numbers, func(n errorName) bool { return n.err == number })
	for _, n := range numbers {
		if exact && n.err != number {
			continue
		}
		if errors.Is(err, n.err) || n.err == syscall.ENOENT && errors.Is(err, fs.ErrNotExist) || n.err == syscall.EEXIST && errors.Is(err, fs.ErrExist) {
			f.Code, f.Errno, f.Message = n.name, -int(n.err), n.text
			return f
		}
	}
	if name := errnoName(number); name != "" {
		f.Code, f.Errno, f.Message = name, -int(number), strings.ToLower(number.Error())
	}
	return f
}
