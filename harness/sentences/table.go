package sentences

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/words"
)

// Sentence is what a step can say, for people. All of it follows from the words with
// which the step is registered.
type Sentence struct {
	Role string `json:"role"` // Given, When or Then
	// Words are the sentence with what its arguments are called, Example has values.
	Words     string     `json:"words"`
	Example   string     `json:"example"`
	Arguments []Argument `json:"arguments,omitempty"`
	// Stands are the statements that the example is a name for, as a list in YAML; empty if
	// it is none.
	Stands string `json:"stands,omitempty"`
	// Worlds are where it has a meaning, Records what it leaves in the history.
	Worlds  string `json:"worlds"`
	Records string `json:"records"`

	pattern *regexp.Regexp
}

// Argument is a part of a sentence that a feature chooses.
type Argument struct {
	Name    string `json:"name"`
	Means   string `json:"means"`
	Example string `json:"example"`

	pattern string
}

var arguments = append(faultArguments(), []Argument{
	{"NAME", `a name in quotes`, `"web"`, name},
	{"DURATION", "virtual time, such as 30s, 5m or 2m30s", "5m", span},
	{"N", "a whole number", "2", number},
	{"CPU", "processors, as in 500m CPU or 1 CPU", "1 CPU", cpus},
	{"TAINT", "a taint in quotes, KEY[=VALUE]:EFFECT, with the effect NoSchedule, PreferNoSchedule or NoExecute", `"example.com/agent:NoSchedule"`, taint},
	{"KIND/NAME", "an object in quotes, KIND/NAME, or KIND/NAMESPACE/NAME outside of the namespace default; after a record was waited for, $name, $namespace, $actor and $detail.KEY stand for what that has, here and as whole values of objects in YAML; $newest and $oldest for the Node that the target brought, or the pod, that came last or first", `"Deployment/web"`, object},
	{"Pod/NAME", "a pod in quotes, Pod/NAME or Pod/NAMESPACE/NAME; $name, $namespace, $newest and $oldest as in KIND/NAME", `"Pod/web-0"`, podObject},
	{"Node/NAME", "a node in quotes; $name, $newest and $oldest as in KIND/NAME", `"Node/node-1"`, nodeObject},
	{"KEY=VALUE", "a label or an annotation in quotes; KEY- removes it", `"example.com/team=a"`, mark},
	{"FILE", "a file in quotes, .yaml, .yml or .json, beside the feature", `"objects.yaml"`, file},
	{"RECORD", "a record in words: \"ACTOR\" has sent \"VERB\" of \"RESOURCE\", or \"SOURCE\" has recorded \"VERB\" of \"RESOURCE\"; the head of features/SENTENCES.md says more", `"cluster-autoscaler" has sent "delete" of "nodes"`, recordWords},
	{"VERSION", "a release, or a build of one's own such as v1.9.5-mine", "v1.9.5", release},
}...)

// room is a group of sentences that the same worlds have.
type room struct {
	worlds, records string
	register        func(*scenario, sentences)
}

