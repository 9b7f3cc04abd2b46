package sentences

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/scene"
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
		for _, r := range []scene.Role{scene.Given, scene.When, scene.Then} {
			if r.String() == s.Role {
				role = r
			}
		}
		if found := find(role, s.Example); len(found) != 1 || found[0].row.Expression.Words != s.Words {
			t.Errorf("%d sentences match the example %s %s, want its own", len(found), s.Role, s.Example)
		}
	}
}

var update = flag.Bool("update", false, "write the files that are made of the code: make reference does")

// TestReferenceSteps keeps the pages of the reference in step with the sentences.
func TestReferenceSteps(t *testing.T) {
	const folder = "../../docs/reference/steps/"
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

func TestDidYouMean(t *testing.T) {
	for _, test := range []struct {
		kind       messages.PickleStepType
		said, want string
	}{
		{messages.PickleStepType_ACTION, `a pod "web" that requests 1 CPU gets created`,
			`did you mean "When a pod \"NAME\" that requests CPU is created"`},
		{messages.PickleStepType_OUTCOME, `the pod "web" is Running within 5mm`,
			`5mm is not virtual time, such as 30s, 5m or 2m30s, in "Then the pod`},
		{messages.PickleStepType_OUTCOME, `the pod web is Running within 5m`, `web is not a name in quotes, in "Then the pod`},
		{messages.PickleStepType_ACTION, `the pod "web" is Running within 5m`, "it is a Then, and not a When"},
		{messages.PickleStepType_OUTCOME, `the node "a" is Ready within 5m`,
			`its step "Then the node \"a\" is Ready within 5m" is called "the Node \"a\" is Ready within 5m" now: nodestorm lint --fix`},
		{messages.PickleStepType_OUTCOME, `nothing like any sentence there is at all`, "matches nothing; nodestorm sentences prints"},
	} {
		wrong := Problems([]*messages.PickleStep{{Type: messages.PickleStepType_CONTEXT, Text: "a cluster"},
			{Type: test.kind, Text: test.said}}, nil)
		if len(wrong) != 1 || wrong[0].Step != 1 || !strings.Contains(wrong[0].Err.Error(), test.want) {
			t.Errorf("%s: %+v, want %s", test.said, wrong, test.want)
		}
	}
}

// Who looks for what people do finds the sentences that are about it.
func TestRelated(t *testing.T) {
	for word, want := range map[string]string{"drain": "evict taint", "Cordoned": "drain evict taint", "sleep": "wait pass", "pod": ""} {
		if got := strings.Join(Related(word), " "); got != want {
			t.Errorf("%s is related to %q, want %q", word, got, want)
		}
	}
}
