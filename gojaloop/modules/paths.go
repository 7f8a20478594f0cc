package modules

// The paths and the baseUrl of tsconfig.json: other places in which TypeScript looks for modules. esbuild reads them,
// and the files that tsconfig.json extends.

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// mappedFile returns the file that the tsconfig.json of a folder names for a module that is neither relative nor
// absolute; "" if it names none.
func (r *resolver) mappedFile(specifier, dir string) string {
	config := tsconfig(dir)
	if config == "" || !mayMap(config) {
		return ""
	}
	if m := r.manifestOf(dir); m != nil && (specifier == m.Name || strings.HasPrefix(specifier, m.Name+"/")) {
		return "" // a package's own name follows the rules of package.json
	}
	key := dir + "\x00" + specifier
	r.mu.Lock()
	file, known := r.mapped[key]
	r.mu.Unlock()
	if known {
		return file
	}
	var found api.ResolveResult
	plugin := api.Plugin{Name: "modules", Setup: func(b api.PluginBuild) {
		b.OnStart(func() (api.OnStartResult, error) {
			found = b.Resolve(specifier, api.ResolveOptions{ResolveDir: dir, Kind: api.ResolveJSImportStatement})
			return api.OnStartResult{}, nil
		})
	}}
	api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{}, Bundle: true, LogLevel: api.LogLevelSilent, Platform: api.PlatformNeutral, Tsconfig: config,
		ResolveExtensions: extensions, PreserveSymlinks: true, Plugins: []api.Plugin{plugin},
	})
	// What is in node_modules is found by Node's rules.
	if path := found.Path; len(found.Errors) == 0 && !found.External && filepath.IsAbs(path) && !strings.Contains(filepath.ToSlash(path), "/node_modules/") && isFile(path) {
		file = path
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mapped == nil {
		r.mapped = map[string]string{}
	}
	r.mapped[key] = file
	return file
}

// mayMap tells whether a tsconfig.json may have paths or a baseUrl.
func mayMap(config string) bool {
	text, err := os.ReadFile(config)
	if err != nil {
		return false
	}
	for _, word := range []string{`"paths"`, `"baseUrl"`, `"extends"`} {
		if strings.Contains(string(text), word) {
			return true
		}
	}
	return false
}
