package shell

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	env := map[string]string{}
	for _, a := range c.Assigns {
		name := a.Name.Value
		old, had := r.vars[name]
		defer func() {
			if delete(r.vars, name); had {
				r.vars[name] = old
			}
		}()
		r.assign(a)
		env[name] = r.value(name)
	}
	return r.dispatch(invocation{args: args, env: env, in: in, out: out, pos: c.Pos()})
}

// invocation is one call of a program, a function or a builtin.
type invocation struct {
	args []string
	env  map[string]string
	in   string
	out  *strings.Builder
	pos  syntax.Pos
}

func (c invocation) print(r *run, s string) {
	if c.out != nil {
		c.out.WriteString(r.m.produce(s))
	}
}

// flags are a call's arguments that begin with a dash, up to --, and the others.
func (c invocation) flags() (flags string, rest []string) {
	for i, a := range c.args[1:] {
		if a == "--" {
			return flags, append(rest, c.args[i+2:]...)
		}
		if strings.HasPrefix(a, "-") && len(a) > 1 {
			flags += a
		} else {
			rest = append(rest, a)
		}
	}
	return flags, rest
}

func (r *run) dispatch(c invocation) status {
	r.step()
	if body, found := r.funcs[c.args[0]]; found {
		args := r.args
		r.args = append([]string{args[0]}, c.args[1:]...)
		s := r.deeper(func() status { return r.stmt(body, c.in, c.out) })
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
	r.recordCall(c)
	if c.out != nil {
		c.out.WriteString(r.m.mark("what " + short(strings.Join(c.args, " ")) + " prints"))
	}
	return assumed
}

func (r *run) recordCall(c invocation) {
	const entry = 64 // bytes of a map; names and values are shared by all calls
	r.m.copied(len(r.vars))
	env := map[string]string{}
	for name, v := range r.vars {
		if len(v) == 1 && environmental(name) {
			env[name] = v[0]
		}
	}
	for name, v := range c.env {
		env[name] = v
	}
	r.m.bytes += entry * len(env)
	checkDepth(r.m.bytes, maxBytes)
	for _, a := range c.args {
		r.m.produce(a)
	}
	r.m.produce(c.in)
	r.m.Calls = append(r.m.Calls, Call{Where: r.position(c.pos), Args: c.args, Env: env, Stdin: c.in})
}

// environmental reports whether a variable is taken to be exported: by custom, those
// in capitals are.
func environmental(name string) bool { return strings.ToUpper(name) == name }

// nested follows a script that this one calls with args, of which the first is $0.
func (r *run) nested(name, text string, c invocation, args []string) status {
	elsewhere := strings.HasPrefix(text, markStart) // all of it
	if elsewhere {
		r.why, _ = r.m.Unknown(text)
	}
	if elsewhere || !IsShell(text) {
		c.in = text
		r.recordCall(c)
		return assumed
	}
	r.m.copied(len(r.vars) + len(c.env))
	inner := r.m.Start().run
	inner.args, inner.cwd, inner.depth = args, r.cwd, r.depth
	for k, v := range r.vars {
		if environmental(k) {
			inner.vars[k] = v
		}
	}
	for k, v := range c.env {
		inner.vars[k] = []string{v}
	}
	return inner.runScript(name, text, c)
}

// runScript follows a script in this one's own shell.
func (r *run) runScript(name, text string, c invocation) status {
	defer func(name string) { r.name = name }(r.name)
	r.name = name
	return r.deeper(func() status {
		if err := r.script(text, c.in, c.out); err != nil {
			r.m.problem(err.Error())
			return no
		}
		return assumed
	})
}

var wholeMark = regexp.MustCompile(markStart + "[0-9]*" + markEnd)

var secrets = regexp.MustCompile(`(?i)((?:token|secret|password|passwd|certificate-key|hash)\S*?[=\s]+)\S+`)

// short is a command as it may stand in an error: one line, no secrets, … for what is
// not known.
func short(command string) string {
	command = strings.Join(strings.Fields(wholeMark.ReplaceAllString(command, "…")), " ")
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
