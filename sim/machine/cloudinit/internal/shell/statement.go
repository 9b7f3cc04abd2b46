package shell

import (
	"maps"
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
			r.m.problem(r.position(stmt.Pos()) + " stops, as " + r.source(stmt) + " fails")
		}
		if r.jump != onward {
			break
		}
	}
	return s
}

// forgiving runs f where a failure is an answer, and does not end a script with set -e.
func (r *run) forgiving(f func() status) status {
	defer func(errs bool) { r.errs = errs }(r.errs)
	r.errs = false
	return f()
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
			in = leadingTabs.ReplaceAllString(r.document(rd), "")
		case syntax.WordHdoc:
			in = r.word(rd.Word) + "\n"
		}
	}
	if file != nil {
		out = &strings.Builder{}
	}
	result := yes
	if s.Cmd != nil {
		follow := func() status { return r.deeper(func() status { return r.command(s.Cmd, in, out) }) }
		if s.Negated {
			result = r.forgiving(follow)
		} else {
			result = follow()
		}
	}
	if file != nil && target != "" {
		r.write(target, out.String(), file.Op == syntax.AppOut || file.Op == syntax.AppAll, s.Pos())
	}
	if s.Negated && result == assumed {
		r.why = "whether a program fails"
		return open
	}
	if s.Negated {
		return not(result)
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
	if rd.Hdoc == nil {
		return "" // it has no lines
	}
	for _, part := range rd.Word.Parts {
		if lit, plain := part.(*syntax.Lit); !plain || strings.Contains(lit.Value, `\`) {
			return r.m.produce(rd.Hdoc.Lit())
		}
	}
	return r.text(rd.Hdoc.Parts, true)
}

var leadingTabs = regexp.MustCompile(`(?m)^\t+`)

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
	r.m.copied(len(r.vars))
	vars, cwd := maps.Clone(r.vars), r.cwd
	s := r.stmts(list, in, out)
	r.vars, r.cwd, r.jump = vars, cwd, onward
	return s
}

func (r *run) binary(c *syntax.BinaryCmd, in string, out *strings.Builder) status {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		var between strings.Builder
		r.stmt(c.X, in, &between)
		return r.stmt(c.Y, between.String(), out)
	}
	left := r.forgiving(func() status { return r.stmt(c.X, in, out) })
	if r.jump != onward {
		return left
	}
	goesOn := c.Op == syntax.AndStmt
	switch left {
	case open:
		return r.followAll(r.why, func() status { return r.stmt(c.Y, in, out) }, func() status { return yes })
	case no:
		goesOn = !goesOn
	}
	if !goesOn {
		return left
	}
	return r.stmt(c.Y, in, out)
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
		return r.deeper(otherwise)
	}
	return r.followAll(r.position(c.Pos())+": "+r.why, then, otherwise)
}

func (r *run) while(c *syntax.WhileClause, in string, out *strings.Builder) status {
	for {
		r.step()
		answer := r.question(c.Cond, in, out)
		if r.jump != onward {
			return answer
		}
		if answer == open {
			return r.followAll(r.position(c.Pos())+": "+r.why,
				func() status { return yes }, func() status { r.stmts(c.Do, in, out); r.endOfLoop(); return yes })
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
		return r.followAll(r.position(c.Pos())+": how often the loop runs",
			func() status { return yes }, func() status { r.stmts(c.Do, in, out); r.endOfLoop(); return yes })
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
			if r.matches(pat, word) {
				return r.stmts(item.Stmts, in, out)
			}
		}
	}
	if len(alternatives) > 1 {
		return r.followAll(r.position(c.Pos())+": which case holds", alternatives...)
	}
	return yes
}

func (r *run) matches(pat, s string) bool {
	r.m.produce(s) // it is read, which takes time
	expr, err := pattern.Regexp(pat, pattern.EntireString)
	if err != nil {
		return false
	}
	re, err := regexp.Compile(expr)
	return err == nil && re.MatchString(s)
}
