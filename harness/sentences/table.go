package sentences

import (
	"slices"
	"sync"

	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/programs"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/acts"
	"nodestorm/harness/sentences/breaks"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// groups are all sentences. Every step also leaves a record of the source step.
var groups = sync.OnceValue(func() (all []group) {
	add := func(topic Topic, of ...deploy.Sentences) {
		for _, g := range of {
			all = append(all, group{topic, g})
		}
	}
	add(InCluster, acts.First()...)
	for _, k := range clouds.Kinds {
		add(InCloud, deploy.Sentences{Sentences: k.Sentences, Thens: k.Thens})
	}
	for _, k := range programs.All {
		add(topicOf(k.Name), k.Sentences...)
	}
	add(OfNodes, acts.Last()...)
	add(OfFaults, deploy.Sentences{Sentences: breaks.Sentences()})
	add(InCluster, deploy.Sentences{Sentences: acts.Programs})
	add(Assertions, deploy.Sentences{Sentences: scene.Sentences{Worlds: "any", Records: "nothing"}, Thens: then.General},
		deploy.Sentences{Sentences: scene.Sentences{Worlds: "any", Records: "nothing"}, Thens: then.Measures})
	return all
})

// group are sentences of one topic.
type group struct {
	topic Topic
	deploy.Sentences
}

// Topic is what sentences are about: a page of the reference.
type Topic string

// The topics. A Then that any world can have is an assertion.
const (
	InCluster  Topic = "cluster"
	OfNodes    Topic = "nodes"
	InCloud    Topic = "cloud"
	OfFaults   Topic = "faults"
	Assertions Topic = "assertions"
)

// topicOf is the topic of a program's sentences: its name, or the cloud if it comes with one.
func topicOf(program string) Topic {
	if slices.Contains([]string{"karpenter", "cluster-autoscaler", "cluster-api"}, program) {
		return Topic(program)
	}
	return InCloud
}

// row is a sentence and its expression; observes is what it states of the history, nil where it acts.
type row struct {
	scene.Sentence
	*words.Expression
	observes        *then.Sentence
	topic           Topic
	worlds, records string
}

// rows are those of all sentences, in the order of the groups.
var rows = sync.OnceValue(func() (all []row) {
	for _, g := range groups() {
		for _, s := range g.Rows {
			e := words.New(s.Words)
			if s.Table {
				e = e.Tabled()
			}
			all = append(all, row{Sentence: s, Expression: e, topic: g.topic, worlds: g.Worlds, records: g.Records})
		}
		for i, t := range g.Thens {
			s := scene.Sentence{Role: scene.Then, Words: t.Words}
			topic := g.topic
			if topic == InCluster || topic == OfNodes {
				topic = Assertions
			}
			all = append(all, row{Sentence: s, Expression: words.New(t.Words), observes: &g.Thens[i], topic: topic,
				worlds: g.Worlds, records: g.Records})
		}
	}
	return all
})

// rowsOf are those that can be said in a role.
var rowsOf = sync.OnceValue(func() map[scene.Role][]row {
	by := map[scene.Role][]row{}
	for _, role := range []scene.Role{scene.Given, scene.When, scene.Then} {
		by[role] = slices.DeleteFunc(slices.Clone(rows()), func(r row) bool { return r.Role&role == 0 })
	}
	return by
})
