package checker

import (
	"strings"

	"nodestorm/sim/history"
)

// Check finds what is wrong with a pattern that stands for itself, in no sequence:
// it has nothing captured to refer to.
func (p *Pattern) Check() error { return p.check(nil) }

// Covers reports whether events of the source can match the pattern.
func (p *Pattern) Covers(source history.Source) bool { return p.Source.match(string(source), nil) }

// Matches reports whether an event matches such a pattern, live or read from a
// file.
func (p *Pattern) Matches(r history.Entry) bool {
	r.Detail = plain(r.Detail)
	return p.match(&r, nil)
}

// String is the pattern as a timeline would have an event of it, without the details.
func (p *Pattern) String() string {
	var words []string
	for _, name := range fieldNames {
		if v := p.field(name); v.isSet() {
			word := strings.TrimPrefix(v.op+" "+strings.Join(v.values, " or "), " ")
			if name == "actor" {
				word = "by " + word
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
