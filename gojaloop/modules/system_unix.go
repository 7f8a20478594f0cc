//go:build unix

package modules

// What the system tells of files and of itself.

import (
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func access(path string, mode int) error { return unix.Access(path, uint32(mode)) }

func umask(mask int) int {
	if mask >= 0 {
		return unix.Umask(mask)
	}
	old := unix.Umask(0o22)
	unix.Umask(old)
	return old
}

// stat returns what the system knows of a file, or of a link if follow is not set.
func stat(path string, follow bool) (any, error) {
	var s unix.Stat_t
	call := unix.Lstat
	if follow {
		call = unix.Stat
	}
	if err := call(path, &s); err != nil {
		return nil, err
	}
	return described(&s), nil
}

// statOf returns what the system knows of an open file.
func statOf(f *os.File) (any, error) {
	var s unix.Stat_t
	fd, err := numberOf(f)
	if err == nil {
		err = unix.Fstat(fd, &s)
	}
	if err != nil {
		return nil, err
	}
	return described(&s), nil
}

// described returns a file's properties for fs.js. The time of birth is that of the last change: only some systems know it.
func described(s *unix.Stat_t) map[string]any {
	at := func(t unix.Timespec) []any { return []any{int64(t.Sec), int64(t.Nsec)} }
	return map[string]any{
		"dev": int64(s.Dev), "mode": int64(s.Mode), "nlink": int64(s.Nlink), "uid": int64(s.Uid), "gid": int64(s.Gid), "rdev": int64(s.Rdev),
		"blksize": int64(s.Blksize), "ino": int64(s.Ino), "size": s.Size, "blocks": s.Blocks,
		"atime": at(s.Atim), "mtime": at(s.Mtim), "ctime": at(s.Ctim), "birthtime": at(s.Ctim),
	}
}

func statFileSystem(path string) (any, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return nil, err
	}
	return map[string]any{"type": int64(s.Type), "bsize": int64(s.Bsize), "blocks": int64(s.Blocks), "bfree": int64(s.Bfree), "bavail": int64(s.Bavail), "files": int64(s.Files), "ffree": int64(s.Ffree)}, nil
}

func setTimes(path string, accessed, modified time.Time) error {
	times := []unix.Timeval{unix.NsecToTimeval(accessed.UnixNano()), unix.NsecToTimeval(modified.UnixNano())}
	return unix.Lutimes(path, times)
}

// usage returns the process's use of the processor and of memory, as Node names it.
func resources() map[string]any {
	var r unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &r)
	return map[string]any{
		"user": r.Utime.Nano() / 1000, "system": r.Stime.Nano() / 1000, "maxRSS": int64(r.Maxrss), "sharedMemorySize": int64(r.Ixrss),
		"unsharedDataSize": int64(r.Idrss), "unsharedStackSize": int64(r.Isrss), "minorPageFault": int64(r.Minflt), "majorPageFault": int64(r.Majflt),
		"swappedOut": int64(r.Nswap), "fsRead": int64(r.Inblock), "fsWrite": int64(r.Oublock), "ipcSent": int64(r.Msgsnd), "ipcReceived": int64(r.Msgrcv),
		"signalsCount": int64(r.Nsignals), "voluntaryContextSwitches": int64(r.Nvcsw), "involuntaryContextSwitches": int64(r.Nivcsw),
	}
}

// systemName returns the system's name, release, version and machine.
func systemName() [4]string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	text := unix.ByteSliceToString
	return [4]string{text(u.Sysname[:]), text(u.Release[:]), text(u.Version[:]), text(u.Machine[:])}
}

func errnoName(n syscall.Errno) string { return unix.ErrnoName(n) }

// errorNumbers returns the numbers of the system's errors.
func errorNumbers() map[string]int {
	all := map[string]int{"EWOULDBLOCK": int(unix.EWOULDBLOCK), "ENOTSUP": int(unix.ENOTSUP), "EOPNOTSUPP": int(unix.EOPNOTSUPP)}
	for n := range 140 {
		if name := unix.ErrnoName(syscall.Errno(n)); name != "" {
			all[name] = n
		}
	}
	return all
}

// signalNumbers returns the numbers of the system's signals.
func signalNumbers() map[string]int {
	all := map[string]int{"SIGIOT": int(unix.SIGABRT), "SIGIO": int(unix.SIGIO)}
	for n := range 65 {
		if name := unix.SignalName(syscall.Signal(n)); name != "" && !strings.HasPrefix(name, "SIGRT") {
			all[name] = n
		}
	}
	return all
}

func fileConstants() map[string]int {
	return map[string]int{
		"F_OK": 0, "X_OK": 1, "W_OK": 2, "R_OK": 4, "COPYFILE_EXCL": 1, "COPYFILE_FICLONE": 2, "COPYFILE_FICLONE_FORCE": 4,
		"UV_FS_COPYFILE_EXCL": 1, "UV_FS_COPYFILE_FICLONE": 2, "UV_FS_COPYFILE_FICLONE_FORCE": 4, "UV_FS_SYMLINK_DIR": 1, "UV_FS_SYMLINK_JUNCTION": 2,
		"O_RDONLY": unix.O_RDONLY, "O_WRONLY": unix.O_WRONLY, "O_RDWR": unix.O_RDWR, "O_CREAT": unix.O_CREAT, "O_EXCL": unix.O_EXCL, "O_NOCTTY": unix.O_NOCTTY,
		"O_TRUNC": unix.O_TRUNC, "O_APPEND": unix.O_APPEND, "O_DIRECTORY": unix.O_DIRECTORY, "O_NOFOLLOW": unix.O_NOFOLLOW, "O_SYNC": unix.O_SYNC,
		"O_NONBLOCK": unix.O_NONBLOCK, "S_IFMT": unix.S_IFMT, "S_IFREG": unix.S_IFREG, "S_IFDIR": unix.S_IFDIR, "S_IFCHR": unix.S_IFCHR,
		"S_IFBLK": unix.S_IFBLK, "S_IFIFO": unix.S_IFIFO, "S_IFLNK": unix.S_IFLNK, "S_IFSOCK": unix.S_IFSOCK, "S_IRWXU": 0o700, "S_IRUSR": 0o400, "S_IWUSR": 0o200,
		"S_IXUSR": 0o100, "S_IRWXG": 0o70, "S_IRGRP": 0o40, "S_IWGRP": 0o20, "S_IXGRP": 0o10, "S_IRWXO": 7, "S_IROTH": 4, "S_IWOTH": 2, "S_IXOTH": 1,
	}
}
