// Progress for people: one line on a terminal, which changes, and lines elsewhere.

package runner

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// A Progress shows how far the run is. Its methods are called from one goroutine.
type Progress interface {
	Phase(what string, steps int)         // a phase of so many steps begins
	Step(what string, left time.Duration) // the next step begins; left is the expected time to the end of the run, 0 if nobody knows
	Say(format string, args ...any)       // something happened that should be known
	Close()                               // nothing more follows
}

// NewProgress returns the progress that fits f.
func NewProgress(f *os.File) Progress {
	if term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		return &line{out: f}
	}
	return &plain{out: f}
}

// remaining says how much time is left, in minutes and seconds, if that is known.
func remaining(left time.Duration) string {
	if left <= 0 {
		return ""
	}
	s := int(left.Round(time.Second) / time.Second)
	return fmt.Sprintf(", %d:%02d left", s/60, s%60)
}

// plain writes one line per step.
type plain struct {
	out         io.Writer
	step, steps int
}

func (p *plain) Phase(what string, steps int) {
	p.step, p.steps = 0, steps
	fmt.Fprintf(p.out, "%s\n", what)
}

func (p *plain) Step(what string, left time.Duration) {
	p.step++
	fmt.Fprintf(p.out, "[%d/%d%s] %s\n", p.step, p.steps, remaining(left), what)
}

func (p *plain) Say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

func (p *plain) Close() {}

// line keeps one line of a terminal: how much is done, the time left, and what runs now.
type line struct {
	out         *os.File
	step, steps int
}

func (l *line) Phase(what string, steps int) {
	l.step, l.steps = 0, steps
	l.Say("%s", what)
}

func (l *line) Step(what string, left time.Duration) {
	l.step++
	text := []rune(fmt.Sprintf("%3d %%%s  %s", 100*l.step/max(l.steps, 1), remaining(left), what))
	width, _, err := term.GetSize(int(l.out.Fd()))
	if err != nil {
		width = 80
	}
	fmt.Fprintf(l.out, "%s%s", clearLine, string(text[:min(len(text), max(width-1, 0))]))
}

func (l *line) Say(format string, args ...any) {
	fmt.Fprintf(l.out, clearLine+format+"\n", args...)
}

func (l *line) Close() { fmt.Fprint(l.out, clearLine) }

// clearLine goes to the beginning of a terminal's line, and removes what is there.
const clearLine = "\r\x1b[K"
