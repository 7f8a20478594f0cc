package modules

// Opened files, for node:fs, by the system's descriptors.

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
)

// opened holds the files that scripts have opened. Files that no script closes are closed by the end of the process.
var opened sync.Map // of int to *os.File

func init() {
	opened.Store(0, os.Stdin)
	type operation = func(arguments) (any, error)
	for name, run := range map[string]operation{
		"fopen": openFile,
		"fclose": func(a arguments) (any, error) {
			f, ok := opened.LoadAndDelete(int(a.number(0)))
			if !ok {
				return nil, badDescriptor("close")
			}
			return nil, f.(*os.File).Close()
		},
		"fread":  withFile("read", readOpened),
		"fwrite": withFile("write", writeOpened),
		"fstat":  withFile("fstat", func(f *os.File, _ arguments) (any, error) { return statOf(f) }),
		"fchmod": withFile("fchmod", func(f *os.File, a arguments) (any, error) { return nil, f.Chmod(modeBits(int(a.number(1)))) }),
		"fchown": withFile("fchown", func(f *os.File, a arguments) (any, error) {
			return nil, f.Chown(int(a.number(1)), int(a.number(2)))
		}),
		"futimes": withFile("futime", func(f *os.File, a arguments) (any, error) {
			return nil, os.Chtimes(f.Name(), timeOf(a.number(1)), timeOf(a.number(2)))
		}),
		"ftruncate": withFile("ftruncate", func(f *os.File, a arguments) (any, error) {
			return nil, f.Truncate(int64(a.number(1)))
		}),
		"fsync": withFile("fsync", func(f *os.File, _ arguments) (any, error) { return nil, f.Sync() }),
	} {
		call := strings.TrimPrefix(name, "f")
		if call != "open" && call != "read" && call != "write" && call != "close" {
			call = name
		}
		op := fileOperations[name]
		op.syscall, op.run = call, run
		fileOperations[name] = op
	}
}

// badDescriptor returns the error for a descriptor without an opened file.
func badDescriptor(call string) error { return &fs.PathError{Op: call, Err: syscall.EBADF} }

func withFile(call string, f func(*os.File, arguments) (any, error)) func(arguments) (any, error) {
	return func(a arguments) (any, error) {
		file, ok := opened.Load(int(a.number(0)))
		if !ok {
			return nil, badDescriptor(call)
		}
		v, err := f(file.(*os.File), a)
		if p, ok := err.(*fs.PathError); ok {
			err = &fs.PathError{Op: p.Op, Err: p.Err}
		}
		return v, err
	}
}

// openAs opens a file by Node's flags, which are a text such as "r+", or the system's.
func openAs(path string, flag any, mode int) (*os.File, error) {
	if n, ok := flag.(int64); ok {
		return os.OpenFile(path, int(n), modeBits(mode))
	}
	text, _ := flag.(string)
	flags := map[string]int{"r": os.O_RDONLY, "r+": os.O_RDWR, "w": os.O_WRONLY | os.O_CREATE | os.O_TRUNC, "w+": os.O_RDWR | os.O_CREATE | os.O_TRUNC,
		"a": os.O_WRONLY | os.O_CREATE | os.O_APPEND, "a+": os.O_RDWR | os.O_CREATE | os.O_APPEND}
	how, ok := flags[strings.NewReplacer("x", "", "s", "").Replace(text)]
	if !ok {
		return nil, syscall.EINVAL
	}
	if strings.Contains(text, "x") {
		how |= os.O_EXCL
	}
	if strings.Contains(text, "s") {
		how |= os.O_SYNC
	}
	return os.OpenFile(path, how, modeBits(mode))
}

func openFile(a arguments) (any, error) {
	f, err := openAs(a.text(0), a[1], int(a.number(2)))
	if err != nil {
		return nil, err
	}
	fd := int(f.Fd())
	opened.Store(fd, f)
	return fd, nil
}

// readOpened reads at most as many bytes as the second argument says, at the position that the third gives, if that
// is not negative.
func readOpened(f *os.File, a arguments) (any, error) {
	b := make([]byte, min(int(a.number(1)), 16<<20))
	var n int
	var err error
	if at := a.number(2); at >= 0 {
		n, err = f.ReadAt(b, int64(at))
	} else if len(b) > 0 {
		n, err = f.Read(b)
	}
	return b[:n], atEnd(err)
}

func writeOpened(f *os.File, a arguments) (any, error) {
	var data []byte
	if len(a) > 1 {
		data, _ = a[1].([]byte)
	}
	if at := a.number(2); at >= 0 {
		n, err := f.WriteAt(data, int64(at))
		return n, err
	}
	n, err := f.Write(data)
	return n, err
}
