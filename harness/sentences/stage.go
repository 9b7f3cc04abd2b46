package sentences

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/program/programs"
	"nodestorm/harness/sentences/breaks"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/fault"
)

// Stage is a world that stays: a feature has set it up, and a user breaks it by hand.
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
			stage.p.Breaks[scene.TheTarget] = true // whatever is to come
			for _, k := range programs.All {
				stage.p.Breaks[k.Name] = k.Way != nil
			}
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

// Fault arms what a sentence says, and returns when.
func (t *Stage) Fault(sentence string) (time.Time, error) {
	these, err := breaks.Read(sentence)
	if err != nil {
		return time.Time{}, err
	}
	return t.arm(sentence, these)
}

// Faults arms a list in YAML, and returns when.
func (t *Stage) Faults(text []byte) (time.Time, error) {
	these, err := breaks.Parse(text)
	if err != nil {
		return time.Time{}, err
	}
	return t.arm("these faults:", these)
}

func (t *Stage) arm(text string, these []fault.Fault) (time.Time, error) {
	return t.do(text, func() error { return breaks.Arm(t.p.Scene, these) })
}

// Clear ends a fault before its time, and returns when.
func (t *Stage) Clear(name string) (time.Time, error) {
	return t.do(breaks.ClearSentence(name), func() error { return breaks.Clear(t.p.Scene, name) })
}

// do takes a step, which the history records as it does those of a feature.
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

// ArmedFaults are those in the history, in the order in which they were armed.
func (t *Stage) ArmedFaults() []breaks.Armed { return breaks.AllArmed(t.p.Scene) }
