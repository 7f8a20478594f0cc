package modules

// Resolving modules: Node's rules for relative files, node_modules, and exports and imports of package.json; and
// TypeScript's for file names without or with another extension.

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// extensions are tried after a name, in this order.
var extensions = []string{".js", ".json", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts"}

// written lists, by the extension that a source writes, the TypeScript extensions that the file may have instead.
var written = map[string][]string{".js": {".ts", ".tsx", ".jsx"}, ".jsx": {".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}}

// notFound is the error of a module that cannot be resolved, with Node's code.
type notFound struct{ code, message string }

func (e *notFound) Error() string { return e.message }

// manifest is the part of a package.json that resolving needs.
type manifest struct {
	dir     string
	Name    string
	Type    string
	Main    string
	Exports json.RawMessage
	Imports map[string]json.RawMessage
}

// resolver finds modules. Any goroutine may call its methods.
type resolver struct {
	mu        sync.Mutex
	manifests map[string]*manifest // by folder; nil for a folder without one. Guarded by mu
	mapped    map[string]string    // files by folder and specifier, see mappedFile. Guarded by mu
}

// resolve returns the file that a specifier names in the file from, or in the folder from if it ends with a separator.
func (r *resolver) resolve(specifier, from string, esm bool) (string, error) {
	dir := filepath.Dir(from)
	if u, ok := strings.CutPrefix(specifier, "file:"); ok {
		parsed, err := url.Parse("file:" + u)
		if err != nil {
			return "", &notFound{"ERR_INVALID_URL", "Invalid URL: " + specifier}
		}
		specifier = fromURLPath(parsed.Path)
	}
	if esm && (filepath.IsAbs(specifier) || strings.HasPrefix(specifier, ".")) { // it is the path of a URL
		path, err := url.PathUnescape(specifier[:strings.IndexAny(specifier+"?", "?#")])
		if err != nil || strings.Count(path, "/") > strings.Count(specifier, "/") {
			return "", &notFound{"ERR_INVALID_MODULE_SPECIFIER", `Invalid module "` + specifier + `" imported from ` + from}
		}
		specifier = path
	}
	var file string
	switch {
	case specifier == "" || strings.ContainsRune(specifier, 0):
		return "", &notFound{"ERR_INVALID_ARG_VALUE", "The module name '" + specifier + "' is not valid"}
	case filepath.IsAbs(specifier):
		file = r.fileOrFolder(specifier)
	case specifier == "." || specifier == ".." || strings.HasPrefix(specifier, "./") || strings.HasPrefix(specifier, "../"):
		path := filepath.Join(dir, filepath.FromSlash(specifier))
		if strings.HasSuffix(specifier, "/") {
			file = r.folder(path)
		} else {
			file = r.fileOrFolder(path)
		}
	case strings.HasPrefix(specifier, "#"):
		m := r.manifestOf(dir)
		if m == nil || m.Imports == nil {
			break
		}
		target, ok := match(m.Imports, specifier, esm)
		if ok && climbs.MatchString(strings.TrimPrefix(target, "./")) {
			return "", climbing(specifier, m)
		}
		if !ok {
			return "", &notFound{"ERR_PACKAGE_IMPORT_NOT_DEFINED", `Package import specifier "` + specifier + `" is not defined in package ` + filepath.Join(m.dir, "package.json")}
		}
		if !strings.HasPrefix(target, "./") {
			return r.resolve(target, filepath.Join(m.dir, "package.json"), esm)
		}
		file = r.file(filepath.Join(m.dir, filepath.FromSlash(target)))
	default:
		if file = r.mappedFile(specifier, dir); file != "" {
			break
		}
		var err error
		if file, err = r.inPackages(specifier, dir, esm); err != nil {
			return "", err
		}
	}
	if file == "" {
		return "", missing(specifier, dir, from, esm)
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return file, nil
}

// missing returns Node's error for a module that does not exist.
func missing(specifier, dir, from string, esm bool) error {
	if !esm {
		return &notFound{"MODULE_NOT_FOUND", "Cannot find module '" + specifier + "'\nRequire stack:\n- " + from}
	}
	what, name := "package", specifier
	if strings.HasPrefix(specifier, ".") || filepath.IsAbs(specifier) {
		what = "module"
		if name = specifier; !filepath.IsAbs(name) {
			name = filepath.Join(dir, filepath.FromSlash(specifier))
		}
	}
	return &notFound{"ERR_MODULE_NOT_FOUND", "Cannot find " + what + " '" + name + "' imported from " + from}
}

// inPackages looks in the node_modules of a folder and of the folders above, and for require in those of NODE_PATH.
func (r *resolver) inPackages(specifier, dir string, esm bool) (string, error) {
	name, rest, _ := strings.Cut(specifier, "/")
	if strings.HasPrefix(name, "@") {
		scoped, more, _ := strings.Cut(rest, "/")
		name, rest = name+"/"+scoped, more
	}
	if m := r.manifestOf(dir); m != nil && m.Name == name && m.Exports != nil {
		return r.exported(m, rest, esm)
	}
	folders := packageFolders(dir)
	if !esm {
		folders = append(folders, filepath.SplitList(os.Getenv("NODE_PATH"))...)
	}
	for _, folder := range folders {
		folder = filepath.Join(folder, filepath.FromSlash(name))
		if m := r.manifestIn(folder); m != nil && m.Exports != nil {
			return r.exported(m, rest, esm)
		}
		if file := r.fileOrFolder(filepath.Join(folder, filepath.FromSlash(rest))); file != "" {
			return file, nil
		}
	}
	return "", nil
}

// packageFolders returns where the packages are that files of a folder may use.
func packageFolders(dir string) (folders []string) {
	for at := dir; ; at = filepath.Dir(at) {
		if filepath.Base(at) != "node_modules" {
			folders = append(folders, filepath.Join(at, "node_modules"))
		}
		if filepath.Dir(at) == at {
			return folders
		}
	}
}

// exported returns the file that a package exports under a subpath.
func (r *resolver) exported(m *manifest, subpath string, esm bool) (string, error) {
	key := "."
	if subpath != "" {
		key = "./" + subpath
	}
	table := map[string]json.RawMessage{}
	if json.Unmarshal(m.Exports, &table) != nil || !hasSubpaths(table) {
		table = map[string]json.RawMessage{".": m.Exports}
	}
	target, ok := match(table, key, esm)
	if !ok || !strings.HasPrefix(target, "./") {
		what := "Package subpath '" + key + "' is not defined by \"exports\" in "
		if key == "." {
			what = "No \"exports\" main defined in "
		}
		return "", &notFound{"ERR_PACKAGE_PATH_NOT_EXPORTED", what + filepath.Join(m.dir, "package.json")}
	}
	if climbs.MatchString(target[2:]) {
		return "", climbing(subpath, m)
	}
	path := filepath.Join(m.dir, filepath.FromSlash(target))
	if file := r.file(path); file != "" {
		return file, nil
	}
	return "", &notFound{"ERR_MODULE_NOT_FOUND", "Cannot find module '" + path + "'"}
}

// climbs matches what would leave the folder that a package exports a part of, or enter the packages that it uses.
var climbs = regexp.MustCompile(`(?i)(^|[/\\])((\.|%2e){1,2}|node_modules)([/\\]|$)`)

// climbing returns Node's error for a request, or a table, that climbs.
func climbing(request string, m *manifest) error {
	manifest := filepath.Join(m.dir, "package.json")
	if climbs.MatchString(strings.TrimPrefix(request, "#")) {
		return &notFound{"ERR_INVALID_MODULE_SPECIFIER", `Invalid module "` + request + `" request is not a valid match in a pattern of ` + manifest}
	}
	return &notFound{"ERR_INVALID_PACKAGE_TARGET", `Invalid target for "` + request + `" in ` + manifest}
}

func hasSubpaths(table map[string]json.RawMessage) bool {
	for key := range table {
		if strings.HasPrefix(key, ".") {
			return true
		}
	}
	return false
}

// match looks up a key in a table of exports or imports. A key of the table may have one star; of those that fit the one with
// the most before its star counts, and of these the longest. What the table has as null is not there.
func match(table map[string]json.RawMessage, key string, esm bool) (string, bool) {
	if v, ok := table[key]; ok && !strings.Contains(key, "*") {
		found, ok := target(v, "", esm)
		return found, ok && found != ""
	}
	best, star, base := "", "", -1
	for k := range table {
		before, after, ok := strings.Cut(k, "*")
		if !ok && strings.HasSuffix(k, "/") {
			before, after, ok = k, "", true
		}
		if ok && strings.HasPrefix(key, before) && strings.HasSuffix(key, after) && len(key) > len(before)+len(after) &&
			(len(before) > base || len(before) == base && len(k) > len(best)) {
			best, star, base = k, key[len(before):len(key)-len(after)], len(before)
		}
	}
	if best == "" {
		return "", false
	}
	found, ok := target(table[best], star, esm)
	if found != "" && strings.HasSuffix(best, "/") {
		found += star
	}
	return found, ok && found != ""
}

// target chooses among the conditions and alternatives of a table's value, in the order in which they are written. It is "" where
// the first condition that holds has null.
func target(v json.RawMessage, star string, esm bool) (string, bool) {
	var text string
	if json.Unmarshal(v, &text) == nil && text != "" {
		return strings.ReplaceAll(text, "*", star), true
	}
	if string(v) == "null" {
		return "", true
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil {
		for _, one := range list {
			if found, ok := target(one, star, esm); ok && found != "" {
				return found, true
			}
		}
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(v))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return "", false
		}
		if key == "node" || key == "default" || key == "import" && esm || key == "require" && !esm {
			if found, ok := target(value, star, esm); ok {
				return found, true
			}
		}
	}
	return "", false
}

func (r *resolver) fileOrFolder(path string) string {
	if file := r.file(path); file != "" {
		return file
	}
	return r.folder(path)
}

func (r *resolver) file(path string) string {
	if isFile(path) {
		return path
	}
	ext := filepath.Ext(path)
	for _, other := range written[ext] {
		if p := strings.TrimSuffix(path, ext) + other; isFile(p) {
			return p
		}
	}
	for _, ext := range extensions {
		if isFile(path + ext) {
			return path + ext
		}
	}
	return ""
}

func (r *resolver) folder(path string) string {
	if m := r.manifestIn(path); m != nil && m.Main != "" {
		main := filepath.Join(path, filepath.FromSlash(m.Main))
		if file := r.file(main); file != "" {
			return file
		}
		if file := r.file(filepath.Join(main, "index")); file != "" {
			return file
		}
	}
	return r.file(filepath.Join(path, "index"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// manifestOf returns the package.json of a folder or of the nearest one above, or nil.
func (r *resolver) manifestOf(dir string) *manifest {
	for {
		if m := r.manifestIn(dir); m != nil {
			return m
		}
		up := filepath.Dir(dir)
		if up == dir || filepath.Base(dir) == "node_modules" {
			return nil
		}
		dir = up
	}
}

func (r *resolver) manifestIn(dir string) *manifest {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, known := r.manifests[dir]
	if known {
		return m
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		m = &manifest{dir: dir}
		var wrong *json.UnmarshalTypeError
		if err := json.Unmarshal(text, m); err != nil && !errors.As(err, &wrong) {
			m = &manifest{dir: dir}
		}
	}
	if r.manifests == nil {
		r.manifests = map[string]*manifest{}
	}
	r.manifests[dir] = m
	return m
}

// fromURLPath returns the file name for the path of a file URL.
func fromURLPath(path string) string {
	if filepath.Separator == '\\' {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

// toURL returns the file URL of a file.
func toURL(file string) string {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// readSource returns the text of a file, or that of a data URL.
func readSource(file string) (string, error) {
	if isData(file) {
		return ofData(file)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

func isData(name string) bool { return strings.HasPrefix(name, "data:") }

// ofData returns the text of a data URL, which is that of a module in JavaScript.
func ofData(name string) (string, error) {
	path := name[len("data:"):strings.IndexAny(name+"?", "?#")]
	head, body, ok := strings.Cut(path, ",")
	if !ok {
		return "", &notFound{"ERR_INVALID_URL", "Invalid URL"}
	}
	if kind, _, _ := strings.Cut(head, ";"); kind != "text/javascript" {
		return "", &notFound{"ERR_UNKNOWN_MODULE_FORMAT", "Unknown module format: " + kind + " for URL " + name}
	}
	text, err := url.PathUnescape(body)
	if err == nil && strings.HasSuffix(head, ";base64") {
		var b []byte
		b, err = base64.StdEncoding.DecodeString(text)
		text = string(b)
	}
	return text, err
}
