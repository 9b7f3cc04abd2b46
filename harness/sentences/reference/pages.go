// Package reference has the sentences for people: the pages of the reference about steps, and the search for sentences.
package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mitchellh/go-wordwrap"

	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/harness/sentences/breaks"
	"nodestorm/harness/sentences/stepdef"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/machine/cri"
	"nodestorm/sim/machine/node"
)

// Grammar is what holds for all sentences.
var Grammar = `A sentence that ends with a colon takes the lines between two """ below it, or a table. Files are beside the feature.

Each row of a Scenario Outline's Examples is a scenario: it is listed, run and judged alone. A row that has a record needs Examples
of its own, tagged with the record's ID.

Every When can wait for an event. Append "once EVENT" (before the colon, if there is one), or "once this is recorded:" and a
pattern in YAML below, as symptoms have them. The pattern may also have count (how many events), within (1h without it) and ever.
Before a When that takes lines itself, "When this is recorded:" is a step with the pattern. An EVENT is

- "ACTOR" has sent "VERB" of "RESOURCE", or a client has sent "VERB" of "RESOURCE": a call that the API server took. With "been refused"
  in place of "sent", it is a call that the API server refused, and with "TEXT" may follow: what its answer has in it.
  "pods/eviction" is a part of a resource.
- "SOURCE" has recorded "VERB" of "RESOURCE": any other event, of the source cloud, node, fault, log, harness or clock.

A name in quotes may follow, or "NAMESPACE/NAME", and a number, as in 3 times. Events count since the first When of a row of Whens;
with "has ever sent" and "has ever recorded" since the start. "5m from now" in a Then is when it is decided.

A node is drained as by kubectl drain --ignore-daemonsets --delete-emptydir-data. It is cordoned, and its pods are evicted until they are
gone. An eviction that a PodDisruptionBudget refuses is asked for every 5s, for an hour if the step does not say how long. After "for at
most" the drain ends, as with --timeout, and the scenario goes on. With "by force", pods without a controller are evicted as well.

A table of node groups has the columns name, min and max, and may have type, zone, labels, taints and options, such as
maxNodeProvisionTime=5m,zeroOrMaxNodeScaling=true. Only a cloud of node groups has options: ` +
	strings.Join(externalgrpc.OptionNames(), ", ") + `.

Annotations of a pod say how its containers behave, each with a duration such as 90s. On simulated nodes, with
` + node.RunForAnnotation + ` containers exit with 0 so long after their start, which needs a restartPolicy other than Always, and with
` + node.StopAfterAnnotation + ` they exit so long after SIGTERM, or at the end of the grace period. On real kubelets, with
` + cri.ServeAfterAnnotation + ` containers pass their probes so long after their start, and at once without it.

A Then states something of the history. It is such an EVENT (how often, how often in any span of some length, before another EVENT), a
value that events set (a key of their detail), or "this holds:" and a statement in YAML. "ACTOR" never sends, is never refused, and
"SOURCE" never records say that none occurs. Most other Thens are names of such statements. A statement has one of

- happens, never: a pattern. count: a pattern, with atLeast, atMost, and every for a rate. first and then: two patterns.
- throughout, eventually, finally: {value: detail.KEY, of: a pattern, and is, above, below, atLeast or atMost}.
- sequence: elements, each after the one before, in the whole run. noSequence: a sequence that is not there.

It says where it holds: since (again after each such event), until, within, ever (since the start), forEach or forAny (fields
such as [namespace, name]). In lists, such as taints, contains and lacks compare whole items: "node.kubernetes.io/not-ready:NoExecute".
A statement about something that never occurred is false. A statement that no history could break, or that none could fulfil,
is refused. Without since, a statement counts as events do, and states count from the Then on.

A pattern that no event can match is refused as well. Values are checked by their form, verbs and details by the source, and namespaces
and names by what the scenario makes; {matches: TEXT} is not compared with that. Resources that a scenario brings are in no list.
That such a thing is absent counts only if the run shows that it could be there, and else the run is inconclusive.

Invariants of a record, and those in a folder's invariants.yaml, are statements too. Each has to hold from the start of the run to
its end. A record names in breaks the statements, and the invariants of every run, that its failure breaks.
`

const standsFor = `These Thens are readable names for statements, all of which have to hold in the window of the sentence. The general Thens
say theirs in words. A few others put together what several events say of a pod, a Node or all instances. Those about the phases of
machines, and about labels of a Node, ask the world itself: they are taken as recorded when a run is judged again.`

// topics are the pages, each with a sentence on what it has.
var topics = []struct {
	topic        stepdef.Topic
	title, about string
}{
	{stepdef.InCluster, "Cluster and objects", "The cluster, objects, events to wait for, programs that end and start."},
	{stepdef.OfNodes, "Nodes and kubelets", "Servers and machines with real and simulated kubelets, and simulated nodes that come and go."},
	{stepdef.InCloud, "Clouds", "Clouds, their servers and instances, cloud controller managers, and installations on a vSphere."},
	{stepdef.OfFaults, "Faults", "What breaks: calls to the API server and to the cloud, servers, nodes, kubelets, machines."},
	{"karpenter", "Karpenter", "Karpenter, its NodePools, and machines with real kubelets."},
	{"cluster-autoscaler", "Cluster Autoscaler", "Cluster Autoscaler, its flags and node groups."},
	{"cluster-api", "Cluster API", "Cluster API with its machines, and Cluster Autoscaler for it."},
	{stepdef.Assertions, "Assertions", "What any world can be asked: pods, Nodes, events, values and statements."},
}

