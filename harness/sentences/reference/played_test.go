package reference

import (
	"cmp"
	"strings"
	"testing"
)

// No two sentences differ in case alone: a Node is the object in all of them.
func TestCaseHasNoMeaning(t *testing.T) {
	seen := map[string]string{}
	for _, s := range Sentences() {
		key := s.Role + strings.ToLower(s.Words)
		if other := seen[key]; other != "" {
			t.Errorf("%q and %q differ in case alone", other, s.Words)
		}
		seen[key] = s.Words
		if s.Role == "Then" && strings.Contains(s.Words, `the node "`) {
			t.Errorf("%q: say Node", s.Words)
		}
	}
}

// Every sentence stands in a feature that is played: by the tests of features, or as that of a record.
func TestEverySentenceIsPlayed(t *testing.T) {
	played := map[string]bool{}
	for _, s := range Sentences() {
		played[s.Words] = played[s.Words] || len(s.Played) > 0
	}
	missing := 0
	for _, s := range Sentences() {
		if !played[s.Words] {
			missing++
			t.Errorf("no feature says %s %s, as in %q: add it to one of features/world", s.Role, s.Words, cmp.Or(s.Example, s.Words))
			played[s.Words] = true
		}
	}
	if missing > 0 {
		t.Logf("%d of %d sentences stand in no feature", missing, len(played))
	}
}
