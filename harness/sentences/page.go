package sentences

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"nodestorm/harness/sentences/breaks"
	"nodestorm/harness/sentences/scene"
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
	// Worlds are where it has a meaning, Records what it leaves in the history.
	Worlds  string `json:"worlds"`
	Records string `json:"records"`
}

// Sentences are all that steps can say, by role and then in the order of their table.
func Sentences() []Sentence { return slices.Clone(sentences()) }

var sentences = sync.OnceValue(func() (all []Sentence) {
	for _, role := range []scene.Role{scene.Given, scene.When, scene.Then} {
		for _, r := range rowsOf()[role] {
			all = append(all, r.sentence(role))
		}
	}
	return all
})

func (r row) sentence(role scene.Role) Sentence {
	s := Sentence{
		Role: role.String(), Words: r.Expression.Words, Example: r.Example, Arguments: r.Arguments, Worlds: r.worlds, Records: r.records,
	}
	if r.observes != nil && r.observes.Holds != "" {
		args, _ := r.Match(r.Example)
		s.Stands = r.observes.With(args.Texts())
	}
	return s
}

// related are words for one subject: what the sentences call it, and what else people do.
var related = [][]string{
	{"drain", "evict", "taint", "unschedulable", "cordon"},
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

// Grammar is what holds for all sentences.
const Grammar = `A sentence that ends with a colon quotes the lines between two """ below it, or a table. Files are beside the feature.

Each row of a Scenario Outline's Examples is a scenario: it is listed, run and judged alone. Of a row that has a record, the tag
is that of Examples of its own.

Every When can wait: append "once RECORD" (before the colon, if there is one), or "once this is recorded:" and a
pattern below in YAML, as symptoms have them, with count (how many records), within (1h if not said) and ever. Before a
When that quotes something itself, "When this is recorded:" is a step with the pattern. A RECORD is

- "ACTOR" has sent "VERB" of "RESOURCE", or somebody has sent ...: a call that the API server took; "been refused" in
  place of "sent": one that it did not; "pods/eviction" is a part of a resource
- "SOURCE" has recorded "VERB" of "RESOURCE": anything else, of the source cloud, node, fault, log, harness or clock

each with a name in quotes behind it, or "NAMESPACE/NAME", and with N times. It counts since the first When of a row of
Whens; has ever sent and has ever recorded: since the start.

A node is drained as by kubectl drain --ignore-daemonsets --delete-emptydir-data: cordoned, and its pods evicted, until they
are gone; what a PodDisruptionBudget refuses is asked for every 5s, for an hour if not said. After "for at most" it is given
up, as with --timeout, and the scenario goes on; by force, pods without a controller are evicted, too, as with --force.

A Then states something of the history: such a RECORD (how often, how often in any span of some length, before another
RECORD), the value that records set (a key of their detail), or "this holds:" and a statement in YAML, as records have
them for symptom and trigger. Most other Thens are readable names of such statements. A statement is about one of

- happens, never: a pattern; count: a pattern, with atLeast, atMost, and every for a rate; first and then: two patterns
- throughout, eventually, finally: {value: detail.KEY, of: a pattern, and is, above, below, atLeast or atMost}
- sequence: elements, each after the one before, in the whole run; noSequence: there are none such

and says where it holds: since (again after each such record), until, within, ever (since the start), forEach or forAny
(fields that identify what it is about, as in [namespace, name]). Of lists, such as taints, contains and lacks compare
whole items: "node.kubernetes.io/not-ready:NoExecute". Of what never was nothing holds; a statement that no
history could break, or none fulfil, is refused. Without since it counts as records do; states count from the Then on.

A pattern that no record can match is refused as well, since "never" and "absent" would hold of nothing: values are checked by
their form (a status, a number as records write it, a mark that is true or missing, a condition as in "False: KubeletNotReady"), verbs,
resources and details by who writes them, namespaces and names that are nearly those of the scenario by what its Givens and Whens make.
{matches: TEXT} is not held against what the scenario makes. Of a resource that a scenario brings, or a condition that nodestorm does not
know, that it is not there says something only if the run has a definition of the one, or a record with the other: else it is
undecided, and the run is inconclusive.

The invariants of a record, and those in the invariants.yaml of a folder for all its features, are such statements too: each
has to hold from the start of the run to its end. A record has in breaks the statements of those that its failure breaks, and the names
of those of every run: see [what must hold in every run](../scenarios/INVARIANTS.md).

`

const standsFor = `These Thens are readable names for statements, all of which have to hold in the window of the sentence. ` +
	`The general Thens say
theirs in words. A few others put together what several records say of a pod, a Node or all instances, or wait for the first of them: a pod
is gone, a server that is off, the cloud has so many instances, every Node, every kubelet. Those about the phases of machines, and
about labels of a Node, ask the world itself: they are taken as recorded when a run is judged again.`

// Page is all sentences in Markdown, features/SENTENCES.md.
func Page() string {
	var page strings.Builder
	page.WriteString("# What the steps of a feature can say\n\n" +
		"Written by `make sentences`. Every step also leaves a record of the source `step`.\n\n")
	page.WriteString(Grammar)
	for _, a := range words.Arguments() {
		fmt.Fprintf(&page, "- `%s`: %s\n", a.Name, a.Means)
	}
	role := ""
	for _, s := range Sentences() {
		if s.Role != role {
			role = s.Role
			fmt.Fprintf(&page, "\n## %s\n\n| sentence | example | worlds | records |\n|---|---|---|---|\n", role)
		}
		cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
		fmt.Fprintf(&page, "| `%s` | `%s` | %s | %s |\n", cell(s.Words), cell(s.Example), s.Worlds, s.Records)
	}
	page.WriteString("\n### What Thens are names for\n\n" + standsFor + "\n")
	for _, s := range Sentences() {
		if s.Stands != "" {
			fmt.Fprintf(&page, "\n`%s`\n\n```yaml\n%s\n```\n", s.Example, strings.TrimSpace(s.Stands))
		}
	}
	page.WriteString(breaks.Page())
	return page.String()
}
