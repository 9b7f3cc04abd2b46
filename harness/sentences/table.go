package sentences

import (
	"slices"
	"sync"

	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// group are sentences that the same worlds have.
type group struct {
	scene.Sentences
	thens []then.Sentence
}

// groups are all sentences. Every step leaves a record of the source step besides.
var groups = sync.OnceValue(func() []group {
	return slices.Concat([]group{
		{clusterSentences, then.Pods},
		{objectSentences, nil},
		{targetSentences, nil},
	}, ofClouds(true), []group{
		{autoscalerSentences, then.Autoscaler},
		{clusterAPISentences, then.ClusterAPI},
		{clusterAPIAutoscalerSentences, then.ClusterAPIAutoscaler},
		{passSentences, then.Calm},
		{serverSentences, then.Servers},
	}, ofClouds(false), []group{
		{kubespraySentences, then.Kubespray},
		{flapSentences, nil},
		{kubeletSentences, then.Kubelets},
		{nodeSentences, then.Nodes},
		{faultSentences(), nil},
		{programSentences, nil},
		{scene.Sentences{Worlds: "any", Records: "nothing"}, then.General},
	})
})

// ofClouds are those of clouds that autoscalers have, and of others.
func ofClouds(autoscaled bool) (all []group) {
	for _, k := range clouds.Kinds {
		if (len(k.Programs) > 0) == autoscaled {
			all = append(all, group{k.Sentences, k.Thens})
		}
	}
	return all
}

// row is a sentence and its expression; observes is what it states of the history, nil where it acts.
type row struct {
	scene.Sentence
	*words.Expression
	observes        *then.Sentence
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
			all = append(all, row{Sentence: s, Expression: e, worlds: g.Worlds, records: g.Records})
		}
		for i, t := range g.thens {
			s := scene.Sentence{Role: scene.Then, Words: t.Words}
			all = append(all, row{Sentence: s, Expression: words.New(t.Words), observes: &g.thens[i], worlds: g.Worlds, records: g.Records})
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
