package reference

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef"
)

// Every sentence's example is a step of that sentence and of no other, and its words say
// nothing in the language of patterns.
func TestSentences(t *testing.T) {
	all := Sentences()
	if len(all) < 100 {
		t.Errorf("%d sentences", len(all))
	}
	choice := regexp.MustCompile(`\([^()|]+(?:\|[^()|]+)+\)`) // of several words, so that it is clear where they end
	for _, s := range all {
		if regexp.MustCompile(`[\\^$?+*()\[\]]`).MatchString(choice.ReplaceAllString(s.Words, "")) {
			t.Errorf("words of a pattern: %s", s.Words)
		}
		var role scene.Role
		for _, r := range stepdef.Roles {
			if r.String() == s.Role {
				role = r
			}
		}
		if found := stepdef.Matches(role, s.Example); len(found) != 1 || found[0].Definition.Expression.Words != s.Words {
			t.Errorf("%d sentences match the example %s %s, want its own", len(found), s.Role, s.Example)
		}
	}
}

var update = flag.Bool("update", false, "write the files that are made of the code: make reference does")

// TestReferenceSteps keeps the pages of the reference in step with the sentences.
func TestReferenceSteps(t *testing.T) {
	const folder = "../../../docs/reference/steps/"
	for name, want := range Pages() {
		if *update {
			if err := os.WriteFile(folder+name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(folder + name); err != nil || string(text) != want {
			t.Errorf("%s is not what the sentences are, %v: run make reference", folder+name, err)
		}
	}
}

// Who looks for what people do finds the sentences that are about it.
func TestSearch(t *testing.T) {
	for words, want := range map[string]string{
		"pod deleted":    `"KIND/NAME" is deleted`,
		"scenario waits": "the scenario waits for DURATION",
		"has sent":       "EVENT no more than N times", // what an argument means
		"not disrupted":  "NEVER within DURATION",
		"is not evicted": "no more than N pods are evicted within DURATION",
		"consolidated":   `"KIND/NAME" is deleted`,
	} {
		found := Search([]string{words})
		if !slices.ContainsFunc(found, func(s Sentence) bool { return strings.Contains(s.Words, want) }) {
			t.Errorf("%q finds %d sentences without %q", words, len(found), want)
		}
	}
	if found := Search([]string{"hostPort"}); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func TestRelated(t *testing.T) {
	for word, want := range map[string]string{"drain": "evict taint", "Cordoned": "drain evict taint", "sleep": "wait pass", "pod": ""} {
		if got := strings.Join(Related(word), " "); got != want {
			t.Errorf("%s is related to %q, want %q", word, got, want)
		}
	}
}