// rooms are all sentences. Every step leaves a record of the source step besides.
var rooms = []room{
	{"any; those about NodeClaims need Karpenter", "calls to the API server (api), simulated nodes (node)", (*scenario).registerKarpenter},
	{"any", "calls to the API server (api) by kubectl", (*scenario).registerObjects},
	{"any; the autoscalers, node groups and types need the target or the cloud that they are of", "calls to the API server (api), the target's log (log)", (*scenario).registerTargets},
	{"a Hetzner Cloud project", "the cloud's servers, actions and calls (cloud), its faults (fault)", (*scenario).registerHetzner},
	{"a cloud of node groups", "the cloud's instances, node groups and calls (cloud), its faults (fault)", (*scenario).registerNodeGroups},
	{"Karpenter on a cloud of instances", "the cloud's instances and calls (cloud), its faults (fault)", (*scenario).registerInstances},
	{"Cluster Autoscaler, on any of its clouds", "calls to the API server (api), the autoscaler's log (log)", (*scenario).registerAutoscaler},
	{"Cluster API", "calls to the API server (api), instances (cloud), faults of machines (fault)", (*scenario).registerClusterAPI},
	{"Cluster Autoscaler with Cluster API", "calls to the API server (api), the autoscaler's log (log), faults between them (fault)", (*scenario).registerClusterAPIAutoscaler},
	{"Cluster API", "faults of machines (fault), calls to the API server (api)", (*scenario).registerClusterAPIFaults},
	{"servers of a Hetzner Cloud project", "servers (cloud), nodes (node), calls to the API server (api)", (*scenario).registerServers},
	{"an installation by Kubespray on a vSphere, with real kubelets", "what the installer does (harness), calls to the API server (api)", (*scenario).registerKubespray},
	{"Karpenter, with real kubelets", "kubelets (node), faults of them (fault)", (*scenario).registerFlap},
	{"any whose cluster kubelets can join", "kubelets (node), faults of them (fault)", (*scenario).registerKubelet},
	{"any with simulated nodes", "nodes (node), faults of them (fault)", (*scenario).registerNodeFaults},
	{"any that has what it is about", "faults (fault)", (*scenario).registerFaults},
	{"any", "programs that end and start (harness)", (*scenario).registerPrograms},
	{"any", "nothing", func(_ *scenario, on sentences) { observe(on, then.General) }},
}

// Sentences are all that steps can say, by role and then as registered.
func Sentences() []Sentence { return slices.Clone(table()) }

var table = sync.OnceValue(func() (all []Sentence) {
	for _, r := range rooms {
		r.register(&scenario{}, collector(func(role, pattern string, do any) {
			if t, is := do.(then.Sentence); is {
				all = append(all, sentenceOf(t, r))
				return
			}
			all = append(all, sentence(role, pattern, r))
		}))
	}
	order := []string{"Given", "When", "Then"}
	slices.SortStableFunc(all, func(a, b Sentence) int { return slices.Index(order, a.Role) - slices.Index(order, b.Role) })
	return all
})

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
			if !strings.HasPrefix(strings.ToLower(word), w) && slices.ContainsFunc(table(), func(s Sentence) bool { return strings.Contains(s.Words, w) }) {
				all = append(all, w)
			}
		}
	}
	return all
}

// collector is told of each sentence.
type collector func(role, pattern string, do any)

func (c collector) Given(pattern, do any) { c("Given", pattern.(string), do) }
func (c collector) When(pattern, do any)  { c("When", pattern.(string), do) }
func (c collector) Then(pattern, do any)  { c("Then", pattern.(string), do) }

// sentenceOf is a Then that observes the history.
func sentenceOf(t then.Sentence, r room) Sentence {
	e := words.New(t.Words)
	s := Sentence{Role: "Then", Words: e.Words, Example: e.Example, Worlds: r.worlds, Records: r.records, pattern: e.Pattern()}
	for _, a := range e.Arguments {
		s.Arguments = append(s.Arguments, Argument{Name: a.Name, Means: a.Means, Example: a.Example})
	}
	if args, is := e.Match(e.Example); is && t.Holds != "" {
		s.Stands = t.With(args.Texts())
	}
	return s
}

