package shell

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

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

// variable is a variable's values, and whether it is set. One that is never set is
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
	empty := value == ""
	switch e.Op {
	case syntax.AlternateUnset, syntax.DefaultUnset, syntax.AssignUnset:
		empty = !set
	}
	switch e.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if empty {
			return ""
		}
		return r.word(e.Word)
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !empty {
			return value
		}
		value = r.word(e.Word)
		if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
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
			return trim(r.m.produce(value), pat, e.Op)
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
	switch op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		expr = "^(?:" + expr + ")(.*)$"
	case syntax.RemSmallSuffix:
		expr = "^(.*)(?:" + expr + ")$" // the longest start leaves the shortest end
	default:
		expr = "^(.*?)(?:" + expr + ")$"
	}
	re, err := regexp.Compile("(?s)" + expr)
	if err != nil {
		return value
	}
	if m := re.FindStringSubmatch(value); m != nil {
		return m[1]
	}
	return value
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
	checkDepth(strings.Count(value, from)*len(to), maxBytes)
	return r.m.produce(strings.Replace(value, from, to, n))
}
