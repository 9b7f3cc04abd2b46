package shell

import (
	"encoding/base64"
	"path"
	"strconv"
	"strings"
)

// programs are those whose effect on files is followed, by name. All others are
// noted as calls.
var programs map[string]func(*run, invocation) status

func init() { // a script can call programs that call scripts
	programs = map[string]func(*run, invocation) status{
		":": succeed, "true": succeed, "sleep": succeed, "mkdir": succeed, "chown": succeed, "chgrp": succeed,
		"wait": succeed, "trap": succeed, "shopt": succeed, "ulimit": succeed, "umask": succeed, "sync": succeed,
		"restorecon": succeed,
		"false":      func(*run, invocation) status { return no },
		"echo":       echo, "printf": printf, "cat": cat, "tee": tee, "touch": touch, "rm": remove,
		"mv": moveOrCopy, "cp": moveOrCopy, "install": moveOrCopy, "ln": moveOrCopy, "chmod": chmod,
		"sed": sed, "grep": grep, "base64": decode64, "test": test, "[": test,
		"hostname": hostname, "hostnamectl": hostnamectl, "uname": uname, "id": id,
		"curl": download, "wget": download,
		"set": set, "unset": unset, "shift": shift, "cd": cd, "read": readInput, "eval": eval,
		"exit": jumpTo(exits), "return": jumpTo(returns), "break": jumpTo(breaks), "continue": jumpTo(continues),
		"source": source, ".": source,
		"sh": interpreter, "bash": interpreter, "dash": interpreter,
		"sudo": wrapper, "nohup": wrapper, "time": wrapper, "exec": wrapper, "command": wrapper, "env": wrapper,
		"timeout": wrapper, "nice": wrapper, "ionice": wrapper, "builtin": wrapper,
		"systemctl": systemctl,
		"which":     ask, "type": ask, "pgrep": ask, "ping": ask, "nc": ask, "mountpoint": ask, "getent": ask,
		"lsmod": ask, "blkid": ask, "pidof": ask, "dpkg-query": ask, "rpm": ask,
	}
}

func succeed(*run, invocation) status { return yes }

func jumpTo(j jump) func(*run, invocation) status {
	return func(r *run, c invocation) status {
		r.jump = j
		if len(c.args) > 1 && c.args[1] != "0" && (j == exits || j == returns) {
			return no
		}
		return yes
	}
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

func echo(r *run, c invocation) status {
	args, end, escaped := c.args[1:], "\n", false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-ne" || args[0] == "-en" || args[0] == "-E") {
		if strings.Contains(args[0], "n") {
			end = ""
		}
		escaped = escaped || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escaped {
		text = escapes(text)
	}
	c.print(r, text+end)
	return yes
}

// printf knows %s, %d and %%, without widths.
func printf(r *run, c invocation) status {
	if len(c.args) < 2 {
		return no
	}
	format, args := escapes(c.args[1]), c.args[2:]
	for once := true; once || len(args) > 0; once = false {
		r.step()
		before := len(args)
		var b strings.Builder
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			switch format[i] {
			case '%':
				b.WriteByte('%')
			case 's', 'd', 'b':
				if len(args) > 0 {
					b.WriteString(args[0])
					args = args[1:]
				}
			default:
				c.print(r, r.m.mark("what "+short(strings.Join(c.args, " "))+" prints"))
				return yes
			}
		}
		c.print(r, b.String())
		if len(args) == before {
			break
		}
	}
	return yes
}

func cat(r *run, c invocation) status {
	_, files := c.flags()
	if len(files) == 0 {
		c.print(r, c.in)
	}
	for _, f := range files {
		if f == "-" {
			c.print(r, c.in)
			continue
		}
		c.print(r, r.read(f))
	}
	return yes
}

func tee(r *run, c invocation) status {
	flags, files := c.flags()
	for _, f := range files {
		r.write(f, c.in, strings.Contains(flags, "a"), c.pos)
	}
	c.print(r, c.in)
	return yes
}

