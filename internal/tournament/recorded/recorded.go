// Package recorded holds runs of this repository's tournament as they were measured, for tests that need what a machine really does:
// a full one, and a quick one of more rounds than usual. They are older than the published results, and do not change with these.
package recorded

import (
	"compress/gzip"
	"embed"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// The runs.
const (
	Full  = record.Full
	Quick = record.Quick
)

//go:embed full quick
var files embed.FS

// Run unpacks a run into a folder that is the test's own, and returns that.
func Run(t testing.TB, name string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{record.RawFile, record.RunFile} {
		if err := unpack(name+"/"+file+".gz", filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func unpack(from, to string) error {
	packed, err := files.Open(from)
	if err != nil {
		return err
	}
	text, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, text)
	return errors.Join(err, file.Close(), text.Close(), packed.Close())
}