// sentence reads the words out of the pattern.
func sentence(role, pattern string, r room) Sentence {
	s := Sentence{Role: role, Worlds: r.worlds, Records: r.records, pattern: regexp.MustCompile(pattern)}
	var words, example strings.Builder
	rest := strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$")
	say := func(w, e string) { words.WriteString(w); example.WriteString(e) }
next:
	for rest != "" {
		for _, a := range arguments {
			if after, is := strings.CutPrefix(rest, a.pattern); is {
				rest = after
				shown := a.Name
				if strings.HasPrefix(a.pattern, `"`) {
					shown = `"` + a.Name + `"`
				}
				if strings.HasPrefix(a.pattern, "((?:") && strings.ContainsAny(a.Example[:1], " ,") { // may be empty
					shown = " " + shown
				}
				say(shown, a.Example)
				s.Arguments = append(s.Arguments, a)
				continue next
			}
		}
		switch {
		case strings.HasPrefix(rest, "(?:"): // words that come to the same
			inside, after, _ := strings.Cut(rest[3:], ")")
			options := strings.Split(inside, "|")
			say(options[len(options)-1], options[len(options)-1])
			rest = after
		case rest[0] == '(': // a choice
			inside, after, _ := strings.Cut(rest[1:], ")")
			options := strings.Split(inside, "|")
			say(strings.Join(options, "|"), options[0])
			s.Arguments = append(s.Arguments, Argument{strings.Join(options, "|"), "one of these words", options[0], ""})
			rest = after
		case strings.HasPrefix(rest, `s?`): // of two, nouns have it and the verb "request" has not
			if !strings.HasSuffix(words.String(), "request") {
				say("s", "s")
			}
			rest = rest[2:]
		case rest[0] == '\\':
			say(rest[1:2], rest[1:2])
			rest = rest[2:]
		default:
			say(rest[:1], rest[:1])
			rest = rest[1:]
		}
	}
	s.Words, s.Example = words.String(), example.String()
	switch {
	case strings.HasSuffix(s.Words, flagsWords), strings.HasSuffix(s.Words, unlistedWords), s.Words == environmentWords, s.Words == groupsWords, s.Words == typesWords, s.Words == nodesWords:
		s.Arguments = append(s.Arguments, Argument{Name: "TABLE", Means: "a table below the step, of names and their values; of node groups with the columns name, min, max, and if need be type, zone, labels, taints; of instance types with name, cpu, memory, and if need be price, zones; of nodes with name, and if need be type, zone, group, labels, taints"})
	case strings.HasSuffix(s.Words, ":"):
		s.Arguments = append(s.Arguments, Argument{Name: "TEXT", Means: `lines between """ below the step`})
	}
	return s
}

// longest is more words than any sentence has.
const longest = 60

// instead says what a step might mean that no sentence matches, or "".
func instead(step *messages.PickleStep) string {
	role := keywords[step.Type]
	said := strings.Fields(step.Text)
	if len(said) > longest {
		return ""
	}
	if action, record, waits := strings.Cut(step.Text, onceWords); waits {
		if wrong := wrongRecord(action, strings.TrimSuffix(record, ":")); wrong != "" {
			return wrong
		}
	}
	best, least := Sentence{}, len(said)/2+1
	for _, s := range table() {
		if s.pattern.MatchString(step.Text) {
			return fmt.Sprintf("it is a %s, and not a %s", s.Role, role)
		}
		if d := apart(step.Text, s.Words); d < least || d == least && s.Role == role && best.Role != role {
			best, least = s, d
		}
	}
	if best.Words == "" {
		return ""
	}
	if wrong := wrongArgument(said, strings.Fields(best.Words)); wrong != "" {
		return wrong + fmt.Sprintf(", in %q", best.Role+" "+best.Words)
	}
	return fmt.Sprintf("did you mean %q", best.Role+" "+best.Words)
}

// wrongRecord says what is wrong with the record that an action waits for, or "".
func wrongRecord(action, record string) string {
	does := func(words string) bool {
		return slices.ContainsFunc(table(), func(s Sentence) bool { return s.Role == "When" && s.pattern.MatchString(words) })
	}
	alone, quotes := does(action), does(action+":")
	switch {
	case !alone && !quotes, then.IsRecord(record):
		return ""
	case record != thisRecorded:
		return fmt.Sprintf(`%q is no record to wait for, such as "karpenter" has sent "delete" of "nodes", or "cloud" has recorded "running" of "instances"`, record)
	case alone:
		return fmt.Sprintf("the record is quoted below the step, which ends with a colon then: %q", onceWords[1:]+thisRecorded+":")
	}
	return fmt.Sprintf("a step quotes one text, and %q has its own: say %q with the record before it, as a step, or name the record in words", action+":", "When "+thisRecorded+":")
}