func touch(r *run, c invocation) status {
	_, files := c.flags()
	for _, f := range files {
		if r.exists(f) == no {
			r.write(f, "", true, c.pos)
		}
	}
	return yes
}

func remove(r *run, c invocation) status {
	_, files := c.flags()
	for _, f := range files {
		f = r.abs(f)
		for name := range r.m.Files {
			if name == f || strings.HasPrefix(name, f+"/") {
				delete(r.m.Files, name)
			}
		}
	}
	return yes
}

// moveOrCopy is mv, cp, install and ln, of files and not of folders.
func moveOrCopy(r *run, c invocation) status {
	var files []string
	into := ""
	for i := 1; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a == "-t" && i+1 < len(c.args):
			i++
			into = c.args[i]
		case c.args[0] == "install" && (a == "-m" || a == "-o" || a == "-g"):
			i++
		case strings.HasPrefix(a, "-") && len(a) > 1:
			if c.args[0] == "install" && strings.Contains(a, "d") && !strings.HasPrefix(a, "--") {
				return yes // folders
			}
		default:
			files = append(files, a)
		}
	}
	if into == "" {
		if len(files) < 2 {
			return no
		}
		into, files = files[len(files)-1], files[:len(files)-1]
		if len(files) == 1 && !strings.HasSuffix(into, "/") && !r.folder(into) {
			return r.transfer(c, files[0], into)
		}
	}
	s := yes
	for _, f := range files {
		if r.transfer(c, f, path.Join(into, path.Base(f))) == no {
			s = no
		}
	}
	return s
}

func (r *run) folder(p string) bool {
	_, file := r.m.Files[r.abs(p)]
	return !file && r.exists(p) == yes
}

func (r *run) transfer(c invocation, from, to string) status {
	source, found := r.m.Files[r.abs(from)]
	if !found {
		s := r.exists(from)
		if s == open {
			r.write(to, r.read(from), false, c.pos)
			return assumed
		}
		return s
	}
	r.write(to, source.Content, false, c.pos)
	if written, ok := r.m.Files[r.abs(to)]; ok {
		written.Mode = source.Mode
		r.m.Files[r.abs(to)] = written
	}
	if c.args[0] == "mv" && r.abs(from) != r.abs(to) {
		delete(r.m.Files, r.abs(from))
	}
	return yes
}

// chmod notes octal modes.
func chmod(r *run, c invocation) status {
	_, args := c.flags()
	if len(args) < 2 {
		return yes
	}
	mode, err := strconv.ParseUint(args[0], 8, 12)
	for _, name := range args[1:] {
		f, found := r.m.Files[r.abs(name)]
		if !found {
			if r.exists(name) == no {
				return no
			}
			continue
		}
		if err == nil {
			f.Mode = uint32(mode)
			r.m.Files[r.abs(name)] = f
		}
	}
	return yes
}

func decode64(r *run, c invocation) status {
	flags, files := c.flags()
	text := c.in
	if len(files) > 0 {
		text = r.read(files[0])
	}
	if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err == nil && strings.Contains(flags, "d") {
		c.print(r, Strip(string(b)))
		return yes
	}
	c.print(r, r.m.mark("what base64 prints"))
	return assumed
}

func hostname(r *run, c invocation) status {
	flags, rest := c.flags()
	switch {
	case len(rest) > 0:
		r.m.Hostname = rest[0]
	case flags == "" || flags == "-s" || flags == "-f" || flags == "--short" || flags == "--fqdn":
		c.print(r, r.host()+"\n")
	default:
		c.print(r, r.m.mark("what hostname "+flags+" prints"))
	}
	return yes
}

func hostnamectl(r *run, c invocation) status {
	_, rest := c.flags()
	switch {
	case len(rest) > 1 && (rest[0] == "set-hostname" || rest[0] == "hostname"):
		r.m.Hostname = rest[1]
	case len(rest) == 0 || rest[0] == "hostname":
		c.print(r, r.host()+"\n")
	}
	return yes
}

