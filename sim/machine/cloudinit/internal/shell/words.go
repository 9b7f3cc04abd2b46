package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// assign sets a variable, and reports whether that called a program.
func (r *run) assign(a *syntax.Assign) (called bool) {
	if a.Name == nil {
		return false
	}
	r.step()
	name := a.Name.Value
	switch {
	case a.Naked: // export NAME
	case a.Index != nil:
		r.vars[name] = []string{r.m.mark("an element of " + name)}
	case a.Array != nil:
		var words []*syntax.Word
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				words = append(words, e.Value)
			}
		}
		values := r.fields(words)
		if a.Append {
			values = append(append([]string{}, r.vars[name]...), values...)
		}
		r.vars[name] = values
	default:
		var value string
		if a.Value != nil {
			for _, part := range a.Value.Parts {
				_, subst := part.(*syntax.CmdSubst)
				called = called || subst
			}
			value = r.word(a.Value)
		}
		if a.Append {
			value = r.value(name) + value
		}
		r.vars[name] = []string{r.m.produce(value)}
	}
	return called
}

// value is a variable's, or of an array the first.
func (r *run) value(name string) string {
	if v := r.vars[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// word is w as one text, not split.
func (r *run) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return r.text(w.Parts, false)
}

// text is parts as one text; quoted says whether they stand between quotes.
func (r *run) text(parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(strings.Join(r.part(part, quoted), " "))
	}
	return b.String()
}

// pattern is w as a pattern, in which what was quoted stands for itself.
func (r *run) pattern(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted, *syntax.DblQuoted:
			b.WriteString(pattern.QuoteMeta(r.text(w.Parts[i:i+1], false), 0))
		default:
			b.WriteString(r.text(w.Parts[i:i+1], false))
		}
	}
	return b.String()
}

// fields are words as a command gets them: unquoted expansions are split at blanks.
// File name patterns and braces stay as they are.
func (r *run) fields(words []*syntax.Word) []string {
	var fields []string
	var current strings.Builder
	began := false
	end := func() {
		if began {
			fields = append(fields, current.String())
		}
		began = false
		current.Reset()
	}
	add := func(texts ...string) {
		for i, t := range texts {
			if i > 0 {
				end()
			}
			began = true
			current.WriteString(t)
		}
	}
	for _, w := range words {
		for _, part := range w.Parts {
			texts := r.part(part, false)
			switch part.(type) {
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
				all := strings.Join(texts, " ")
				if strings.TrimLeft(all, blanks) != all {
					end()
				}
				add(strings.Fields(all)...)
				if strings.TrimRight(all, blanks) != all {
					end()
				}
			default:
				if list, ok := r.quotedList(part); ok { // "${a[@]}"
					texts = list
				}
				add(texts...)
			}
		}
		end()
	}
	for _, f := range fields {
		r.m.produce(f)
		r.m.bytes += 16 // an empty one takes memory too
	}
	return fields
}

const blanks = " \t\n"

// quotedList is "$@" or "${name[@]}", which stay apart.
func (r *run) quotedList(part syntax.WordPart) ([]string, bool) {
	q, ok := part.(*syntax.DblQuoted)
	if !ok || len(q.Parts) != 1 {
		return nil, false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || p.Excl || p.Exp != nil || p.Length || p.Slice != nil || p.Repl != nil {
		return nil, false
	}
	if p.Param.Value == "@" {
		return r.args[1:], true
	}
	return r.vars[p.Param.Value], index(p) == "@"
}

// index is the literal index of an expansion.
func index(p *syntax.ParamExp) string {
	if w, ok := p.Index.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

// part expands a part of a word. It is one text but for lists.
func (r *run) part(part syntax.WordPart, quoted bool) []string {
	switch p := part.(type) {
	case *syntax.Lit:
		return []string{r.m.produce(unescape(p.Value, quoted))}
	case *syntax.SglQuoted:
		if p.Dollar {
			return []string{r.m.produce(escapes(p.Value))}
		}
		return []string{r.m.produce(p.Value)}
	case *syntax.DblQuoted:
		return []string{r.text(p.Parts, true)}
	case *syntax.ParamExp:
		return r.param(p)
	case *syntax.CmdSubst:
		var out strings.Builder
		r.deeper(func() status { return r.subshell(p.Stmts, "", &out) })
		return []string{r.m.produce(strings.TrimRight(out.String(), "\n"))}
	}
	return []string{r.m.mark(r.source(part))}
}

var escaped, escapedQuoted = regexp.MustCompile(`(?s)\\(.)`), regexp.MustCompile("\\\\([\n$`\"\\\\])")

// unescape takes backslashes out. Between quotes and in here-documents they only
// escape what would have a meaning there.
func unescape(s string, quoted bool) string {
	re := escaped
	if quoted {
		re = escapedQuoted
	}
	return re.ReplaceAllStringFunc(s, func(pair string) string { return strings.TrimPrefix(pair[1:], "\n") })
}

// escapes are those of $'...', echo -e and printf, as far as scripts use them.
func escapes(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\'`, "'", `\"`, `"`).Replace(s)
}
