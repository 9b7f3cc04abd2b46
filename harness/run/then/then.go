// Package then has the Thens of features that are judged by a run's history alone, as values: what is observed, and
// when it holds. A live run and a stored one are judged by the same.
//
// It waits for nothing and knows no world: who runs one hands the events to a [Judge] as they arrive.
package then

import (
	"slices"
	"strings"
	"sync"

	"nodestorm/harness/sentences/words"
)

// Sentence is a Then.
type Sentence struct {
	// Words are how it is said, see package words. One that ends with a colon quotes a statement, and one that names
	// a FILE has it from there.
	Words string
	// Holds are the statements that it is a readable name for: all of them have to hold in the window that the
	// sentence has, or else until then. They are a list in YAML, in which $1 stands for the sentence's first argument
	// as text inside quotes, and #1 for the number that it is.
	Holds string
	// Observe makes the observation where there are no such statements.
	Observe func(words.Args) (Observation, error)
}

// Observation is what the sentence observes with these arguments. It is for one judgement.
func (s Sentence) Observation(args words.Args) (Observation, error) {
	if err := args.Check(); err != nil {
		return Observation{}, err
	}
	if s.Observe != nil {
		return s.Observe(args)
	}
	return s.observeAll(args)
}

// Quotes reports whether the sentence has a text below its step, or in a file that it names.
func (s Sentence) Quotes() bool {
	return strings.HasSuffix(s.Words, ":") || strings.Contains(s.Words, `"FILE"`)
}

// known is a sentence with its expression.
type known struct {
	Sentence
	*words.Expression
}

var all = sync.OnceValue(func() (all []known) {
	for _, s := range slices.Concat(NodeClaims, Pods, Hetzner, Autoscaler, ClusterAPI, ClusterAPIAutoscaler, Calm, Servers, Kubespray,
		Kubelets, Nodes, General, Measures, Metrics) {
		all = append(all, known{s, words.New(s.Words)})
	}
	return all
})

// Find makes the observation of a Then, as it is called now or was in the run of an older nodestorm, and of what its
// step quoted. There is none for one that asks the world itself, or that nodestorm does not know any more.
func Find(text, quoted string) (o Observation, found bool, err error) {
	if o, found, err = find(text, quoted); found {
		return o, true, err
	}
	// mutant: stored Thens with old words are taken as recorded
	if now, is := words.Newer(text, ""); is {
		return find(now, quoted)
	}
	return Observation{}, false, nil
}

func find(text, quoted string) (o Observation, found bool, err error) {
	for _, s := range all() {
		args, is := s.Match(text)
		if !is || s.Quotes() && quoted == "" {
			continue
		}
		args.Quoted = quoted
		o, err = s.Observation(args)
		return o, true, err
	}
	return Observation{}, false, nil
}
