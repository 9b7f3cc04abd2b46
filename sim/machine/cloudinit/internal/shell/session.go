package shell

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// run is one script on its machine.
type run struct {
	m     *Machine
	name  string
	vars  map[string][]string // a plain variable has one value, an array any number
	args  []string            // $0 $1 ...
	funcs map[string]*syntax.Stmt
	cwd   string
	jump  jump
	why   string // the question that the last open status stands for
	depth int
	errs  bool // set -e
}

// limit is what following a script panics with to end it, wherever it is.
type limit struct{}

func checkDepth(n, most int) {
	if n > most {
		panic(limit{})
	}
}

type jump int

const (
	onward jump = iota
	exits
	returns
	breaks
	continues
)

// status is how a command ended, as far as that is known.
type status int

const (
	yes     status = iota
	no             // it failed
	assumed        // a program was called, which is taken to succeed
	open           // a question without an answer
)

// Session is a shell that lives through several commands, as the entries of runcmd
// share one.
type Session struct{ run *run }

// Start opens a shell.
func (m *Machine) Start() *Session {
	r := &run{m: m, vars: map[string][]string{}, funcs: map[string]*syntax.Stmt{}, args: []string{"sh"}, cwd: "/"}
	return &Session{r}
}

// Run follows a script, called name in events. After one that has ended the shell
// nothing happens any more.
func (s *Session) Run(name, script string) error {
	return s.guarded(name, func() error {
		if !IsShell(script) {
			s.run.recordCall(invocation{args: []string{name}, in: script})
			return nil
		}
		return s.run.script(script, "", nil)
	})
}

// Call follows the call of one program.
func (s *Session) Call(name string, args []string) error {
	return s.guarded(name, func() error {
		s.run.dispatch(invocation{args: args})
		return nil
	})
}

func (s *Session) guarded(name string, f func() error) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case limit:
			err = fmt.Errorf("%s: %w", name, ErrLimit)
		default:
			panic(e)
		}
	}()
	if s.run.jump == exits {
		return nil
	}
	s.run.name, s.run.jump = name, onward
	return f()
}

var shebang = regexp.MustCompile(`^#!\s*(\S*/)?(env\s+(-\S+\s+)*)?(\S*/)?(sh|bash|dash|ash|ksh)(\s|$)`)

// IsShell reports whether a script is one for a shell: it says so, or says nothing.
func IsShell(script string) bool {
	return !strings.HasPrefix(script, "#!") || shebang.MatchString(script)
}

func (r *run) script(text, in string, out *strings.Builder) error {
	checkDepth(len(text), maxScript)
	checkDepth(nesting(text), maxNesting)
	r.m.produce(text) // it may be the same again and again
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		var parse syntax.ParseError
		if errors.As(err, &parse) {
			return fmt.Errorf("%s line %d is no shell: %s", r.name, parse.Pos.Line(), parse.Text)
		}
		return fmt.Errorf("%s line 0 is no shell: %w", r.name, err)
	}
	r.stmts(file.Stmts, in, out)
	return nil
}

// nesting is as deep as text can nest, for a parser that is recursive: nothing nests
// without one of these.
func nesting(text string) int {
	n := strings.Count(text, "(") + strings.Count(text, "{") + strings.Count(text, "`") + strings.Count(text, "[")
	for _, word := range []string{"if", "while", "until", "for", "case", "select", "!", "time", "coproc"} {
		n += strings.Count(text, word)
	}
	return n
}

// step counts what is done.
func (r *run) step() {
	r.m.steps++
	checkDepth(r.m.steps, maxSteps)
}

// deeper runs f one level deeper.
func (r *run) deeper(f func() status) status {
	r.depth++
	checkDepth(r.depth, maxDepth)
	defer func() { r.depth-- }()
	return f()
}

func (r *run) position(pos syntax.Pos) string {
	if !pos.IsValid() {
		return r.name // a program that was called without a shell
	}
	return fmt.Sprintf("%s line %d", r.name, pos.Line())
}
