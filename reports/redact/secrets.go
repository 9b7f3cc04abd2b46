package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// secret is what a kind of credential looks like, in logs, in JSON and in YAML.
// Regular expressions would say the same in a line each, and take seconds for a
// megabyte: here every byte is looked at a few times at most, whatever a line holds.
type secret struct {
	hints []string // what it begins with, in lower case
	// find returns where in the line the credential is whose hint is at at and ends
	// before end. There is none between 0 and 0.
	find func(line []byte, at, end int) (from, to int)
}

var secrets = []secret{
	{[]string{"-----begin "}, privateKey},
	{[]string{"bearer", "basic"}, bearer},
	{[]string{"eyj"}, webToken},
	{[]string{"token", "password", "passwd", "secret", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey",
		"secret_key", "secret-key", "secretkey", "private_key", "private-key", "privatekey", "encryption_key", "encryption-key",
		"encryptionkey", "passphrase",
		"client-key-data", "client-certificate-data", "certificate-key", "authorization", "credential"}, named},
	{[]string{"."}, bootstrapToken},
	{[]string{"://"}, userInfo},
}

var removed = []byte(Removed)

type place struct{ from, to int }

// places are the credentials of a line, in order and apart.
func places(line []byte) []place {
	var found []place
	lower := lowerASCII(line)
	for _, s := range secrets {
		for _, hint := range s.hints {
			for at := 0; ; {
				n := bytes.Index(lower[at:], []byte(hint))
				if n < 0 {
					break
				}
				begin := at + n
				at = begin + len(hint)
				if from, to := s.find(line, begin, at); len(bytes.ReplaceAll(line[from:to], removed, nil)) > 0 {
					found, at = append(found, place{from, to}), max(at, to)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var apart []place
	for _, p := range found {
		if n := len(apart); n > 0 && p.from < apart[n-1].to {
			apart[n-1].to = max(apart[n-1].to, p.to)
			continue
		}
		apart = append(apart, p)
	}
	return apart
}

// lowerASCII is text whose places are those of the line, as in bytes.ToLower they
// need not be.
func lowerASCII(line []byte) []byte {
	lower := bytes.Clone(line)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return lower
}

// privateKey is one in PEM, on one line: up to its end, or to that of the text it is
// in, a string in quotes or the line.
func privateKey(line []byte, at, end int) (from, to int) {
	kind := run(line, end, func(c byte) bool { return c >= 'A' && c <= 'Z' || c == ' ' })
	if !bytes.HasSuffix(line[end:kind], []byte("PRIVATE KEY")) {
		return 0, 0
	}
	n := bytes.Index(line[kind:], keyEnds)
	if n < 0 {
		to = run(line, kind, func(c byte) bool { return c != '"' })
		for to < len(line) && line[to-1] == '\\' { // the quote's own
			to--
		}
		return at, to
	}
	to = kind + n + len(keyEnds)
	if m := bytes.Index(line[to:], keyIs); m >= 0 && m < 40 {
		to += m + len(keyIs)
	}
	return at, to
}

// bearer is what follows the scheme in a header.
func bearer(line []byte, at, end int) (from, to int) {
	from = run(line, end, space)
	to = run(line, from, func(c byte) bool { return word(c) || bytes.IndexByte([]byte(".~+/-"), c) >= 0 })
	if at > 0 && word(line[at-1]) || from == end || to-from < 8 {
		return 0, 0
	}
	return from, run(line, to, func(c byte) bool { return c == '=' })
}

// webToken is a JSON Web Token: three parts in Base64, of which the first begins
// with {" and so with eyJ.
func webToken(line []byte, at, _ int) (from, to int) {
	part := func(c byte) bool { return word(c) || c == '-' }
	if at > 0 && part(line[at-1]) || line[at+1] != 'y' || line[at+2] != 'J' {
		return 0, 0
	}
	head := run(line, at, part)
	if head-at < 9 || head == len(line) || line[head] != '.' {
		return 0, 0
	}
	body := run(line, head+1, part)
	if body-head-1 < 6 {
		return 0, 0
	}
	if body < len(line) && line[body] == '.' {
		body = run(line, body+1, part)
	}
	return at, body
}

// named is the value of what is called a secret: name=value, "name": "value", with
// quotes that may be escaped themselves; of a flag --name value, "--name","value"; and of
// a container's variable, {"name":"X_TOKEN","value":"value"}.
func named(line []byte, at, end int) (from, to int) {
	if end < len(line) && line[end]|0x20 == 's' { // credentials
		end++
	}
	name := quote(line, end)
	from = run(line, name, space)
	list := false
	switch {
	case from == len(line):
		return 0, 0
	case line[from] == ':' || line[from] == '=':
		from = run(line, from, func(c byte) bool { return c == ':' || c == '=' })
	case line[from] == ',' && isValue(line, from+1) > 0:
		from = isValue(line, from+1)
	case !isFlag(line, at):
		return 0, 0
	case line[from] == ',' && name > end:
		list = true
		from++
	case from == name || line[from] == '-': // another flag
		return 0, 0
	}
	from = run(line, from, space)
	if value := quote(line, from); value > from {
		to = quoteEnds(line, from, value)
		if after := quote(line, to); list && after < len(line) && line[after] == ':' { // a key
			return 0, 0
		}
		return value, to
	}
	to = wordEnds(line, from)
	if value := line[from:to]; len(value) < 4 || slices.Contains([]string{"null", "true", "false"}, string(value)) {
		return 0, 0
	}
	switch {
	case isYAML(line, at, end):
		to = scalarEnds(line, from)
	case bytes.EqualFold(line[at:end], []byte("authorization")) && run(line, from, letter) == to:
		to = max(to, wordEnds(line, run(line, to, space))) // a scheme, and what is sent by it
	}
	return from, to
}

// isValue is what follows the key "value", which begins at at, or 0.
func isValue(line []byte, at int) int {
	const key = "value"
	begin := quote(line, run(line, at, space))
	end := begin + len(key)
	if end > len(line) || !bytes.EqualFold(line[begin:end], []byte(key)) {
		return 0
	}
	if end = run(line, quote(line, end), space); end == len(line) || line[end] != ':' {
		return 0
	}
	return end + 1
}

// isYAML reports whether what is from at to end is the end of a key that has the rest of
// the line to itself.
func isYAML(line []byte, at, end int) bool {
	begin := at
	for begin > 0 && (word(line[begin-1]) || line[begin-1] == '-' || line[begin-1] == '.') {
		begin--
	}
	before := bytes.TrimSpace(line[:begin])
	return (len(before) == 0 || string(before) == "-") && end+1 < len(line) && line[end] == ':' && line[end+1] == ' '
}

// scalarEnds is where YAML's value without quotes ends: at a comment, or with the line.
func scalarEnds(line []byte, from int) int {
	to := len(line)
	if n := bytes.Index(line[from:], []byte(" #")); n >= 0 {
		to = from + n
	}
	return from + len(bytes.TrimRight(line[from:to], " \t\r\n"))
}

// isFlag reports whether what is at at is the end of a flag's name, --client-secret.
func isFlag(line []byte, at int) bool {
	const longest = 64
	begin := at
	for begin > max(0, at-longest) && (word(line[begin-1]) || line[begin-1] == '-') {
		begin--
	}
	return bytes.HasPrefix(line[begin:], []byte("--"))
}

// quoteEnds is where a value in quotes ends, whose quote with its backslashes is from
// open to value: at one like it, or at one of a text around it. A quote within the
// value has more backslashes before it.
func quoteEnds(line []byte, open, value int) int {
	mark, slashes := line[value-1], value-1-open
	for at := value; ; at++ {
		n := bytes.IndexByte(line[at:], mark)
		if n < 0 {
			break
		}
		at += n
		before := at
		for before > value && line[before-1] == '\\' {
			before--
		}
		if mark == '\'' && at+1 < len(line) && line[at+1] == mark { // as YAML has a quote within a value
			at++
			continue
		}
		if own := at - before; own < slashes || own%(2*slashes+2) == slashes {
			return before + own - min(own, slashes)
		}
	}
	if n := bytes.IndexByte(line[value:], '"'); mark == '\'' && n >= 0 { // cut off, in an event
		return value + len(bytes.TrimRight(line[value:value+n], `\`))
	}
	return len(line)
}

// wordEnds is where a value without quotes ends: what separates words in a shell, in
// JSON and in an address is a part of it where no other word follows.
func wordEnds(line []byte, from int) int {
	at := func(i int) byte {
		if i < len(line) {
			return line[i]
		}
		return ' '
	}
	for to := from; ; to++ {
		switch c := at(to); c {
		case '"', '\'', '&', ';':
			return to
		case '\\': // of a text in quotes; others are a shell's
			if bytes.IndexByte([]byte(`nrtu"'\`), at(to+1)) >= 0 {
				return to
			}
		case ',', '{', '}', '[', ']':
			next := at(to + 1)
			key := run(line, to+1, func(c byte) bool { return word(c) || c == '-' || c == '.' })
			if to == from || space(next) || bytes.IndexByte([]byte(`"'\,{}[]`), next) >= 0 || key > to+1 && (at(key) == '=' || at(key) == ':') {
				return to
			}
		default:
			if space(c) {
				return min(to, len(line))
			}
		}
	}
}

// bootstrapToken is kubeadm's, abcdef.0123456789abcdef: at is its dot. What follows a
// hyphen is a name: of an Event, cluster-autoscaler-status.0123456789abcdef.
func bootstrapToken(line []byte, at, end int) (from, to int) {
	const id, rest = 6, 16
	from, to = at-id, end+rest
	if from < 0 || to > len(line) || from > 0 && (word(line[from-1]) || line[from-1] == '-') || to < len(line) && word(line[to]) {
		return 0, 0
	}
	part := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
	if run(line[:at], from, part) != at || run(line[:to], end, part) != to {
		return 0, 0
	}
	return from, to
}

// userInfo is the password in scheme://user:password@host, or a long user without
// one: a token.
func userInfo(line []byte, _, end int) (from, to int) {
	const long = 16
	host := run(line, end, func(c byte) bool { return !space(c) && bytes.IndexByte([]byte("/?#\"'<>\\"), c) < 0 })
	to = end + bytes.LastIndexByte(line[end:host], '@')
	colon := end + bytes.IndexByte(line[end:host], ':')
	switch {
	case to < end:
		return 0, 0
	case end < colon && colon < to:
		return colon + 1, to
	case to-end >= long:
		return end, to
	}
	return 0, 0
}

// run is where the bytes from at on that are of a class end.
func run(line []byte, at int, is func(byte) bool) int {
	for at < len(line) && is(line[at]) {
		at++
	}
	return at
}

// quote is what follows a quote, which may have backslashes before it, or at if none
// is there.
func quote(line []byte, at int) int {
	mark := run(line, at, func(c byte) bool { return c == '\\' })
	if mark < len(line) && (line[mark] == '"' || line[mark] == '\'') {
		return mark + 1
	}
	return at
}

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
