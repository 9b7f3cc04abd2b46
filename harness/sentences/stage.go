package sentences

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"

	"nodestorm/sim/history"
)

// Stage is a world that stays: a feature has set it up, and somebody breaks it by hand.
// Its methods are safe for concurrent use.
type Stage struct {
	mu sync.Mutex
	s  *scenario
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
			stage.s = r.initialize(sc)
			stage.s.breakable, stage.s.breaksCAPI = true, true // nobody knows what is to come
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
	if stage.s == nil && failed == nil {
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

func readFault(text string) (theseFaults, error) {
	s, groups, err := findFault(text)
	if err != nil {
		return theseFaults{}, err
	}
	return s.read(text, groups)
}

// NamedFault is the list in YAML with the fault that a sentence says, by another name.
func NamedFault(name, text string) ([]byte, error) {
	s, groups, err := findFault(text)
	if err != nil {
		return nil, err
	}
	list, err := s.yaml(name, groups)
	if err != nil {
		return nil, err
	}
	return list, CheckFaults(list)
}

// findFault finds the sentence about a fault.
func findFault(text string) (faultSentence, []string, error) {
	for _, s := range faultSentences() {
		if groups := s.pattern.FindStringSubmatch(text); groups != nil {
			return s, groups[1:], nil
		}
	}
	said := fmt.Sprintf("%q is no fault", text)
	if meant := nearestFault(text); meant != "" {
		said += ": " + meant
	}
	return faultSentence{}, nil, fmt.Errorf("%s; nodestorm sentences prints those that are", said)
}

// FaultExamples are sentences about faults that a world which runs takes.
func FaultExamples() (all []string) {
	for _, s := range faultTable() {
		if s.Role == "When" {
			all = append(all, s.Example)
		}
	}
	return all
}

// faultTable are the sentences about faults, for people.
func faultTable() []Sentence {
	patterns := map[string]bool{}
	for _, f := range faultSentences() {
		patterns[f.pattern.String()] = true
	}
	return slices.DeleteFunc(Sentences(), func(s Sentence) bool { return !patterns[s.pattern.String()] })
}

// nearestFault says which sentence about a fault might be meant, or "".
func nearestFault(text string) string {
	said := strings.Fields(text)
	if len(said) > longest {
		return ""
	}
	best, least := "", len(said)/2+1
	for _, s := range faultTable() {
		words := strings.Fields(s.Words)
		if d := apart(text, s.Words); d < least {
			best, least = fmt.Sprintf("did you mean %q", s.Words), d
			if wrong := wrongArgument(said, words); wrong != "" {
				best = wrong + fmt.Sprintf(", in %q", s.Words)
			}
		}
	}
	return best
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

func (t *Stage) arm(text string, these theseFaults) (time.Time, error) {
	return t.do(text, func() error { return t.s.arm(these) })
}

// ClearSentence says that a fault is cleared.
func ClearSentence(name string) string {
	return `the fault "` + name + `" is cleared`
}

// Clear ends a fault before its time, and returns when.
func (t *Stage) Clear(name string) (time.Time, error) {
	return t.do(ClearSentence(name), func() error { return t.s.clearFault(name) })
}

// do takes a step, which the history tells as it does those of a feature.
func (t *Stage) do(text string, act func() error) (time.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.world.Begin()
	t.s.begin(messages.PickleStepType_ACTION)
	t.s.text = text
	at := t.s.world.Clock().Now()
	err := act()
	for _, missing := range []error{errNoProject, errNoGroups, errNoCloudToBreak, errNoClusterAPI, errNoKubelets, errNoTarget} {
		if errors.Is(err, missing) {
			err = fmt.Errorf("this world has nothing that it could break: %w, in a feature whose Givens nodestorm up --given takes", err)
		}
	}
	if err != nil {
		return at, err
	}
	t.s.record(context.Background(), &godog.Step{Text: text, Type: messages.PickleStepType_ACTION}, godog.StepPassed, nil)
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
func (t *Stage) ArmedFaults() []ArmedFault { return t.s.armedFaults() }

func (s *scenario) armedFaults() []ArmedFault {
	var all []ArmedFault
	for _, r := range s.world.History().Since(0) {
		if r.Source != history.Fault {
			continue
		}
		f := ArmedFault{On: r.Object.Name, State: r.Verb, Since: r.Virtual}
		if r.Object == (history.Object{}) && r.Actor == further.Actor {
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
