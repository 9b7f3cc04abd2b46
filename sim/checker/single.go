package checker

import "nodestorm/sim/history"

// Check finds what is wrong with a pattern that stands for itself, in no sequence:
// it has nothing captured to refer to.
func (p *Pattern) Check() error { return p.check(nil) }

// Matches reports whether a record matches such a pattern, live or read from a
// file.
func (p *Pattern) Matches(r history.Record) bool {
	r.Detail = plain(r.Detail)
	return p.match(&r, nil)
}
