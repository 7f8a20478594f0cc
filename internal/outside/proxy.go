// Package outside shows the modules as their users get them: it serves the tree as a module proxy would. Its test builds modules
// against that, without the workspace.
package outside

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Module is one of the tree's.
type Module struct {
	Path   string
	Folder string // from the root of the tree
}

var (
	used     = regexp.MustCompile(`(?m)^\t(\./?\S*)$`)
	named    = regexp.MustCompile(`(?m)^module (\S+)$`)
	released = regexp.MustCompile(`(?m)^## (v\d+\.\d+\.\d+)\b`)
)

// Modules returns those of the tree that go.work uses. Who has a module of their own in a clone may use it there too; it is not named
// after the root module.
func Modules(root string) (found []Module, err error) {
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return nil, err
	}
	var ours string
	for _, dir := range used.FindAllStringSubmatch(string(work), -1) {
		text, err := os.ReadFile(filepath.Join(root, dir[1], "go.mod"))
		if err != nil {
			return nil, err
		}
		path := named.FindStringSubmatch(string(text))
		if path == nil {
			return nil, fmt.Errorf("%s/go.mod names no module", dir[1])
		}
		if ours == "" {
			ours = path[1] // go.work names the root module first
		}
		if path[1] == ours || strings.HasPrefix(path[1], ours+"/") {
			found = append(found, Module{path[1], dir[1]})
		}
	}
	return found, nil
}

// Version returns the version of all modules: the first that CHANGELOG.md has.
func Version(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	found := released.FindStringSubmatch(string(text))
	if found == nil {
		return "", errors.New("CHANGELOG.md has no version")
	}
	return found[1], nil
}

// Serve makes, in dir, a proxy of all modules of the tree, and a module cache. It returns what go commands need in their
// environment to use these: what is ours comes from the tree; what is not, from the cache of whoever runs this, or from where
// go would get it.
func Serve(root, dir string) (env []string, err error) {
	at, err := Version(root)
	if err != nil {
		return nil, err
	}
	modules, err := Modules(root)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if err := m.serve(root, filepath.Join(dir, "proxy", m.Path, "@v"), at); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
	}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, err
	}
	cache, others, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	sources := []string{url(filepath.Join(dir, "proxy")), url(filepath.Join(cache, "cache", "download")), others}
	return append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath",
		"GOMODCACHE="+filepath.Join(dir, "cache"), "GOPROXY="+strings.Join(sources, ",")), nil
}

// url is that of a folder.
func url(folder string) string {
	if folder = filepath.ToSlash(folder); folder[0] != '/' {
		folder = "/" + folder // of a drive
	}
	return "file://" + folder
}

// serve writes the files that the module proxy protocol asks for.
func (m Module) serve(root, dir, version string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, m.Folder, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf("{%q:%q,%q:%q}\n", "Version", version, "Time", "2026-01-01T00:00:00Z"),
		version + ".mod":  string(mod),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return pack(filepath.Join(dir, version+".zip"), m.Path+"@"+version+"/", filepath.Join(root, m.Folder))
}

// pack writes a module's zip file: all files of its folder, but those of modules within, of git, and of runs and builds.
func pack(file, prefix, dir string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	z := zip.NewWriter(out)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if inside != "." && (err == nil || slices.Contains([]string{".git", "bin", "results"}, inside)) {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || inside == ".git": // in a second working tree .git is a file
			return nil
		}
		return add(z, prefix+filepath.ToSlash(inside), name)
	})
	return errors.Join(err, z.Close(), out.Close())
}

// add puts a file into a zip file under another name.
func add(z *zip.Writer, as, name string) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	w, err := z.Create(as)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
