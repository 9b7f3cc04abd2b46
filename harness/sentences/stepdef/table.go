// Package stepdef has the step definitions: one table of all sentences, with what each does or observes, and the lookup of
// the definition that a step matches. It plays no step and checks none.
package stepdef

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
	add(InCluster, deploy.Sentences{Sentences: acts.Upgrades}, deploy.Sentences{Sentences: acts.Planes})
	add(Assertions, deploy.Sentences{Sentences: scene.Sentences{Worlds: "any", Records: "nothing"}, Thens: then.General},
		deploy.Sentences{Sentences: scene.Sentences{Worlds: "any", Records: "nothing"}, Thens: slices.Concat(then.Measures, then.Metrics)})
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

// Definition is a sentence and its expression.
type Definition struct {
	scene.Sentence
	*words.Expression
	// Observes is what the sentence states of the history, nil where it acts.
	Observes *then.Sentence
	Topic    Topic
	// Worlds are where it has a meaning, Records what it leaves in the history.
	Worlds, Records string
}

// definitions are those of all sentences, in the order of the groups.
var definitions = sync.OnceValue(func() (all []Definition) {
	for _, g := range groups() {
		for _, s := range g.Rows {
			e := words.New(s.Words)
			if s.Table {
				e = e.Tabled()
			}
			all = append(all, Definition{Sentence: s, Expression: e, Topic: g.topic, Worlds: g.Worlds, Records: g.Records})
		}
		for i, t := range g.Thens {
			s := scene.Sentence{Role: scene.Then, Words: t.Words}
			topic := g.topic
			if topic == InCluster || topic == OfNodes {
				topic = Assertions
			}
			all = append(all, Definition{Sentence: s, Expression: words.New(t.Words), Observes: &g.Thens[i], Topic: topic,
				Worlds: g.Worlds, Records: g.Records})
		}
	}
	return all
})

// Roles are all roles that steps have.
var Roles = []scene.Role{scene.Given, scene.When, scene.Then}

// InRole are the definitions of the sentences that can be said in one of Roles. They are shared: do not change them.
func InRole(role scene.Role) []Definition { return byRole()[role] }

var byRole = sync.OnceValue(func() map[scene.Role][]Definition {
	by := map[scene.Role][]Definition{}
	for _, role := range Roles {
		by[role] = slices.DeleteFunc(slices.Clone(definitions()), func(d Definition) bool { return d.Role&role == 0 })
	}
	return by
})
