// Progress for people: a bar on a terminal, lines elsewhere.

package runner

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Progress shows how far the run is. Its methods are called from one goroutine.
type Progress interface {
	Phase(what string, steps int)         // a phase of so many steps begins
	Step(what string, left time.Duration) // the next step begins; left is the expected time to the end of the run
	Say(format string, args ...any)       // something happened that should be known
	Close()                               // nothing more follows
}

// NewProgress returns the progress that fits f.
func NewProgress(f *os.File) Progress {
	if term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		return &bar{out: f, width: func() int {
			w, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 80
			}
			return w
		}}
	}
	return &plain{out: f}
}

// clock formats a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	return fmt.Sprintf("%d:%02d", s/60, s%60)
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
	fmt.Fprintf(p.out, "[%d/%d, %s left] %s\n", p.step, p.steps, clock(left), what)
}

func (p *plain) Say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

func (p *plain) Close() {}

// bar keeps one line: a bar as wide as what the terminal leaves, the time left, and what runs now.
type bar struct {
	out   io.Writer
	width func() int
	bar   *progressbar.ProgressBar
}

func (b *bar) Phase(what string, steps int) {
	b.Say("%s", what)
	b.bar = progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(b.out),
		progressbar.OptionSetWidth(b.barWidth()),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true),
	)
}

// Beside the bar and its text stand the percentage and the frame.
const frame = len(" 100% || ")

func (b *bar) barWidth() int { return max(min(b.width()/4, 30), 5) }

func (b *bar) Step(what string, left time.Duration) {
	text := clock(left) + " left  " + what
	room := b.width() - b.barWidth() - frame - 1
	if r := []rune(text); len(r) > max(room, 0) {
		text = string(r[:max(room, 0)])
	}
	b.bar.Describe(text)
	_ = b.bar.Add(1) // only fails past the end, where there is nothing to show
}

func (b *bar) Say(format string, args ...any) {
	b.Close()
	fmt.Fprintf(b.out, format+"\n", args...)
}

func (b *bar) Close() {
	if b.bar != nil {
		_ = b.bar.Clear() // a terminal that cannot be written to has no line to clear
	}
}
