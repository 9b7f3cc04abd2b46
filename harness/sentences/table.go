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
var groups = sync.OnceValue(func() []deploy.Sentences {
	all := acts.First()
	for _, k := range clouds.Kinds {
		all = append(all, deploy.Sentences{Sentences: k.Sentences, Thens: k.Thens})
	}
	for _, k := range programs.All {
		all = append(all, k.Sentences...)
	}
	return append(append(all, acts.Last()...),
		deploy.Sentences{Sentences: breaks.Sentences()}, deploy.Sentences{Sentences: acts.Programs},
		deploy.Sentences{Sentences: scene.Sentences{Worlds: "any", Records: "nothing"}, Thens: then.General})
})

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
		for i, t := range g.Thens {
			s := scene.Sentence{Role: scene.Then, Words: t.Words}
			all = append(all, row{Sentence: s, Expression: words.New(t.Words), observes: &g.Thens[i], worlds: g.Worlds, records: g.Records})
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
