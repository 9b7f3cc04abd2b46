package shell

import (
	"regexp"
	"slices"
	"strings"
)

// sed edits files in place, or its input, by the commands s, d, a, i and c. A file
// that it edits by others, or that user data did not write, becomes a mark.
func sed(r *run, c invocation) status {
	var scripts, files []string
	extended, inPlace, quiet := false, false, false
	for i := 1; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a == "-e" && i+1 < len(c.args), a == "--expression" && i+1 < len(c.args):
			i++
			scripts = append(scripts, c.args[i])
		case a == "-E", a == "-r", a == "--regexp-extended":
			extended = true
		case a == "-n":
			quiet = true
		case strings.HasPrefix(a, "-i") && a != "-ie", strings.HasPrefix(a, "--in-place"):
			inPlace = true
		case a == "-ri", a == "-Ei", a == "-ie":
			inPlace, extended = true, extended || a != "-ie"
		case strings.HasPrefix(a, "-") && len(a) > 1:
			quiet = true // an option that is not known
		case len(scripts) == 0:
			scripts = append(scripts, a)
		default:
			files = append(files, a)
		}
	}
	var edits []edit
	understood := !quiet
	for _, s := range scripts {
		more, ok := parseEdits(s, extended)
		understood = understood && ok
		edits = append(edits, more...)
	}
	if len(files) == 0 {
		c.print(r, r.edited(c.in, edits, understood, c))
		return yes
	}
	for _, f := range files {
		text := r.edited(r.read(f), edits, understood, c)
		switch {
		case !inPlace:
			c.print(r, text)
		case r.exists(f) == no:
			return no
		default:
			r.write(f, text, false, c.pos)
		}
	}
	return yes
}

func (r *run) edited(text string, edits []edit, understood bool, c invocation) string {
	// Marks have no line ends in them, so lines without are as good as any.
	if !understood || strings.HasPrefix(text, markStart) {
		return r.m.mark("what " + short(strings.Join(c.args, " ")) + " makes of it")
	}
	for _, e := range edits {
		var b strings.Builder
		lines := slices.Collect(strings.Lines(text))
		for i, line := range lines {
			line, hadEnd := strings.CutSuffix(line, "\n")
			checkDepth((len(line)+1)*(len(e.new)+1), maxBytes) // it may match everywhere
			if e.applies(line, i == len(lines)-1) {
				line = e.apply(line)
			} else {
				line += "\n"
			}
			if !hadEnd && e.command == 's' {
				line = strings.TrimSuffix(line, "\n")
			}
			b.WriteString(r.m.produce(line))
		}
		text = b.String()
	}
	return text
}

// edit is one command of sed: [ADDRESS]s/old/new/flags, [ADDRESS]d, a, i or c.
type edit struct {
	address *regexp.Regexp // nil for all lines
	last    bool           // the address is $
	command byte
	old     *regexp.Regexp
	new     string // in the notation of regexp.Expand, or the text of a, i, c
	all     bool
}

func (e edit) applies(line string, last bool) bool {
	if e.last {
		return last
	}
	return e.address == nil || e.address.MatchString(line)
}

func (e edit) apply(line string) string {
	switch e.command {
	case 'd':
		return ""
	case 'a':
		return line + "\n" + e.new + "\n"
	case 'i':
		return e.new + "\n" + line + "\n"
	case 'c':
		return e.new + "\n"
	}
	if e.all {
		return e.old.ReplaceAllString(line, e.new) + "\n"
	}
	at := e.old.FindStringSubmatchIndex(line)
	if at == nil {
		return line + "\n"
	}
	return line[:at[0]] + string(e.old.ExpandString(nil, e.new, line, at)) + line[at[1]:] + "\n"
}

// parseEdits reads commands, which semicolons and line ends divide.
func parseEdits(s string, extended bool) (edits []edit, ok bool) {
	for {
		s = strings.TrimLeft(s, "; \t\n")
		if s == "" {
			return edits, len(edits) > 0
		}
		var e edit
		if e, s, ok = parseEdit(s, extended); !ok {
			return nil, false
		}
		edits = append(edits, e)
	}
}

// parseEdit reads one command and returns what follows it.
func parseEdit(s string, extended bool) (e edit, rest string, ok bool) {
	switch {
	case strings.HasPrefix(s, "$"):
		e.last, s = true, strings.TrimSpace(s[1:])
	case strings.HasPrefix(s, "/"):
		parts, after, found := delimited(s[1:], '/', 1)
		if !found {
			return e, "", false
		}
		if e.address, ok = expression(parts[0], extended, false); !ok {
			return e, "", false
		}
		s = strings.TrimLeft(after, " \t")
	}
	if s == "" {
		return e, "", false
	}
	e.command = s[0]
	switch e.command {
	case 'd':
		s = strings.TrimLeft(s[1:], " \t")
		return e, s, s == "" || s[0] == ';' || s[0] == '\n'
	case 'a', 'i', 'c': // the text goes to the end
		text := strings.TrimLeft(s[1:], " \t")
		text = strings.TrimPrefix(text, `\`)
		e.new = escapes(strings.TrimPrefix(text, "\n"))
		return e, "", true
	case 's':
		if len(s) < 4 {
			return e, "", false
		}
		parts, after, found := delimited(s[2:], s[1], 2)
		if !found {
			return e, "", false
		}
		flags, rest := after, ""
		if end := strings.IndexAny(after, "; \t\n"); end >= 0 {
			flags, rest = after[:end], strings.TrimLeft(after[end:], " \t")
		}
		if strings.Trim(flags, "gI") != "" || rest != "" && rest[0] != ';' && rest[0] != '\n' {
			return e, "", false
		}
		e.all = strings.Contains(flags, "g")
		e.old, ok = expression(parts[0], extended, strings.Contains(flags, "I"))
		e.new = replacement(parts[1])
		return e, rest, ok
	}
	return e, "", false
}

// delimited cuts n parts off s, each ended by delimiter; \delimiter stands for it.
func delimited(s string, delimiter byte, n int) (parts []string, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == delimiter:
			i++
			b.WriteByte(delimiter)
		case s[i] == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i++
		case s[i] == delimiter:
			parts = append(parts, b.String())
			b.Reset()
			if len(parts) == n {
				return parts, s[i+1:], true
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return nil, "", false
}

var replaced = regexp.MustCompile(`(?s)\\.|[&$]`)

// replacement is the right side of s/// in the notation of regexp.Expand.
func replacement(s string) string {
	return replaced.ReplaceAllStringFunc(s, func(v string) string {
		switch c := v[len(v)-1]; {
		case v == "&":
			return "${0}"
		case c == '$':
			return "$$"
		case c == 'n':
			return "\n"
		case c >= '0' && c <= '9':
			return "${" + v[1:] + "}"
		}
		return v[1:]
	})
}
