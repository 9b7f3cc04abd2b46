package then

import (
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/measure"
)

// Measures are those about what a run comes to. The statement "measure" has all that are not here.
var Measures = []Sentence{
	{Words: `the cost of the cluster within DURATION is at most PRICE`, Observe: atMost(measure.Cost, 1, 0)},
	{Words: `pods wait at most DURATION in total within DURATION`, Observe: atMost(measure.PodWaitTotal, 0, 1)},
	{Words: `no pod waits longer than DURATION within DURATION`, Observe: atMost(measure.PodWaitMax, 0, 1)},
	{Words: `95 in 100 pods wait at most DURATION within DURATION`, Observe: atMost(measure.PodWaitP95, 0, 1)},
	{Words: `no more than N node[s] [is|are] launched within DURATION`, Observe: atMost(measure.NodesLaunched, 0, 1)},
	{Words: `no more than N pod[s] [is|are] evicted within DURATION`, Observe: atMost(measure.Evictions, 0, 1)},
}

// atMost is that a measure is at most as large as the argument most says, in the window of the argument window. It is
// decided when that is over.
func atMost(of string, most, window int) func(words.Args) (Observation, error) {
	return func(args words.Args) (Observation, error) {
		return statement(checker.Statement{Statement: args.Said, Measure: &measure.Bound{Of: of, AtMost: args.Text(most)}}, args.Text(window))
	}
}
