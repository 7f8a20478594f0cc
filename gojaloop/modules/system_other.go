//go:build !unix

package modules

// What package os knows of files, where the system is not a Unix.

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

func access(path string, _ int) error { _, err := os.Stat(path); return err }

func umask(int) int { return 0 }

func stat(path string, follow bool) (any, error) {
	call := os.Lstat
	if follow {
		call = os.Stat
	}
	info, err := call(path)
	if err != nil {
		return nil, err
	}
	return described(info), nil
}

func statOf(f *os.File) (any, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return described(info), nil
}

// described returns a file's properties for fs.js, as far as package os knows them.
func described(info os.FileInfo) map[string]any {
	at := []any{info.ModTime().Unix(), int64(info.ModTime().Nanosecond())}
	return map[string]any{
		"dev": 0, "mode": kindBits(info.Mode()) | int(info.Mode().Perm()), "nlink": 1, "uid": 0, "gid": 0, "rdev": 0, "blksize": 4096, "ino": 0,
		"size": info.Size(), "blocks": (info.Size() + 511) / 512, "atime": at, "mtime": at, "ctime": at, "birthtime": at,
	}
}

func statFileSystem(string) (any, error) { return nil, syscall.EINVAL }

func setTimes(string, time.Time, time.Time) error { return syscall.EINVAL }

func resources() map[string]any { return map[string]any{"user": 0, "system": 0, "maxRSS": 0} }

func systemName() [4]string {
	name := map[string]string{"windows": "Windows_NT"}[runtime.GOOS]
	if name == "" {
		name = runtime.GOOS
	}
	return [4]string{name, "", "", runtime.GOARCH}
}

func errnoName(syscall.Errno) string { return "" }

func errorNumbers() map[string]int {
	all := map[string]int{}
	for _, n := range numbers {
		all[n.name] = int(n.err)
	}
	return all
}

func signalNumbers() map[string]int {
	return map[string]int{"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGKILL": 9, "SIGTERM": 15}
}

func fileConstants() map[string]int {
	return map[string]int{
		"F_OK": 0, "X_OK": 1, "W_OK": 2, "R_OK": 4, "COPYFILE_EXCL": 1, "O_RDONLY": os.O_RDONLY, "O_WRONLY": os.O_WRONLY, "O_RDWR": os.O_RDWR,
		"O_CREAT": os.O_CREATE, "O_EXCL": os.O_EXCL, "O_TRUNC": os.O_TRUNC, "O_APPEND": os.O_APPEND, "S_IFMT": 0o170000, "S_IFREG": 0o100000, "S_IFDIR": 0o40000, "S_IFLNK": 0o120000,
	}
}
