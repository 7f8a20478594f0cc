// Where the benchmarks come from: what is in the program, and the commit it stands for.

package runner

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// GitSource asks git for the commit of the current folder. Results are no part of what is measured, so changes to them do not
// count as such. Without git or a commit it returns the zero Source.
func GitSource(ctx context.Context) record.Source {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return record.Source{}
	}
	status, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--",
		":/", ":(top,exclude)RESULTS.md", ":(top,exclude)README.md", ":(top,exclude)results").Output()
	return record.Source{Commit: strings.TrimSpace(string(commit)), Dirty: err != nil || len(status) > 0}
}

// modulesOfInterest are those whose versions decide the figures or their interpretation.
var modulesOfInterest = []string{
	"github.com/dop251/goja", "github.com/dop251/goja_nodejs", "golang.org/x/sys", "golang.org/x/perf",
}

// inspect reads the program's identity, and the versions of the modules in it.
func inspect(path string) (record.Binary, error) {
	b := record.Binary{Modules: map[string]string{}, Settings: map[string]string{}}
	f, err := os.Open(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return b, err
	}
	b.SHA256 = hex.EncodeToString(h.Sum(nil))
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return b, fmt.Errorf("%s is no Go program: %w", path, err)
	}
	b.Go = info.GoVersion
	addModules(b.Modules, info)
	for _, s := range info.Settings {
		switch s.Key {
		case "CGO_ENABLED", "GOAMD64", "GOARM64", "GOEXPERIMENT", "-race", "-gcflags", "-ldflags", "-tags":
			b.Settings[s.Key] = s.Value
		}
	}
	return b, nil
}

func addModules(to map[string]string, info *buildinfo.BuildInfo) {
	for _, m := range info.Deps {
		for _, want := range modulesOfInterest {
			if m.Path == want {
				to[want] = m.Version
			}
		}
	}
}
