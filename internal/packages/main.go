//go:build unix

// Command packages compares loopjs with Node on Debian's packages for Node: which of them load, and which of the small programs of
// folder uses print what they print there. Debian's packages are downloaded into a folder and unpacked, and nothing is installed.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	var (
		dir     = flag.String("dir", filepath.Join(os.TempDir(), "debian-packages"), "the `folder` for the packages; what is there is not downloaded again")
		program = flag.String("loopjs", "bin/loopjs", "the `program` that is compared with Node")
		uses    = flag.String("uses", "internal/packages/uses", "the `folder` of programs, and of packages.txt")
		sample  = flag.Int("sample", 100, "how many packages, drawn by chance, are loaded; 0 is all, and takes an hour")
		seed    = flag.Uint64("seed", uint64(time.Now().UnixNano()), "the `number` of the sample")
		limit   = flag.Duration("limit", time.Minute, "how long a program may take")
	)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "packages: unexpected %q\n", flag.Args())
		os.Exit(2)
	}
	for _, need := range []string{"node", "apt-get", "apt-cache", "dpkg"} {
		if _, err := exec.LookPath(need); err != nil {
			fmt.Printf("skipped: there is no %s, which this needs besides Debian's packages\n", need)
			return
		}
	}
	c := census{runtimes: [2]string{"node", absolute(*program)}, limit: *limit, causes: map[string][]string{}}
	modules, err := unpack(*dir, filepath.Join(*uses, "packages.txt"))
	if err != nil {
		fmt.Println("skipped: Debian's packages cannot be had:", err)
		return
	}
	if err := c.compare(modules, *uses, *sample, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// unpack downloads what a list names, and the JavaScript that it depends on, and returns the folder of the modules.
func unpack(dir, list string) (modules string, err error) {
	modules = filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules, nil
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return "", err
	}
	depends := append(strings.Fields("depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances"), strings.Fields(string(text))...)
	all, err := exec.Command("apt-cache", depends...).Output()
	if err != nil {
		return "", err
	}
	names := strings.Fields(string(text))
	for _, line := range strings.Split(string(all), "\n") {
		if strings.HasPrefix(line, "node-") || strings.HasPrefix(line, "libjs-") {
			names = append(names, line)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	fmt.Printf("downloading %d packages into %s\n", len(names), dir)
	archives, root := filepath.Join(dir, "archives"), filepath.Join(dir, "root")
	if err := os.MkdirAll(archives, 0o755); err != nil {
		return "", err
	}
	get := exec.Command("apt-get", append([]string{"-q", "download"}, names...)...)
	get.Dir = archives
	if text, err := get.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
	}
	files, _ := filepath.Glob(filepath.Join(archives, "*.deb"))
	for _, file := range files {
		if text, err := exec.Command("dpkg", "-x", file, root).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, text)
		}
	}
	// The last step, so that what was interrupted begins anew.
	return modules, os.Symlink(filepath.Join("root", "usr", "share", "nodejs"), modules)
}

// census is one comparison.
type census struct {
	runtimes [2]string // Node, and what is compared with it
	limit    time.Duration
	causes   map[string][]string // what differs, by cause
}

func (c *census) compare(modules, uses string, sample int, seed uint64) error {
	programs, err := filepath.Glob(filepath.Join(uses, "*.*js"))
	if err != nil {
		return err
	}
	work := filepath.Dir(modules) // the programs are beside their modules
	ran, same := 0, 0
	for _, file := range programs {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := filepath.Base(file)
		if err := os.WriteFile(filepath.Join(work, name), text, 0o644); err != nil {
			return err
		}
		node, loopjs := c.both(work, name)
		if strings.Contains(node, "Cannot find module") || strings.Contains(node, "Cannot find package") {
			continue // it is not among what Debian has
		}
		ran++
		if node == loopjs {
			same++
		} else {
			c.differs("prints something else: "+firstDifference(node, loopjs), name)
		}
		progress("%d of %d programs, %d the same", ran, len(programs), same)
	}
	names, err := filepath.Glob(filepath.Join(modules, "*"))
	if err != nil {
		return err
	}
	scoped, _ := filepath.Glob(filepath.Join(modules, "@*", "*"))
	names = slices.DeleteFunc(append(names, scoped...), func(n string) bool { return strings.HasPrefix(filepath.Base(n), "@") })
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	all := len(names)
	if sample > 0 {
		names = names[:min(sample, all)]
	}
	loads, load := 0, 0
	for i, path := range names {
		name, _ := filepath.Rel(modules, path)
		script := fmt.Sprintf("require(%q); process.exit(0)", name)
		if _, err := c.run(c.runtimes[0], work, "-e", script); err == nil {
			loads++
			if text, err := c.run(c.runtimes[1], work, "-e", script); err == nil {
				load++
			} else {
				c.differs("does not load: "+cause(text, err), name)
			}
		}
		progress("%d of %d packages, %d load in Node, %d here", i+1, len(names), loads, load)
	}
	fmt.Printf("\n| | Node | loopjs |\n| --- | --- | --- |\n| packages that load, of %d of %d (seed %d) | %d | %d |\n| programs that print what Node prints | %d | %d |\n\n| what differs | where |\n| --- | --- |\n",
		len(names), all, seed, loads, load, ran, same)
	found := make([]string, 0, len(c.causes))
	for cause := range c.causes {
		found = append(found, cause)
	}
	slices.Sort(found)
	for _, cause := range found {
		fmt.Printf("| %s | %s |\n", strings.ReplaceAll(cause, "|", `\|`), strings.Join(c.causes[cause], ", "))
	}
	return nil
}

func (c *census) differs(cause, name string) { c.causes[cause] = append(c.causes[cause], name) }

// both returns what a program prints under each runtime, with its exit status.
func (c *census) both(dir, name string) (node, loopjs string) {
	var out [2]string
	for i, runtime := range c.runtimes {
		text, err := c.run(runtime, dir, name)
		out[i] = steady(text) + fmt.Sprintf("\n%v", err)
	}
	return out[0], out[1]
}

func (c *census) run(runtime, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, runtime, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules")) // the folder is a link, and modules find others from their real place
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("it takes more than %v", c.limit)
	}
	if err != nil {
		return out.String() + errs.String(), err
	}
	return out.String(), nil
}

var (
	changing = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d\d:\d\d:\d\d|\d+(\.\d+)?ms|/tmp/\S+|[0-9a-f]{8}-[0-9a-f-]{27}`)
	place    = regexp.MustCompile(`\n +at .*|\n\nNode\.js v.*`)
	failure  = regexp.MustCompile(`(?m)^(?:Uncaught )?\w*Error\b.*`)
)

// steady leaves out what is another in each run: times, temporary names, and places in the runtime's own code.
func steady(text string) string {
	return strings.TrimSpace(changing.ReplaceAllString(place.ReplaceAllString(text, ""), "~"))
}

func cause(text string, err error) string {
	if line := failure.FindString(text); line != "" {
		return line
	}
	return err.Error()
}

// firstDifference returns the first line that differs.
func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range bs {
		if i >= len(as) || as[i] != bs[i] {
			return fmt.Sprintf("%.100s", bs[i])
		}
	}
	return "less"
}

// progress shows how far it is on a line of its own, which the next one replaces.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...) }
