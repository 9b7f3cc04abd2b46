package sentences

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sync"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/run/then"
)

// What the sentences' arguments look like. A malformed one makes its step match
// nothing, and that is found before anything starts.
const (
	name   = `"([^"]+)"`
	span   = `((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)` // 30s, 2m30s
	number = `(\d+)`
	cpus   = `(\d+m|\d+(?:\.\d+)?) CPU` // 500m CPU, 1 CPU
	taint  = `"([^":=]+(?:=[^":]*)?:(?:NoSchedule|PreferNoSchedule|NoExecute))"`
)

// sentences is what the steps are registered with: godog, or a list of patterns.
type sentences interface {
	Given(pattern, do any)
	When(pattern, do any)
	Then(pattern, do any)
}

func (s *scenario) register(on sentences) {
	on = waits{on, s}
	for _, r := range rooms {
		r.register(s, on)
	}
}

func (s *scenario) registerKarpenter(on sentences) {
	on.Given(`^a cluster$`, s.cluster)
	on.Given(`^a cluster whose API server adds no default tolerations$`, s.clusterWithoutDefaultTolerations)
	on.Given(`^`+servesWords+name+`$`, s.clusterServing)
	on.Given(`^a Ready node `+name+` for system pods only$`, s.systemNode)
	on.Given(`^machines that register `+span+` after their launch and are Ready `+span+` later$`, s.machines)
	on.Given(`^a node agent `+name+` that taints its Node with `+taint+` from `+span+` to `+span+` after registration$`, s.agent)
	on.Given(`^Karpenter with a NodePool `+name+`$`, s.karpenterWithPool)
	on.Given(`^a pod `+name+` that requests `+cpus+` is Running$`, s.runningPod)
	on.Given(`^its machine is initialized and `+span+` have passed since its launch$`, s.machineInitialized)

	on.When(`^a pod `+name+` that requests `+cpus+` is created$`, s.createPod)
	on.When(`^a Deployment `+name+` of `+number+` pods? that requests? `+cpus+` is created$`, s.createDeployment)

	observe(on, then.Pods)
}

// patterns are the sentences by the role of their steps.
type patterns map[messages.PickleStepType][]*regexp.Regexp

func (p patterns) add(role messages.PickleStepType, pattern any) {
	p[role] = append(p[role], regexp.MustCompile(pattern.(string)))
}

func (p patterns) Given(pattern, _ any) { p.add(messages.PickleStepType_CONTEXT, pattern) }
func (p patterns) When(pattern, _ any)  { p.add(messages.PickleStepType_ACTION, pattern) }
func (p patterns) Then(pattern, _ any)  { p.add(messages.PickleStepType_OUTCOME, pattern) }

// allPatterns are those of all sentences.
var allPatterns = sync.OnceValue(func() patterns {
	all := patterns{}
	(&scenario{}).register(all)
	return all
})

var keywords = map[messages.PickleStepType]string{
	messages.PickleStepType_CONTEXT: "Given", messages.PickleStepType_ACTION: "When", messages.PickleStepType_OUTCOME: "Then",
}

// Check finds a step that no sentence matches, a scenario without a cluster, or what a
// step quotes and no world could take, before anything starts. beside is the folder of the
// feature, with the files that the steps name; nil if there is none.
func Check(steps []*messages.PickleStep, beside fs.FS) error {
	if len(steps) == 0 {
		return errors.New("it has no steps")
	}
	if wrong := Problems(steps, beside); len(wrong) > 0 {
		return wrong[0].Err
	}
	return nil
}

// Problem is something wrong with a step, by its index.
type Problem struct {
	Step int
	Err  error
}

// Problems are all that Check would find, one after the other.
func Problems(steps []*messages.PickleStep, beside fs.FS) (wrong []Problem) {
	known := allPatterns()
	quotes := reader{beside: beside}
	for i, step := range steps {
		err := known.check(i, step, len(wrong) < mostMeant)
		if err == nil {
			err = quotes.check(step)
		}
		if err != nil {
			wrong = append(wrong, Problem{i, err})
		}
	}
	return wrong
}

// mostMeant is for how many steps of a scenario it is guessed what they might mean.
const mostMeant = 20

func (p patterns) check(i int, step *messages.PickleStep, guess bool) error {
	matches := 0
	for _, pattern := range p[step.Type] {
		if pattern.MatchString(step.Text) {
			matches++
		}
	}
	switch {
	case matches == 0:
		said := fmt.Sprintf("its step %q matches nothing", keywords[step.Type]+" "+step.Text)
		if guess {
			if meant := instead(step); meant != "" {
				said += ": " + meant
			}
		}
		return fmt.Errorf("%s; nodestorm sentences prints what does", said)
	case matches > 1:
		return fmt.Errorf("its step %q matches %d sentences, want one", keywords[step.Type]+" "+step.Text, matches)
	case i == 0 && !begins.MatchString(step.Text):
		return fmt.Errorf("it begins with %q, and must with a cluster, as in \"Given a cluster\"", step.Text)
	}
	return nil
}

var begins = regexp.MustCompile(`^a cluster\b`)
