package shell

import (
	"regexp"
	"strings"
)

// grep answers about plain patterns in files that user data wrote, and asks about
// all others.
func grep(r *run, c invocation) status {
	flags, rest := c.flags()
	if len(rest) == 0 || strings.ContainsAny(flags, "vcwxzoABC") {
		return evaluate(r, c)
	}
	text := c.in
	if len(rest) > 1 {
		if len(rest) > 2 || strings.Contains(flags, "r") || r.exists(rest[1]) == open {
			return evaluate(r, c)
		}
		text = ""
		if f, found := r.m.Files[r.abs(rest[1])]; found {
			text = f.Content
		}
	}
	re, ok := expression(rest[0], strings.Contains(flags, "E") || strings.Contains(flags, "P"), strings.Contains(flags, "i"))
	if strings.Contains(flags, "F") {
		re, ok = regexp.MustCompile(regexp.QuoteMeta(rest[0])), true
	}
	if !ok || marked(text) || marked(rest[0]) {
		return evaluate(r, c)
	}
	r.m.produce(text) // it is read, which takes time
	found := no
	for line := range strings.Lines(text) {
		if re.MatchString(strings.TrimSuffix(line, "\n")) {
			found = yes
			if !strings.Contains(flags, "q") {
				c.print(r, line)
			}
		}
	}
	return found
}

// expression compiles a POSIX expression. In basic ones ( ) { } + ? | have a
// meaning only behind a backslash.
func expression(s string, extended, fold bool) (*regexp.Regexp, bool) {
	refers := false // to a group
	s = charsInExpression.ReplaceAllStringFunc(s, func(v string) string {
		char, escaped := strings.CutPrefix(v, `\`)
		if char == "" { // the last
			return v
		}
		special := strings.ContainsAny(char, "(){}+?|")
		switch {
		case escaped && strings.ContainsAny(char, "123456789"):
			refers = true
		case special && escaped != extended, !special && !escaped:
			return char
		case escaped && strings.ContainsAny(char, "swbSWB"):
			return v
		}
		return regexp.QuoteMeta(char)
	})
	if fold {
		s = "(?i)" + s
	}
	re, err := regexp.Compile(s)
	return re, err == nil && !refers
}

var charsInExpression = regexp.MustCompile(`(?s)\\?.`)