// wrongArgument says which argument is malformed if nothing else is wrong, or "".
func wrongArgument(said, words []string) string {
	if len(said) != len(words) {
		return ""
	}
	wrong := ""
	for i := range said {
		if same(said[i], words[i]) {
			continue
		}
		a := slices.IndexFunc(arguments, func(a Argument) bool { return a.Name == strings.Trim(words[i], `",`) })
		if a < 0 || wrong != "" {
			return ""
		}
		wrong = fmt.Sprintf("%s is not %s", strings.TrimSuffix(said[i], ","), arguments[a].Means)
	}
	return wrong
}

// asWords are the arguments as words of a step, by their names.
var asWords = sync.OnceValue(func() map[string]*regexp.Regexp {
	compiled := map[string]*regexp.Regexp{}
	for _, a := range arguments {
		compiled[a.Name] = regexp.MustCompile("^" + strings.TrimSuffix(a.pattern, " CPU") + "$")
	}
	return compiled
})

// same tells whether a word of a step can be that of a sentence.
func same(said, word string) bool {
	if said == word {
		return true
	}
	word, said = strings.TrimSuffix(word, ","), strings.TrimSuffix(said, ",")
	if argument := asWords()[strings.Trim(word, `"`)]; argument != nil {
		return argument.MatchString(said)
	}
	return slices.Contains(strings.Split(word, "|"), said) || strings.TrimSuffix(said, "s") == strings.TrimSuffix(word, "s") || said == "is" && word == "are"
}

// apart is in how many words a step and a sentence differ, with those of many words counted as one.
func apart(text, sentence string) int {
	words := strings.Fields(sentence)
	shape := moments.ReplaceAllString(text, " WHEN")
	if m := chosen.FindStringSubmatch(shape); m != nil {
		shape = "EVERY-" + strings.ToUpper(m[1]) + shape[len(m[0]):]
	}
	return min(distance(strings.Fields(text), words), distance(strings.Fields(shape), words))
}

var (
	chosen  = regexp.MustCompile(`^(?:every|the first|the \d+\w+|each of the first \d+) (?:\w+ )*?(node|call|action|server|machine)s?\b(?: from the \w+ on)?`)
	moments = regexp.MustCompile(`(?:, (?:once \{.*\}|from \S+ on|for \S+|with probability \S+))+$`)
)

// distance is in how many words two texts differ.
func distance(said, words []string) int {
	row := make([]int, len(words)+1)
	for j := range row {
		row[j] = j
	}
	for i := range said {
		before := row[0]
		row[0] = i + 1
		for j := range words {
			cost := before
			if !same(said[i], words[j]) {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(words)]
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
(fields that tell apart what it is about, as in [namespace, name]). Of lists, such as taints, contains and lacks compare
whole items: "node.kubernetes.io/not-ready:NoExecute". Of what never was nothing holds; a statement that no
history could break, or none fulfil, is refused. Without since it counts as records do; states count from the Then on.
The invariants of a record, and those in the invariants.yaml of a folder for all its features, are such statements too: each
has to hold from the start of the run to its end. A record has in breaks the statements of those that its failure breaks, and the names
of those of every run: see [what must hold in every run](../scenarios/INVARIANTS.md).

`

const standsFor = `These Thens are readable names for statements, all of which have to hold in the window of the sentence. The general Thens say
theirs in words. A few others put together what several records tell of a pod, a Node or all instances, or wait for the first of them: a pod
is gone, a server that is off, the cloud has so many instances, every Node, every kubelet. Those about the phases of machines, and
about labels of a Node, ask the world itself: they are taken as recorded when a run is judged again.`

// Page is all sentences in Markdown, features/SENTENCES.md.
func Page() string {
	var page strings.Builder
	page.WriteString("# What the steps of a feature can say\n\nWritten by `make sentences`. Every step leaves a record of the source `step` besides.\n\n")
	page.WriteString(Grammar)
	for _, a := range arguments {
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
	page.WriteString(faultsPage())
	return page.String()
}
