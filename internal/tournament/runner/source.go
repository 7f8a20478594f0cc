// Where the benchmark binary comes from: building it, reading what is in it, and the commit it stands for.

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

const benchPackage = "github.com/turnloop/turnloop/internal/tournament"

// Build compiles the benchmark binary to path.
func Build(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-o", path, benchPackage)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the benchmark binary: %w\n%s", err, out)
	}
	return nil
}

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

// inspect reads the binary's identity, and the versions of the modules in it and in this program.
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
	if own, err := os.Executable(); err == nil {
		if info, err := buildinfo.ReadFile(own); err == nil {
			addModules(b.Modules, info)
		}
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return b, fmt.Errorf("%s is not a Go test binary: %w", path, err)
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