func uname(r *run, c invocation) status {
	if flags, _ := c.flags(); flags == "-n" {
		c.print(r, r.host()+"\n")
		return yes
	}
	c.print(r, r.m.mark("what "+short(strings.Join(c.args, " "))+" prints"))
	return assumed
}

func id(r *run, c invocation) status {
	if flags, _ := c.flags(); flags == "-u" {
		c.print(r, "0\n")
		return yes
	}
	return ask(r, c)
}

// download is curl and wget: the cloud's metadata service may be known, all else is
// a mark.
func download(r *run, c invocation) status {
	url, to := "", ""
	for i := 1; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case strings.Contains(a, "://") && url == "":
			url = a
		case (a == "-o" || a == "-O" || a == "--output" || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "o")) && i+1 < len(c.args):
			i++
			to = c.args[i]
		case strings.HasPrefix(a, "--output="):
			to = strings.TrimPrefix(a, "--output=")
		}
	}
	if c.args[0] == "wget" && to == "" {
		to = path.Base(url)
	}
	text := r.m.mark("what " + short(url) + " serves")
	if rest, found := strings.CutPrefix(url, "http://169.254.169.254/"); found && r.m.Metadata != nil {
		if answer, known := r.m.Metadata("/" + rest); known {
			text = Strip(answer)
		}
	}
	if to == "" || to == "-" {
		c.print(r, text)
	} else {
		r.write(to, text, false, c.pos)
	}
	return assumed
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
	return r.here(r.name, strings.Join(c.args[1:], " "), c)
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
			r.note(c)
			return assumed
		}
		return s
	}
	return r.here(c.args[1], f.Content, c)
}

// here follows a script in this one's own shell.
func (r *run) here(name, text string, c invocation) status {
	defer func(name string) { r.name = name }(r.name)
	r.name = name
	return r.in(func() status {
		if err := r.script(text, c.in, c.out); err != nil {
			r.note(c)
		}
		return assumed
	})
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

// wrapper is a program that runs another.
func wrapper(r *run, c invocation) status {
	args := c.args[1:]
	for len(args) > 0 {
		a := args[0]
		name, value, isAssign := strings.Cut(a, "=")
		switch {
		case c.args[0] == "command" && (a == "-v" || a == "-V"):
			return ask(r, c)
		case (c.args[0] == "sudo" || c.args[0] == "nice" || c.args[0] == "timeout") && (a == "-u" || a == "-g" || a == "-n" && c.args[0] == "nice" || a == "-k" || a == "-s"):
			args = args[min(2, len(args)):]
		case strings.HasPrefix(a, "-"):
			args = args[1:]
		case isAssign && !strings.Contains(name, "/") && (c.args[0] == "env" || c.args[0] == "sudo"):
			env := map[string]string{name: value}
			for k, v := range c.env {
				if k != name {
					env[k] = v
				}
			}
			c.env, args = env, args[1:]
		case c.args[0] == "timeout" && len(args) > 1 && strings.ContainsAny(a[:1], "0123456789"):
			c.args[0], args = "timed", args[1:]
		default:
			exec := c.args[0] == "exec"
			c.args = args
			s := r.in(func() status { return r.dispatch(c) })
			if exec {
				r.jump = exits
			}
			return s
		}
	}
	return yes
}

// systemctl asks, or is noted.
func systemctl(r *run, c invocation) status {
	_, rest := c.flags()
	if len(rest) > 0 && (strings.HasPrefix(rest[0], "is-") || rest[0] == "status" || rest[0] == "cat") {
		return ask(r, c)
	}
	return r.unknown(c)
}

// ask is a program that is called for its answer.
func ask(r *run, c invocation) status {
	if c.out != nil {
		c.out.WriteString(r.m.mark("what " + short(strings.Join(c.args, " ")) + " prints"))
	}
	r.why = "whether " + short(strings.Join(c.args, " ")) + " succeeds"
	return open
}
