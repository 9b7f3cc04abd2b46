package shell

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// assign sets a variable, and reports whether that called a program.
func (r *run) assign(a *syntax.Assign) (called bool) {
	if a.Name == nil {
		return false
	}
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
	var b strings.Builder
	for _, part := range w.Parts {
		b.WriteString(strings.Join(r.part(part, false), " "))
	}
	return b.String()
}

// pattern is w as a pattern, in which what was quoted stands for itself.
func (r *run) pattern(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted, *syntax.DblQuoted:
			b.WriteString(pattern.QuoteMeta(strings.Join(r.part(part, false), " "), 0))
		default:
			b.WriteString(strings.Join(r.part(part, false), " "))
		}
	}
	return b.String()
}

// fields are words as a command gets them: unquoted expansions are split at blanks.
// File name patterns and braces stay as they are.
func (r *run) fields(words []*syntax.Word) []string {
	var fields []string
	for _, w := range words {
		var current strings.Builder
		began := false
		for _, part := range w.Parts {
			texts := r.part(part, false)
			switch p := part.(type) {
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
				var split []string
				leading, trailing := false, false
				for i, t := range texts {
					split = append(split, strings.Fields(t)...)
					leading = leading || i == 0 && strings.TrimLeft(t, " \t\n") != t
					trailing = strings.TrimRight(t, " \t\n") != t
				}
				if leading && began {
					fields, began = append(fields, current.String()), false
					current.Reset()
				}
				for i, t := range split {
					if i > 0 {
						fields = append(fields, current.String())
						current.Reset()
					}
					current.WriteString(t)
					began = true
				}
				if trailing && began {
					fields, began = append(fields, current.String()), false
					current.Reset()
				}
			case *syntax.DblQuoted:
				if list, ok := r.quotedList(p); ok { // "${a[@]}"
					for i, t := range list {
						if i > 0 {
							fields = append(fields, current.String())
							current.Reset()
						}
						current.WriteString(t)
						began = true
					}
					continue
				}
				current.WriteString(strings.Join(texts, " "))
				began = true
			default:
				current.WriteString(strings.Join(texts, " "))
				began = true
			}
		}
		if began {
			fields = append(fields, current.String())
		}
	}
	for _, f := range fields {
		r.m.produce(f)
		r.m.bytes += 16 // an empty one takes memory too
	}
	return fields
}

// quotedList is "$@" or "${name[@]}", which stay apart.
func (r *run) quotedList(q *syntax.DblQuoted) ([]string, bool) {
	if len(q.Parts) != 1 {
		return nil, false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || p.Exp != nil || p.Length || p.Slice != nil || p.Repl != nil {
		return nil, false
	}
	if p.Param.Value == "@" {
		return r.args[1:], true
	}
	if index(p) == "@" {
		return r.vars[p.Param.Value], true
	}
	return nil, false
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
		var b strings.Builder
		for _, inner := range p.Parts {
			b.WriteString(strings.Join(r.part(inner, true), " "))
		}
		return []string{b.String()}
	case *syntax.ParamExp:
		return r.param(p)
	case *syntax.CmdSubst:
		var out strings.Builder
		r.in(func() status { return r.subshell(p.Stmts, "", &out) })
		return []string{r.m.produce(strings.TrimRight(out.String(), "\n"))}
	}
	return []string{r.m.mark(r.source(part))}
}

