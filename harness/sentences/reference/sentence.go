package reference

import (
	"slices"
	"strings"
	"sync"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef"
	"nodestorm/harness/sentences/words"
)

// Sentence is what a step can say, for people. All of it follows from the sentence's row.
type Sentence struct {
	Role string `json:"role"` // Given, When or Then
	// Words are the sentence with what its arguments are called, Example has values.
	Words     string           `json:"words"`
	Example   string           `json:"example"`
	Arguments []words.Argument `json:"arguments,omitempty"`
	// Stands are the statements that the example is a name for, as a list in YAML; empty if
	// it is none.
	Stands string `json:"stands,omitempty"`
	// Topic is its page in the reference.
	Topic stepdef.Topic `json:"topic"`
	// Worlds are where it has a meaning, Played those of features that say it, and Records what it leaves in the history.
	Worlds  string   `json:"worlds"`
	Played  []string `json:"played,omitempty"`
	Records string   `json:"records"`
}

// Sentences are all that steps can say, by role and then in the order of their table.
func Sentences() []Sentence { return slices.Clone(sentences()) }

var sentences = sync.OnceValue(func() (all []Sentence) {
	for _, role := range stepdef.Roles {
		for _, d := range stepdef.InRole(role) {
			all = append(all, sentenceOf(d, role))
		}
	}
	return all
})

func sentenceOf(d stepdef.Definition, role scene.Role) Sentence {
	s := Sentence{
		Role: role.String(), Words: d.Expression.Words, Example: exampleOf(d), Arguments: d.Arguments, Topic: d.Topic,
		Worlds: worldsOfNeeds(d), Played: worldsOfPlayed(d), Records: d.Records,
	}
	if d.Observes != nil && d.Observes.Holds != "" {
		args, _ := d.Match(s.Example)
		s.Stands = d.Observes.StatementsYAML(args.Texts())
	}
	return s
}

// worldsOfNeeds are where a sentence has a meaning: those of what it needs, or else those that its group is for.
func worldsOfNeeds(d stepdef.Definition) string {
	var all []string
	for _, need := range d.Needs {
		givens := need.Missing.Givens()
		if slices.Equal(givens, []string{"a cluster"}) { // which all have
			continue
		}
		for i := range givens {
			givens[i] = "`" + givens[i] + "`"
		}
		if last := len(givens) - 1; last > 0 {
			givens = []string{strings.Join(givens[:last], ", ") + " or " + givens[last]}
		}
		all = append(all, givens...)
	}
	if len(all) == 0 {
		return d.Worlds
	}
	return "after " + strings.Join(all, " and ")
}

// related are words for one subject: what the sentences call it, and what else people do.
var related = [][]string{
	{"drain", "evict", "taint", "unschedulable", "cordon"},
	{"disrupt", "delete", "remove", "terminate", "consolidate", "replace", "evict"},
	{"scale", "replicas", "target size"},
	{"fault", "fail", "break", "inject"},
	{"kill", "crash", "restart"},
	{"wait", "pass", "sleep"},
}

// Related are the other words for what a word is about that sentences have.
func Related(word string) (all []string) {
	for _, words := range related {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(strings.ToLower(word), w) }) {
			continue
		}
		for _, w := range words {
			spoken := slices.ContainsFunc(sentences(), func(s Sentence) bool { return strings.Contains(s.Words, w) })
			if spoken && !strings.HasPrefix(strings.ToLower(word), w) {
				all = append(all, w)
			}
		}
	}
	return all
}
