package shell

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// stmts follows a list of statements; out nil throws their output away.
func (r *run) stmts(list []*syntax.Stmt, in string, out *strings.Builder) status {
	s := yes
	for _, stmt := range list {
		s = r.stmt(stmt, in, out)
		if s == no && r.errs && !stmt.Negated && !isList(stmt.Cmd) {
			r.jump = exits
		}
		if r.jump != onward {
			break
		}
	}
	return s
}

// isList reports whether a failure in c does not end a script with set -e.
func isList(c syntax.Command) bool {
	b, ok := c.(*syntax.BinaryCmd)
	return ok && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt)
}

// stmt follows one statement with its redirections.
func (r *run) stmt(s *syntax.Stmt, in string, out *strings.Builder) status {
	r.step()
	var file *syntax.Redirect // where standard output goes
	var target string
	for _, rd := range s.Redirs {
		toStdout := rd.N == nil || rd.N.Value == "1"
		switch rd.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.ClbOut, syntax.RdrInOut:
			if toStdout {
				file, target, out = rd, r.redirected(rd.Word), nil
			}
		case syntax.RdrAll, syntax.AppAll:
			file, target, out = rd, r.redirected(rd.Word), nil
		case syntax.DplOut:
			if toStdout && file == nil {
				out = nil
			}
		case syntax.RdrIn:
			in = r.read(r.redirected(rd.Word))
		case syntax.Hdoc:
			in = r.document(rd)
		case syntax.DashHdoc:
			in = withoutTabs(r.document(rd))
		case syntax.WordHdoc:
			in = r.word(rd.Word) + "\n"
		}
	}
	if file != nil {
		out = &strings.Builder{}
	}
	result := yes
	if s.Cmd != nil {
		result = r.in(func() status { return r.command(s.Cmd, in, out) })
	}
	if file != nil && target != "" {
		r.write(target, out.String(), file.Op == syntax.AppOut || file.Op == syntax.AppAll, s.Pos())
	}
	if s.Negated {
		switch result {
		case yes:
			return no
		case no:
			return yes
		case assumed:
			r.why = "whether a program fails"
			return open
		}
	}
	return result
}

// redirected is the file of a redirection; none for a process.
func (r *run) redirected(w *syntax.Word) string {
	for _, part := range w.Parts {
		if _, process := part.(*syntax.ProcSubst); process {
			return ""
		}
	}
	return r.word(w)
}

