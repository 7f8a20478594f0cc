// The verdict in the README, one sentence and the picture, so that its figures are those of the results.

package report

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// The verdict stands between these lines of a README.
const (
	verdictBegin = "<!-- verdict -->\n"
	verdictEnd   = "<!-- /verdict -->\n"
)

// updateReadme puts the verdict into the README at path. It does nothing if there is no such file, or no place in it.
func (d *document) updateReadme(path, base string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), verdictBegin)
	if !ok {
		return nil
	}
	_, after, ok := strings.Cut(rest, verdictEnd)
	if !ok {
		return nil
	}
	var b strings.Builder
	b.WriteString(before + verdictBegin)
	for _, bl := range d.digest() {
		writeMarkdown(&b, bl, base)
	}
	b.WriteString("\n" + verdictEnd + after)
	return writeChanged(path, []byte(b.String()))
}

// digest is the report in one sentence and one picture.
func (d *document) digest() []block {
	var out []block
	if label := d.label(); label != "" {
		out = append(out, para("**"+plain(label)+"**"))
	}
	out = append(out, para(d.verdict()[0]))
	if pictures := d.pictures(); len(pictures) > 0 {
		out = append(out, figure{pictures[0]})
	}
	return out
}