// unescape takes backslashes out. Between quotes and in here-documents they only
// escape what would have a meaning there.
func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == '\n':
		case quoted && !strings.ContainsRune("$`\"\\", rune(s[i])):
			b.WriteByte('\\')
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// escapes are those of $'...', echo -e and printf, as far as scripts use them.
func escapes(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\'`, "'", `\"`, `"`).Replace(s)
}

// param is a variable's value with what its expansion does to it.
func (r *run) param(p *syntax.ParamExp) []string {
	name := p.Param.Value
	values, set := r.variable(p)
	if p.Excl || p.Width || p.Slice != nil || p.Names != 0 {
		return []string{r.m.mark(r.source(&syntax.Word{Parts: []syntax.WordPart{p}}))}
	}
	value := strings.Join(values, " ")
	if p.Repl != nil {
		return []string{r.replace(p, value)}
	}
	if p.Length {
		return []string{r.m.mark("the length of " + name)}
	}
	if p.Exp != nil {
		return []string{r.m.produce(r.expansion(p, value, set))}
	}
	r.m.produce(value)
	return values
}

// variable is a variable's values, and whether it is set. One that nobody sets is
// empty, but for those that every machine has.
func (r *run) variable(p *syntax.ParamExp) (values []string, set bool) {
	name := p.Param.Value
	switch name {
	case "@", "*":
		return r.args[1:], len(r.args) > 1
	case "?":
		return []string{"0"}, true
	case "#":
		return []string{strconv.Itoa(len(r.args) - 1)}, true
	case "HOSTNAME":
		return []string{r.host()}, true
	case "HOME":
		return []string{"/root"}, true
	case "UID", "EUID":
		return []string{"0"}, true
	case "USER":
		return []string{"root"}, true
	case "RANDOM", "SECONDS", "PPID", "$", "!", "LINENO", "BASH_SOURCE", "-", "PATH":
		return []string{r.m.mark("$" + name)}, true
	}
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		if i := int(name[0] - '0'); i < len(r.args) {
			return r.args[i : i+1], true
		}
		return nil, false
	}
	values, set = r.vars[name]
	if p.Index != nil {
		switch i := index(p); i {
		case "@", "*":
		case "0":
			values = values[:min(1, len(values))]
		default:
			values = []string{r.m.mark("an element of " + name)}
		}
	} else if len(values) > 1 {
		values = values[:1]
	}
	return values, set
}

func (r *run) host() string {
	if r.m.Hostname == "" {
		return r.m.mark("the machine's name")
	}
	return r.m.Hostname
}

// expansion is ${name OP word}.
func (r *run) expansion(p *syntax.ParamExp, value string, set bool) string {
	e := p.Exp
	empty := !set
	switch e.Op {
	case syntax.AlternateUnsetOrNull, syntax.DefaultUnsetOrNull, syntax.ErrorUnsetOrNull, syntax.AssignUnsetOrNull:
		empty = value == ""
	}
	switch e.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if empty {
			return ""
		}
		return r.word(e.Word)
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if empty {
			return r.word(e.Word)
		}
		return value
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if empty {
			value = r.word(e.Word)
			r.vars[p.Param.Value] = []string{value}
		}
		return value
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return value
	}
	if marked(value) {
		return value
	}
	switch e.Op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pat := r.pattern(e.Word)
		if !marked(pat) {
			return trim(value, pat, e.Op)
		}
	case syntax.LowerAll:
		return strings.ToLower(value)
	case syntax.UpperAll:
		return strings.ToUpper(value)
	}
	return r.m.mark("an expansion of " + p.Param.Value)
}

// trim removes the shortest or longest prefix or suffix that matches.
func trim(value, pat string, op syntax.ParExpOperator) string {
	mode := pattern.Mode(0)
	if op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix {
		mode = pattern.Shortest
	}
	expr, err := pattern.Regexp(pat, mode)
	if err != nil {
		return value
	}
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	switch {
	case prefix:
		expr = "^(?:" + expr + ")"
	case op == syntax.RemSmallSuffix:
		expr = "^(.*)(?:" + expr + ")$" // the longest start leaves the shortest end
	default:
		expr = "(?:" + expr + ")$"
	}
	re, err := regexp.Compile("(?s)" + expr)
	if err != nil {
		return value
	}
	if op == syntax.RemSmallSuffix {
		if m := re.FindStringSubmatch(value); m != nil {
			return m[1]
		}
		return value
	}
	at := re.FindStringIndex(value)
	switch {
	case at == nil:
		return value
	case prefix:
		return value[at[1]:]
	}
	return value[:at[0]]
}

// replace is ${name/old/new} with a plain old.
func (r *run) replace(p *syntax.ParamExp, value string) string {
	from, to := r.word(p.Repl.Orig), r.word(p.Repl.With)
	if from == "" || marked(from) || marked(value) || strings.ContainsAny(from, "*?[\\#%") {
		return r.m.mark("an expansion of " + p.Param.Value)
	}
	n := 1
	if p.Repl.All {
		n = -1
	}
	if count := strings.Count(value, from); count*len(to) > maxBytes {
		panic(ErrLimit)
	}
	return r.m.produce(strings.Replace(value, from, to, n))
}
