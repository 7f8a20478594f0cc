package modules

// Printing of errors: the line of the source, and the stack.

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/turnloop/turnloop/gojaloop"
)

// Report returns an exception as text, as Node prints it. It is for the loop.
func (p *Program) Report(e *gojaloop.Error) string {
	v := p.host.Thrown(e)
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		text := e.Message
		if v != nil {
			text = p.Inspect(v)
		}
		if where := p.where(e.Stack); where != "" {
			return "\n" + strings.TrimSuffix(where, "\n") + p.Show(v) + "\n"
		}
		return "Uncaught:\n" + text + "\n"
	}
	var b strings.Builder
	if arrow := o.GetSymbol(p.arrow); arrow != nil {
		b.WriteString(arrow.String() + "\n")
	} else {
		b.WriteString(p.where(p.host.StackOf(o)))
	}
	text := p.Inspect(v)
	if head := "[" + o.String() + "]"; strings.HasPrefix(text, head) {
		text = o.String() + text[len(head):]
	}
	if stack := e.Stack; stack != "" && !strings.Contains(text, "\n    at ") && e.Message != "" {
		text += "\n    " + strings.ReplaceAll(strings.TrimSpace(stack), "\n\t", "\n    ")
	}
	b.WriteString(text + "\n")
	return b.String()
}

// frame matches a line of a stack trace: a file, a line and a column at its end.
var frame = regexp.MustCompile(`(?m)^\s*at (?:.* \()?(.+?):(\d+):(\d+)\)?$`)

// where returns the source line of a stack trace's first frame with a mark under the column, or "".
func (p *Program) where(stack string) string {
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
	// Node marks the statement that throws.
	if before := []rune(text); column <= len(before) {
		if at := throws.FindStringIndex(string(before[:column-1])); at != nil {
			column = len([]rune(string(before[:column-1])[:at[0]])) + 1
		}
	}
	return arrow(m[1], line, column, 1, text) + "\n"
}

var throws = regexp.MustCompile(`\bthrow\s+(?:new\s+)?[\w$.]*$`)

// source returns the text of a source; "" if it is not there.
func (p *Program) source(name string) string {
	if text, ok := p.texts[name]; ok {
		return text
	}
	if decoded, err := url.PathUnescape(strings.TrimPrefix(name, "file://")); err == nil {
		name = decoded
	}
	if text, ok := p.texts[name]; ok {
		return text
	}
	text, _ := os.ReadFile(name)
	return string(text)
}

// line returns a line of a source, counted from 1.
func (p *Program) line(name string, n int) (string, bool) {
	text := p.source(name)
	lines := strings.Split(text, "\n")
	if n < 1 || n > len(lines) {
		return "", false
	}
	return strings.TrimSuffix(lines[n-1], "\r"), true
}

// longest is the length in bytes up to which a line is shown: a bundle may have everything on one line.
const longest = 400

// arrow returns a line of a source, with a mark of that width below it. Columns count from 1.
func arrow(name string, line, column, width int, text string) string {
	head := fmt.Sprintf("%s:%d\n", name, line)
	if len(text) > longest {
		return head
	}
	before := []rune(text)
	before = before[:min(max(column-1, 0), len(before))]
	return head + text + "\n" + shown.ReplaceAllString(string(before), " ") + strings.Repeat("^", max(width, 1)) + "\n"
}

// shown is what a mark needs a space for; tabs stay.
var shown = regexp.MustCompile(`[^\t]`)

// errorValue returns an error of compiling or reading as a value that a script can catch. On the loop.
func (p *Program) errorValue(err error) goja.Value {
	var s *syntaxError
	if !errors.As(err, &s) {
		e := p.newError("Error", err.Error())
		if nf, ok := err.(*notFound); ok {
			_ = e.Set("code", nf.code)
		}
		return e
	}
	e := p.newError("SyntaxError", s.message)
	if s.line > 0 {
		_ = e.DefineDataPropertySymbol(p.arrow, p.vm.ToValue(arrow(s.file, s.line, s.column, s.width, s.text)), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return e
}

// missingExport returns the error of an import that the module does not export. It shows the line that has the name
// and the specifier.
func (p *Program) missingExport(file, specifier, name, message string) goja.Value {
	s := &syntaxError{file: file, message: message}
	source, ok := p.texts[filepath.Base(file)]
	if !ok {
		source, _ = readSource(file)
	}
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	if name == "default" {
		word = regexp.MustCompile(`\b(import|export)\b`)
	}
	for i, line := range strings.Split(source, "\n") {
		if at := word.FindStringIndex(line); at != nil && strings.Contains(line, specifier) {
			s.line, s.column, s.width, s.text = i+1, len([]rune(line[:at[0]]))+1, at[1]-at[0], strings.TrimSuffix(line, "\r")
			break
		}
	}
	return p.errorValue(s)
}

func (p *Program) newError(class, message string) *goja.Object {
	e, err := p.vm.New(p.vm.Get(class), p.vm.ToValue(message))
	if err != nil {
		return p.vm.NewTypeError("%s", message)
	}
	return e
}

// thrown returns an error that RunFunc takes for an exception with the value v. On the loop.
func (p *Program) thrown(v goja.Value) error {
	ex := p.vm.Try(func() { panic(v) })
	if ex == nil {
		return errors.New(v.String())
	}
	return ex
}

// asSyntaxError makes a syntaxError of an error of goja's.
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

// found matches esbuild's error for an unexpected token.
var found = regexp.MustCompile(`^(?:Expected .* but found|Unexpected) ("(?:[^"\\]|\\.)*"|end of file)(?: in .*)?$`)

// ofMessage makes a syntaxError of esbuild's message, in Node's words where Node has some.
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
	} else if strings.HasSuffix(m.Text, `" must be initialized`) && strings.HasPrefix(m.Text, `The constant "`) {
		s.message = "Missing initializer in const declaration"
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