// document is a here-document. Nothing in it is expanded if its delimiter is quoted.
func (r *run) document(rd *syntax.Redirect) string {
	literal := false
	for _, part := range rd.Word.Parts {
		lit, plain := part.(*syntax.Lit)
		literal = literal || !plain || strings.Contains(lit.Value, `\`)
	}
	var b strings.Builder
	for _, part := range rd.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok && literal {
			b.WriteString(r.m.produce(lit.Value))
			continue
		}
		b.WriteString(strings.Join(r.part(part, true), " "))
	}
	return b.String()
}

func withoutTabs(s string) string {
	lines := strings.SplitAfter(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "")
}

func (r *run) read(p string) string {
	if f, found := r.m.Files[r.abs(p)]; found {
		return f.Content
	}
	return r.m.mark("the content of " + p + ", which user data did not write")
}

func (r *run) command(c syntax.Command, in string, out *strings.Builder) status {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return r.call(c, in, out)
	case *syntax.BinaryCmd:
		return r.binary(c, in, out)
	case *syntax.Block:
		return r.stmts(c.Stmts, in, out)
	case *syntax.Subshell:
		return r.subshell(c.Stmts, in, out)
	case *syntax.IfClause:
		return r.ifClause(c, in, out)
	case *syntax.WhileClause:
		return r.while(c, in, out)
	case *syntax.ForClause:
		return r.forClause(c, in, out)
	case *syntax.CaseClause:
		return r.caseClause(c, in, out)
	case *syntax.FuncDecl:
		r.funcs[c.Name.Value] = c.Body
		return yes
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.assign(a)
		}
		return yes
	case *syntax.TestClause:
		return r.testExpr(c.X)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, in, out)
		}
		return yes
	case *syntax.CoprocClause:
		return r.stmt(c.Stmt, in, nil)
	}
	r.why = "arithmetic" // (( )) and let
	return open
}

// subshell runs statements whose variables, folder and end stay their own.
func (r *run) subshell(list []*syntax.Stmt, in string, out *strings.Builder) status {
	before := r.save()
	s := r.stmts(list, in, out)
	r.vars, r.cwd, r.jump = before.vars, before.cwd, onward
	return s
}

func (r *run) binary(c *syntax.BinaryCmd, in string, out *strings.Builder) status {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		var between strings.Builder
		r.stmt(c.X, in, &between)
		return r.stmt(c.Y, between.String(), out)
	}
	left := r.stmt(c.X, in, out)
	if r.jump != onward {
		return left
	}
	goesOn := c.Op == syntax.AndStmt
	switch left {
	case open:
		return r.either(r.why, func() status { return r.stmt(c.Y, in, out) }, func() status { return yes })
	case no:
		goesOn = !goesOn
	}
	if !goesOn {
		return left
	}
	return r.stmt(c.Y, in, out)
}

// question is the status of a condition: there a program's success is not assumed.
func (r *run) question(cond []*syntax.Stmt, in string, out *strings.Builder) status {
	errs := r.errs
	r.errs = false
	s := r.stmts(cond, in, out)
	r.errs = errs
	if s == assumed {
		r.why = "whether " + r.source(cond[len(cond)-1]) + " succeeds"
		return open
	}
	return s
}

func (r *run) ifClause(c *syntax.IfClause, in string, out *strings.Builder) status {
	if len(c.Cond) == 0 { // else
		return r.stmts(c.Then, in, out)
	}
	then := func() status { return r.stmts(c.Then, in, out) }
	otherwise := func() status {
		if c.Else == nil {
			return yes
		}
		return r.ifClause(c.Else, in, out)
	}
	answer := r.question(c.Cond, in, out)
	if r.jump != onward {
		return answer
	}
	switch answer {
	case yes:
		return then()
	case no:
		return r.in(otherwise)
	}
	return r.either(r.where(c.Pos())+": "+r.why, then, otherwise)
}

func (r *run) while(c *syntax.WhileClause, in string, out *strings.Builder) status {
	for {
		r.step()
		answer := r.question(c.Cond, in, out)
		if r.jump != onward {
			return answer
		}
		if answer == open {
			return r.either(r.where(c.Pos())+": "+r.why,
				func() status { return yes },
				func() status { s := r.stmts(c.Do, in, out); r.endOfLoop(); return s })
		}
		if (answer == yes) == c.Until {
			return yes
		}
		r.stmts(c.Do, in, out)
		if r.endOfLoop() {
			return yes
		}
	}
}

// endOfLoop takes the jumps that are a loop's, and reports whether it is over.
func (r *run) endOfLoop() bool {
	switch r.jump {
	case continues:
		r.jump = onward
	case breaks:
		r.jump = onward
		return true
	}
	return r.jump != onward
}

func (r *run) forClause(c *syntax.ForClause, in string, out *strings.Builder) status {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok { // for ((;;))
		return r.either(r.where(c.Pos())+": how often the loop runs",
			func() status { return yes }, func() status { s := r.stmts(c.Do, in, out); r.endOfLoop(); return s })
	}
	items := r.args[1:]
	if iter.InPos.IsValid() {
		items = r.fields(iter.Items)
	}
	for _, item := range items {
		r.step()
		r.vars[iter.Name.Value] = []string{item}
		r.stmts(c.Do, in, out)
		if r.endOfLoop() {
			break
		}
	}
	return yes
}

func (r *run) caseClause(c *syntax.CaseClause, in string, out *strings.Builder) status {
	word := r.word(c.Word)
	alternatives := []func() status{func() status { return yes }}
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			pat := r.pattern(p)
			if marked(word) || marked(pat) {
				alternatives = append(alternatives, func() status { return r.stmts(item.Stmts, in, out) })
				continue
			}
			if matches(pat, word) {
				return r.stmts(item.Stmts, in, out)
			}
		}
	}
	if len(alternatives) > 1 {
		return r.either(r.where(c.Pos())+": which case holds", alternatives...)
	}
	return yes
}

func matches(pat, s string) bool {
	expr, err := pattern.Regexp(pat, pattern.EntireString)
	if err != nil {
		return false
	}
	re, err := regexp.Compile(expr)
	return err == nil && re.MatchString(s)
}

// call is a simple command: variables are set, or something is called.
func (r *run) call(c *syntax.CallExpr, in string, out *strings.Builder) status {
	if len(c.Args) == 0 {
		s := yes
		for _, a := range c.Assigns {
			if r.assign(a) {
				s = assumed
			}
		}
		return s
	}
	args := r.fields(c.Args)
	if len(args) == 0 {
		return yes
	}
	var undo []func()
	env := map[string]string{}
	for _, a := range c.Assigns {
		name := a.Name.Value
		old, had := r.vars[name]
		undo = append(undo, func() {
			if had {
				r.vars[name] = old
			} else {
				delete(r.vars, name)
			}
		})
		r.assign(a)
		env[name] = r.value(name)
	}
	s := r.dispatch(invocation{args: args, env: env, in: in, out: out, pos: c.Pos()})
	for _, f := range undo {
		f()
	}
	return s
}

// invocation is one call of a program, a function or a builtin.
type invocation struct {
	args []string
	env  map[string]string
	in   string
	out  *strings.Builder
	pos  syntax.Pos
}

func (r *run) dispatch(c invocation) status {
	r.step()
	if body, found := r.funcs[c.args[0]]; found {
		args := r.args
		r.args = append([]string{args[0]}, c.args[1:]...)
		s := r.in(func() status { return r.stmt(body, c.in, c.out) })
		r.args = args
		if r.jump == returns {
			r.jump = onward
		}
		return s
	}
	if strings.Contains(c.args[0], "/") {
		if f, found := r.m.Files[r.abs(c.args[0])]; found {
			return r.nested(c.args[0], f.Content, c, c.args)
		}
	}
	name := c.args[0]
	switch path.Dir(name) {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin":
		name = path.Base(name)
	}
	if f, found := programs[name]; found {
		c.args = append([]string{name}, c.args[1:]...)
		return f(r, c)
	}
	return r.unknown(c)
}

// unknown notes a call of a program that is not followed.
func (r *run) unknown(c invocation) status {
	r.note(c)
	if c.out != nil {
		c.out.WriteString(r.m.mark("what " + short(strings.Join(c.args, " ")) + " prints"))
	}
	return assumed
}

func (r *run) note(c invocation) {
	env := map[string]string{}
	for name, v := range r.vars {
		if len(v) == 1 && environmental(name) {
			env[name] = v[0]
		}
	}
	for name, v := range c.env {
		env[name] = v
	}
	for _, a := range c.args {
		r.m.produce(a)
	}
	r.m.produce(c.in)
	r.m.Calls = append(r.m.Calls, Call{Where: r.where(c.pos), Args: c.args, Env: env, Stdin: c.in})
}

// environmental reports whether a variable is taken to be exported: by custom, those
// in capitals are.
func environmental(name string) bool { return strings.ToUpper(name) == name }

// nested follows a script that this one calls with args, of which the first is $0.
func (r *run) nested(name, text string, c invocation, args []string) status {
	if why, found := r.m.Unknown(text); found && strings.HasPrefix(text, markStart) {
		// All of it came from elsewhere.
		c.in = text
		r.note(c)
		r.why = why
		return assumed
	}
	if !IsShell(text) {
		c.in = text
		r.note(c)
		return assumed
	}
	return r.in(func() status {
		inner := &run{m: r.m, name: name, vars: map[string][]string{}, funcs: map[string]*syntax.Stmt{}, args: args, cwd: r.cwd, depth: r.depth}
		for k, v := range r.vars {
			if environmental(k) {
				inner.vars[k] = v
			}
		}
		for k, v := range c.env {
			inner.vars[k] = []string{v}
		}
		if err := inner.script(text, c.in, c.out); err != nil {
			r.why = err.Error()
			c.in = text
			r.note(c)
			return assumed
		}
		return assumed
	})
}

var secrets = regexp.MustCompile(`(?i)((?:token|secret|password|passwd|certificate-key|hash)\S*?[=\s]+)\S+`)

// short is a command as it may stand in an error: one line, no secrets.
func short(command string) string {
	command = strings.Join(strings.Fields(Strip(command)), " ")
	command = secrets.ReplaceAllString(command, "${1}…")
	if runes := []rune(command); len(runes) > 60 {
		command = string(runes[:60]) + "…"
	}
	return "“" + command + "”"
}

// source is a statement as it was written, shortened.
func (r *run) source(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return "a command"
	}
	return short(b.String())
}
