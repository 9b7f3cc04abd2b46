package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

func jumpTo(j jump) func(*run, invocation) status {
	return func(r *run, c invocation) status {
		r.jump = j
		if len(c.args) > 1 && c.args[1] != "0" && (j == exits || j == returns) {
			return no
		}
		return yes
	}
}

func set(r *run, c invocation) status {
	for i, a := range c.args[1:] {
		switch {
		case a == "--":
			r.args = append(r.args[:1:1], c.args[i+2:]...)
			return yes
		case strings.HasPrefix(a, "-") && strings.Contains(a, "e"):
			r.errs = true
		case strings.HasPrefix(a, "+") && strings.Contains(a, "e"):
			r.errs = false
		}
	}
	return yes
}

func unset(r *run, c invocation) status {
	for _, name := range c.args[1:] {
		delete(r.vars, name)
	}
	return yes
}

func shift(r *run, c invocation) status {
	n := 1
	if len(c.args) > 1 {
		n, _ = strconv.Atoi(c.args[1])
	}
	if n < 0 || n >= len(r.args) {
		return no
	}
	r.args = append(r.args[:1:1], r.args[1+n:]...)
	return yes
}

func cd(r *run, c invocation) status {
	if len(c.args) > 1 {
		r.cwd = r.abs(c.args[1])
	}
	return yes
}

// readInput is read: the first line goes to the last variable.
func readInput(r *run, c invocation) status {
	_, names := c.flags()
	line, _, found := strings.Cut(c.in, "\n")
	for _, name := range names {
		r.step()
		r.vars[name] = []string{line}
		if len(names) > 1 || c.in == "" {
			r.vars[name] = []string{r.m.mark("what read reads")}
		}
	}
	if !found {
		r.why = "what read reads"
		return open
	}
	return yes
}

func eval(r *run, c invocation) status {
	return r.runScript(r.name, strings.Join(c.args[1:], " "), c)
}

// source runs a script in this one's own variables.
func source(r *run, c invocation) status {
	if len(c.args) < 2 {
		return no
	}
	f, found := r.m.Files[r.abs(c.args[1])]
	if !found {
		s := r.exists(c.args[1])
		if s == open {
			r.recordCall(c)
			return assumed
		}
		return s
	}
	return r.runScript(c.args[1], f.Content, c)
}

// interpreter is a shell that is called: with -c, a script's name or its text.
func interpreter(r *run, c invocation) status {
	args := c.args[1:]
	for len(args) > 0 {
		a := args[0]
		switch {
		case a == "-s" || a == "-":
			rest := args[1:]
			if len(rest) > 0 && rest[0] == "-" {
				rest = rest[1:]
			}
			return r.nested("standard input of "+c.args[0], c.in, c, append(c.args[:1:1], rest...))
		case strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c"):
			if len(args) < 2 {
				return no
			}
			if len(args) == 2 {
				args = append(args[:2:2], c.args[0])
			}
			return r.nested(r.name, args[1], c, args[2:])
		case a == "-o" && len(args) > 1:
			args = args[2:]
		case strings.HasPrefix(a, "-"):
			args = args[1:]
		default:
			f, found := r.m.Files[r.abs(a)]
			if !found {
				return r.unknown(c)
			}
			return r.nested(a, f.Content, c, args)
		}
	}
	return r.nested("standard input of "+c.args[0], c.in, c, c.args[:1])
}

// valued are the options of wrappers that a value of its own follows.
var valued = map[string][]string{
	"sudo": {"-u", "-g"}, "env": {"-u"}, "nice": {"-n"}, "ionice": {"-c", "-n"}, "timeout": {"-k", "-s"}, "exec": {"-a"},
}

// wrapper is a program that runs another.
func wrapper(r *run, c invocation) status {
	args := c.args[1:]
	env := maps.Clone(c.env)
	for len(args) > 0 {
		r.step()
		a := args[0]
		name, value, isAssign := strings.Cut(a, "=")
		switch {
		case c.args[0] == "command" && (a == "-v" || a == "-V"):
			return evaluate(r, c)
		case slices.Contains(valued[c.args[0]], a):
			args = args[min(2, len(args)):]
		case strings.HasPrefix(a, "-"):
			args = args[1:]
		case isAssign && !strings.Contains(name, "/") && (c.args[0] == "env" || c.args[0] == "sudo"):
			if env == nil {
				env = map[string]string{}
			}
			env[name] = value
			args = args[1:]
		case c.args[0] == "timeout" && len(args) > 1 && strings.IndexAny(a, "0123456789") == 0:
			c.args[0], args = "timed", args[1:]
		default:
			exec := c.args[0] == "exec"
			c.args, c.env = args, env
			s := r.deeper(func() status { return r.dispatch(c) })
			if exec {
				r.jump = exits
			}
			return s
		}
	}
	return yes
}
