// The verdict in the README, so that its figures are those of the results.

package report

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
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

// digest is the report on half a screen.
func (d *document) digest() []block {
	var out []block
	if label := d.label(); label != "" {
		out = append(out, para("**"+plain(label)+"**"))
	}
	for _, s := range d.verdict() {
		out = append(out, para(s))
	}
	if by := d.byCategory(); len(by) > 0 {
		out = append(out, para("Cost as a multiple of `"+stats.Reference+"`'s, by category; less is better:"), by[len(by)-1])
	}
	return out
}
