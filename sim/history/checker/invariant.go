package checker

import (
	"errors"
	"strings"
)

// CheckInvariant is Check for what has to hold during a whole run.
func (s *Statement) CheckInvariant() error {
	if strings.TrimSpace(s.Statement) == "" {
		return errors.New("statement is missing: say in a sentence what must hold")
	}
	if s.Within != 0 && s.Since == nil {
		return errors.New("within: an invariant is about the whole run; leave it out, or say in since what it begins with")
	}
	return s.Check()
}

// Breaks reports whether the finding is that an invariant does not hold. Of what never was,
// an invariant holds: whether the run has put anything to the test is for others to say.
func (s *Statement) Breaks(f Finding) bool {
	asks := s.Never == nil && s.NoSequence == nil && s.Throughout == nil && (s.Count == nil || s.AtLeast != nil)
	// mutant: no event breaks an invariant
	return f.Result == Invalid && (len(f.Evidence) > 0 || asks && s.Since == nil && len(s.fields()) == 0)
}
