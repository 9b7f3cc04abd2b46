package bundle

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
	// before end. There is none if to is 0.
	find func(line []byte, at, end int) (from, to int)
}

var secrets = []secret{
	{[]string{"-----begin "}, privateKey},
	{[]string{"bearer", "basic"}, bearer},
	{[]string{"eyj"}, webToken},
	{[]string{"token", "password", "passwd", "secret", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey",
		"client-key-data", "client-certificate-data", "authorization", "credential"}, named},
	{[]string{"."}, bootstrapToken},
	{[]string{"://"}, userInfo},
}

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
				if from, to := s.find(line, begin, at); to > 0 {
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
// quotes that may be escaped themselves.
func named(line []byte, _, end int) (from, to int) {
	if end < len(line) && line[end]|0x20 == 's' { // credentials
		end++
	}
	from = run(line, quote(line, end), space)
	if from == len(line) || line[from] != ':' && line[from] != '=' {
		return 0, 0
	}
	from = quote(line, run(line, from+1, space))
	to = run(line, from, func(c byte) bool { return !space(c) && bytes.IndexByte([]byte(`"'\,;&{}[]`), c) < 0 })
	if to-from < 6 {
		return 0, 0
	}
	return from, to
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

// userInfo is the password in scheme://user:password@host.
func userInfo(line []byte, _, end int) (from, to int) {
	user := run(line, end, func(c byte) bool { return !space(c) && bytes.IndexByte([]byte(`/:@"`), c) < 0 })
	if user == end || user == len(line) || line[user] != ':' {
		return 0, 0
	}
	from = user + 1
	to = run(line, from, func(c byte) bool { return !space(c) && bytes.IndexByte([]byte(`@/"`), c) < 0 })
	if to == from || to == len(line) || line[to] != '@' {
		return 0, 0
	}
	return from, to
}

// run is where the bytes from at on that are of a class end.
func run(line []byte, at int, is func(byte) bool) int {
	for at < len(line) && is(line[at]) {
		at++
	}
	return at
}

// quote is what follows a quote, which may have a backslash before it.
func quote(line []byte, at int) int {
	if at < len(line) && line[at] == '\\' {
		at++
	}
	if at < len(line) && (line[at] == '"' || line[at] == '\'') {
		at++
	}
	return at
}

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
