package main

// What is printed of errors: where in the source, and the stack.

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/turnloop/turnloop/gojaloop"
)

// uncaught ends the program, unless it is a session, because of an exception that nobody has caught. On the loop.
func (p *program) uncaught(e *gojaloop.Error) {
	if p.session != nil {
		p.session.uncaught(e)
		return
	}
	fmt.Fprint(p.stderr, p.report(e))
	p.host.Exit(1)
}

// report tells of an exception as Node does. On the loop.
func (p *program) report(e *gojaloop.Error) string {
	v := p.host.Thrown(e)
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		text := e.Message
		if v != nil {
			text = p.inspect(v)
		}
		return "Uncaught:\n" + text + "\n"
	}
	var b strings.Builder
	if arrow := o.GetSymbol(p.arrow); arrow != nil {
		b.WriteString(arrow.String() + "\n")
	} else {
		b.WriteString(p.where(p.host.StackOf(o)))
	}
	text := p.inspect(v)
	if head := "[" + o.String() + "]"; strings.HasPrefix(text, head) {
		text = o.String() + text[len(head):]
	}
	if stack := e.Stack; stack != "" && !strings.Contains(text, "\n    at ") && e.Message != "" {
		text += "\n    " + strings.ReplaceAll(strings.TrimSpace(stack), "\n\t", "\n    ")
	}
	b.WriteString(text + "\n")
	return b.String()
}

// frame is a line of a stack trace: where something is, at the end of the line.
var frame = regexp.MustCompile(`(?m)^\s*at (?:.* \()?(.+?):(\d+):(\d+)\)?$`)

// where shows the line of the source that a stack trace begins with, and the place in it.
func (p *program) where(stack string) string {
	m := frame.FindStringSubmatch(stack)
	if m == nil {
		return ""
	}
	line, _ := strconv.Atoi(m[2])
	column, _ := strconv.Atoi(m[3])
	text, ok := p.line(m[1], line)
	if !ok {
		return ""
	}
	return arrow(m[1], line, column, 1, text) + "\n"
}

// line returns a line of a source.
func (p *program) line(name string, n int) (string, bool) {
	text, ok := p.texts[name]
	if !ok {
		decoded, err := url.PathUnescape(name)
		if err != nil {
			decoded = name
		}
		if text, ok = p.texts[decoded]; !ok {
			b, err := os.ReadFile(decoded)
			if err != nil {
				return "", false
			}
			text = string(b)
		}
	}
	lines := strings.Split(text, "\n")
	if n < 1 || n > len(lines) {
		return "", false
	}
	return strings.TrimSuffix(lines[n-1], "\r"), true
}

// longest is how much of a line is shown: a bundle may have everything on one.
const longest = 400

// arrow is a line of a source with a mark below it. Columns count from one.
func arrow(name string, line, column, width int, text string) string {
	head := fmt.Sprintf("%s:%d\n", name, line)
	if len(text) > longest {
		return head
	}
	var pad strings.Builder
	for i, c := range []rune(text) {
		if i >= column-1 {
			break
		}
		if c != '\t' {
			c = ' '
		}
		pad.WriteRune(c)
	}
	return head + text + "\n" + pad.String() + strings.Repeat("^", max(width, 1)) + "\n"
}

// errorValue makes an error that a script can catch of what compiling or reading has brought. On the loop.
func (p *program) errorValue(err error) goja.Value {
	var s *syntaxError
	if !errors.As(err, &s) {
		return p.newError("Error", err.Error())
	}
	e := p.newError("SyntaxError", s.message)
	if s.line > 0 {
		_ = e.DefineDataPropertySymbol(p.arrow, p.vm.ToValue(arrow(s.file, s.line, s.column, s.width, s.text)), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return e
}

func (p *program) newError(class, message string) *goja.Object {
	e, err := p.vm.New(p.vm.Get(class), p.vm.ToValue(message))
	if err != nil {
		return p.vm.NewTypeError("%s", message)
	}
	return e
}

// thrown is a value as an error that RunFunc takes for an exception.
func (p *program) thrown(v goja.Value) error {
	ex := p.vm.Try(func() { panic(v) })
	if ex == nil {
		return errors.New(v.String())
	}
	return ex
}

// tellUnsettled tells that the main module awaits what never comes.
func (p *program) tellUnsettled() {
	fmt.Fprintf(p.stderr, "Warning: Detected unsettled top-level await at %s\n", p.mainName)
}

// asSyntaxError makes an error of goja's ours.
func asSyntaxError(err error, name, source string) error {
	var list parser.ErrorList
	var c *goja.CompilerSyntaxError
	at, message := file.Position{}, err.Error()
	switch {
	case errors.As(err, &list) && len(list) > 0:
		at, message = list[0].Position, list[0].Message
	case errors.As(err, &c) && c.File != nil:
		at, message = c.File.Position(c.Offset), c.Message
	case errors.As(err, &c):
		message = c.Message
		if m := gojaPosition.FindStringSubmatch(message); m != nil {
			at.Line, _ = strconv.Atoi(m[1])
			at.Column, _ = strconv.Atoi(m[2])
			message = m[3]
		}
	}
	s := &syntaxError{file: name, line: at.Line, column: at.Column, width: 1, message: message}
	if lines := strings.Split(source, "\n"); at.Line >= 1 && at.Line <= len(lines) {
		s.text = lines[at.Line-1]
	}
	return s
}

var gojaPosition = regexp.MustCompile(`^.*: Line (\d+):(\d+) (.*?)(?: \(and \d+ more errors\))?$`)

// found is what esbuild has found in place of what it expected.
var found = regexp.MustCompile(`^(?:Expected .* but found|Unexpected) ("(?:[^"\\]|\\.)*"|end of file)(?: in .*)?$`)

// ofMessage makes a SyntaxError of esbuild's message, in Node's words where there are such.
func ofMessage(m api.Message, name string) error {
	s := &syntaxError{file: name, message: m.Text}
	if l := m.Location; l != nil {
		s.line, s.width, s.text = l.Line, l.Length, l.LineText
		s.column = len([]rune(l.LineText[:min(l.Column, len(l.LineText))])) + 1
	}
	if f := found.FindStringSubmatch(m.Text); f != nil {
		switch token, err := strconv.Unquote(f[1]); {
		case f[1] == "end of file":
			s.message = "Unexpected end of input"
		case err != nil:
		case word.MatchString(token) && !reserved[token]:
			s.message = "Unexpected identifier '" + token + "'"
		default:
			s.message = "Unexpected token '" + token + "'"
		}
	} else if n := already.FindStringSubmatch(m.Text); n != nil {
		s.message = "Identifier '" + n[1] + "' has already been declared"
	} else if m.Text == "Unterminated string literal" {
		s.message = "Invalid or unexpected token"
	}
	return s
}

var (
	already  = regexp.MustCompile(`^The symbol "(.*)" has already been declared$`)
	word     = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*$`)
	reserved = map[string]bool{}
)

func init() {
	for _, w := range strings.Fields("break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with") {
		reserved[w] = true
	}
}
