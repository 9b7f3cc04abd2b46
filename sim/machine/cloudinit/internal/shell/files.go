package shell

import (
	"encoding/base64"
	"path"
	"strconv"
	"strings"
)

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
		files = []string{"-"}
	}
	for _, f := range files {
		if f == "-" {
			c.print(r, c.in)
		} else {
			c.print(r, r.read(f))
		}
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