const written = "<!-- written by make reference -->"

// Pages are those of the reference about steps, by their names.
func Pages() map[string]string {
	all := map[string]string{"README.md": overview(), "statements.md": statements(),
		"faults-in-yaml.md": "# Faults in YAML\n\n" + written + "\n" + breaks.Page()}
	for _, t := range topics {
		all[string(t.topic)+".md"] = topicPage(t.topic, t.title, t.about)
	}
	return all
}

// pageColumns is how long lines of a page are.
const pageColumns = 118

func wrapped(text, pad string) string {
	return strings.ReplaceAll(wordwrap.WrapString(text, uint(pageColumns-len(pad))), "\n", "\n"+pad)
}

func overview() string {
	var page strings.Builder
	fmt.Fprintf(&page, "# Steps of a feature\n\n%s\n\nEvery step leaves an event of the source `step`. `nodestorm sentences WORD` prints the "+
		"same.\n\n| page | steps | about |\n|---|---|---|\n", written)
	count := map[stepdef.Topic]int{}
	for _, s := range inBothRoles() {
		count[s.Topic]++
	}
	for _, t := range topics {
		fmt.Fprintf(&page, "| [%s](%s.md) | %d | %s |\n", t.title, t.topic, count[t.topic], t.about)
	}
	fmt.Fprintf(&page, "| [Faults in YAML](faults-in-yaml.md) | | What a step with faults in YAML can have. |\n")
	fmt.Fprintf(&page, "| [Statements](statements.md) | | What Thens are names for, in YAML. |\n\n## What holds for all steps\n\n")
	for _, paragraph := range strings.Split(strings.TrimSpace(Grammar), "\n\n") {
		if items := strings.Split("\n"+paragraph, "\n- "); len(items) > 1 {
			for _, item := range items[1:] {
				fmt.Fprintf(&page, "- %s\n", wrapped(strings.Join(strings.Fields(item), " "), "  "))
			}
			page.WriteString("\n")
			continue
		}
		fmt.Fprintf(&page, "%s\n\n", wrapped(strings.Join(strings.Fields(paragraph), " "), ""))
	}
	page.WriteString("## Arguments\n\n")
	for _, a := range words.Arguments() {
		text := fmt.Sprintf("`%s`: %s. Example: `%s`", a.Name, a.Means, strings.TrimSpace(a.Example))
		fmt.Fprintf(&page, "- %s\n", wrapped(text, "  "))
	}
	return page.String()
}

func topicPage(topic stepdef.Topic, title, about string) string {
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n%s\n\n%s\n", title, written, wrapped(about+" Arguments are in [steps](README.md).", ""))
	heading := ""
	for _, s := range inBothRoles() {
		if s.Topic != topic {
			continue
		}
		if at := s.heading(); at != heading {
			heading = at
			fmt.Fprintf(&page, "\n## %s: %s\n\n%s\n\n| step | example | played in |\n|---|---|---|\n", s.Role, s.Worlds,
				wrapped("Leaves "+s.Records+".", ""))
		}
		fmt.Fprintf(&page, "| `%s` | `%s` | %s |\n", cell(s.Words), cell(s.Example), cell(places(s.Played)))
	}
	return page.String()
}

// inBothRoles are the sentences, with one in place of a Given and a When that say the same.
func inBothRoles() (all []Sentence) {
	for _, s := range Sentences() {
		i := slices.IndexFunc(all, func(other Sentence) bool { return other.Words == s.Words && other.Topic == s.Topic })
		if i >= 0 {
			all[i].Role = "Given or When"
			continue
		}
		all = append(all, s)
	}
	first := map[string]int{} // of what stands below one heading
	for i, s := range all {
		if _, is := first[s.heading()]; !is {
			first[s.heading()] = i
		}
	}
	slices.SortStableFunc(all, func(a, b Sentence) int {
		return cmp.Or(order[a.Role]-order[b.Role], first[a.heading()]-first[b.heading()])
	})
	return all
}

// heading is what the sentences below one heading of a page have in common.
func (s Sentence) heading() string { return s.Role + "\n" + s.Worlds + "\n" + s.Records }

var order = map[string]int{"Given": 0, "Given or When": 1, "When": 2, "Then": 3}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// places are the worlds in which features play a sentence, by their clouds.
func places(worlds []string) string {
	if len(worlds) == 0 {
		return "no feature of the catalogue"
	}
	var all []string
	last := ""
	for _, world := range worlds {
		program, on, _ := strings.Cut(world, " on ")
		if program == last && on != "" {
			all[len(all)-1] += ", " + on
			continue
		}
		last = program
		all = append(all, world)
	}
	return strings.Join(all, "; ")
}

func statements() string {
	var page strings.Builder
	fmt.Fprintf(&page, "# What Thens are names for\n\n%s\n\n%s\n", written, wrapped(strings.Join(strings.Fields(standsFor), " "), ""))
	for _, t := range topics {
		heading := "\n## " + t.title + "\n"
		for _, s := range Sentences() {
			if s.Stands == "" || s.Topic != t.topic {
				continue
			}
			fmt.Fprintf(&page, "%s\n`%s`\n\n```yaml\n%s\n```\n", heading, s.Example, strings.TrimSpace(s.Stands))
			heading = ""
		}
	}
	return page.String()
}
