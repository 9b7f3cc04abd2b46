package sentences

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// Stage is a world that stays: a feature has set it up, and somebody breaks it by hand.
// Its methods are safe for concurrent use.
type Stage struct {
	mu sync.Mutex
	p  *play
}

// Stay sets up a world as the steps of a feature's only scenario say, and calls stay in
// it. The world ends with stay. The rig's Failed and Ended are not called.
func (r Rig) Stay(ctx context.Context, feature []byte, stay func(context.Context, *Stage) error) error {
	var failed error
	r.Failed = func(_ string, err error) { failed = errors.Join(failed, err) }
	stage := &Stage{}
	r.Ended = func([]string) {
		if failed == nil {
			failed = stay(ctx, stage)
		}
	}
	suite := godog.TestSuite{
		ScenarioInitializer: func(sc *godog.ScenarioContext) {
			stage.p = r.initialize(sc)
			stage.p.Breaks = map[string]bool{scene.TheTarget: true, clusterapi.Name: true} // whatever is to come
			sc.StepContext().After(func(ctx context.Context, _ *godog.Step, _ godog.StepResultStatus, err error) (context.Context, error) {
				if err != nil && failed == nil {
					failed = err
				}
				return ctx, nil
			})
		},
		Options: &godog.Options{
			FeatureContents: []godog.Feature{{Name: "up.feature", Contents: feature}},
			Format:          "progress", Output: io.Discard, Strict: true, DefaultContext: ctx,
		},
	}
	suite.Run() // its status says less than failed
	if stage.p == nil && failed == nil {
		failed = errors.New("the feature that sets up the world has no scenario")
	}
	return failed
}

// CheckFault finds what is wrong with a sentence about a fault, as far as any world could
// tell.
func CheckFault(sentence string) error {
	_, err := readFault(sentence)
	return err
}

func readFault(text string) ([]fault.Fault, error) {
	s, args, err := findFault(text)
	if err != nil {
		return nil, err
	}
	return s.read(text, args)
}

// NamedFault is the list in YAML with the fault that a sentence says, by another name.
func NamedFault(name, text string) ([]byte, error) {
	s, args, err := findFault(text)
	if err != nil {
		return nil, err
	}
	list, err := s.yaml(name, args)
	if err != nil {
		return nil, err
	}
	return list, CheckFaults(list)
}

// faultExpressions are those of the sentences about faults.
var faultExpressions = sync.OnceValue(func() (all []*words.Expression) {
	for _, s := range allFaultSentences() {
		all = append(all, s.Expression)
	}
	return all
})

// findFault finds the sentence about a fault.
func findFault(text string) (faultSentence, []string, error) {
	for i, e := range faultExpressions() {
		if args, is := e.Match(text); is {
			return allFaultSentences()[i], args.Texts(), nil
		}
	}
	said := fmt.Sprintf("%q is no fault", text)
	if i, found := words.Nearest(text, faultExpressions(), func(int) bool { return false }); found {
		near := faultExpressions()[i]
		if wrong := near.Wrong(text); wrong != "" {
			said += fmt.Sprintf(": %s, in %q", wrong, near.Words)
		} else {
			said += fmt.Sprintf(": did you mean %q", near.Words)
		}
	}
	return faultSentence{}, nil, fmt.Errorf("%s; nodestorm sentences prints those that are", said)
}

// FaultExamples are sentences about faults that a world which runs takes.
func FaultExamples() (all []string) {
	for _, e := range faultExpressions() {
		all = append(all, e.Example)
	}
	return all
}

// CheckFaults finds what is wrong with a list of faults in YAML.
func CheckFaults(text []byte) error {
	_, err := parseFaults(text)
	return err
}

// Fault arms what a sentence says, and returns when.
func (t *Stage) Fault(sentence string) (time.Time, error) {
	these, err := readFault(sentence)
	if err != nil {
		return time.Time{}, err
	}
	return t.arm(sentence, these)
}

// Faults arms a list in YAML, and returns when.
func (t *Stage) Faults(text []byte) (time.Time, error) {
	these, err := parseFaults(text)
	if err != nil {
		return time.Time{}, err
	}
	return t.arm("these faults:", these)
}

func (t *Stage) arm(text string, these []fault.Fault) (time.Time, error) {
	return t.do(text, func() error { return arm(t.p.Scene, these) })
}

// ClearSentence says that a fault is cleared.
func ClearSentence(name string) string {
	return `the fault "` + name + `" is cleared`
}

// Clear ends a fault before its time, and returns when.
func (t *Stage) Clear(name string) (time.Time, error) {
	return t.do(ClearSentence(name), func() error { return clearNamed(t.p.Scene, name) })
}

// do takes a step, which the history tells as it does those of a feature.
func (t *Stage) do(text string, act func() error) (time.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.p
	p.World.Begin()
	p.begin(messages.PickleStepType_ACTION)
	at := p.World.Clock().Now()
	err := act()
	if errors.As(err, new(scene.Missing)) {
		err = fmt.Errorf("this world has nothing that it could break: %w, in a feature whose Givens nodestorm up --given takes", err)
	}
	if err != nil {
		return at, err
	}
	p.record(context.Background(), &godog.Step{Text: text, Type: messages.PickleStepType_ACTION}, resolved{}, godog.StepPassed, nil)
	return at, nil
}

// ArmedFault is a fault and what became of it last.
type ArmedFault struct {
	Name   string        `json:"name"`
	On     string        `json:"on,omitempty"`
	Effect string        `json:"effect,omitempty"`
	State  string        `json:"state"` // one of history.FaultVerbs
	Since  time.Duration `json:"since"` // of virtual time, since the world's start
}

// ArmedFaults are those that the history tells of, in the order in which they were armed.
func (t *Stage) ArmedFaults() []ArmedFault { return armedFaults(t.p.Scene) }

func armedFaults(s *scene.Scene) []ArmedFault {
	var all []ArmedFault
	for _, r := range s.World.History().Since(0) {
		if r.Source != history.Fault {
			continue
		}
		f := ArmedFault{On: r.Object.Name, State: r.Verb, Since: r.Virtual}
		if r.Object == (history.Object{}) && r.Actor == node.AboutComing.Actor {
			f.On = "further simulated nodes"
		}
		f.Name, _ = r.Detail["fault"].(string)
		f.Effect, _ = r.Detail["effect"].(string)
		i := slices.IndexFunc(all, func(known ArmedFault) bool { return known.Name == f.Name && known.On == f.On })
		if i < 0 {
			all = append(all, f)
		} else {
			all[i] = f
		}
	}
	return all
}
