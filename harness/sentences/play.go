// Package sentences gives the sentences of the features their meaning. They are a table of rows, each with its words and
// what it does: that is done by the world, the target's package and the simulated nodes; what they observe is the
// history.
package sentences

import (
	"context"
	"errors"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/program/programs"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/acts"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/history"
)

// Rig is what a scenario runs on.
type Rig scene.Rig

// Machines are those of a cloud's instances that are none of ours.
type Machines = scene.Machines

// play is one run of one scenario, as godog goes through its steps.
type play struct {
	*scene.Scene
	steps   map[string]resolved // by ID
	current resolved
	last    messages.PickleStepType
	failed  bool // a Then
	ended   bool // godog goes on, and skips what is left
}

// resolved is a step, or what is wrong with it.
type resolved struct {
	spoken
	err error
}

// Initialize gives godog the only step there is, for the one scenario that the rig is for.
func (r Rig) Initialize(sc *godog.ScenarioContext) { r.initialize(sc) }

func (r Rig) initialize(sc *godog.ScenarioContext) *play {
	p := &play{Scene: &scene.Scene{Rig: scene.Rig(r), Breaks: map[string]bool{}}}
	sc.Before(func(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
		p.resolve(sc.Steps)
		return ctx, nil
	})
	sc.After(func(ctx context.Context, _ *godog.Scenario, _ error) (context.Context, error) {
		return ctx, p.end(ctx)
	})
	sc.StepContext().Before(func(ctx context.Context, said *godog.Step) (context.Context, error) {
		if p.ended {
			return ctx, nil
		}
		if p.World != nil && said.Type == messages.PickleStepType_ACTION {
			p.World.Begin()
		}
		r.Step(said.Text)
		p.current = p.steps[said.Id]
		p.begin(said.Type)
		return ctx, nil
	})
	sc.StepContext().After(func(ctx context.Context, said *godog.Step, status godog.StepResultStatus, err error) (context.Context, error) {
		if !p.ended {
			p.record(ctx, said, p.current, status, err)
		}
		return ctx, nil
	})
	sc.Step(`^`, func(ctx context.Context) error {
		if errors.Is(p.current.err, errUnknown) {
			return godog.ErrUndefined
		}
		if p.current.err != nil {
			return p.current.err
		}
		return p.current.act(ctx, p.Scene)
	})
	return p
}

// resolve finds out what the steps say, and whose ways to the API server they will break: who starts before has to
// start with one that can be broken.
func (p *play) resolve(steps []*messages.PickleStep) {
	p.steps = map[string]resolved{}
	for _, said := range steps {
		s, err := resolve(said, p.Rig.Beside)
		p.steps[said.Id] = resolved{s, err}
		if err == nil {
			p.foresee(s, said.Type)
		}
	}
}

func (p *play) foresee(s spoken, kind messages.PickleStepType) {
	wants, _ := s.wants() // playing the step says what is wrong
	for _, program := range wants.Breaks {
		switch {
		case programs.Named(program).Way != nil:
			// mutant: Cluster API whose way is broken has none that can be
			p.Breaks[program] = true
		case kind == messages.PickleStepType_ACTION: // a Given's are known when the target starts
			// mutant: a target whose way is broken later has none that can be
			p.Breaks[scene.TheTarget] = true
		}
	}
}

// act does what a step says: it waits for its record, makes sure that what it needs is there, and acts or observes.
func (s spoken) act(ctx context.Context, on *scene.Scene) error {
	if err := on.Meet(scene.Cluster); err != nil && !s.row.Begins {
		return err
	}
	if s.once != (once{}) {
		record, err := s.once.record()
		if err != nil {
			return err
		}
		if err := acts.Await(ctx, on, record); err != nil {
			return err
		}
	}
	if err := on.Meet(s.row.Needs...); err != nil {
		return err
	}
	if !s.row.Unchecked {
		if err := s.args.Check(); err != nil {
			return err
		}
	}
	if s.row.observes == nil {
		return s.row.Act(ctx, on, s.args)
	}
	o, err := s.row.observes.Observation(s.args)
	if err != nil {
		return err
	}
	return acts.Holds(ctx, on, o)
}

// begin notes where the history is as a block of Whens begins: the Thens after it
// count from there.
func (p *play) begin(kind messages.PickleStepType) {
	if p.World != nil && kind == messages.PickleStepType_ACTION && p.last != kind {
		acts.Begin(p.Scene)
	}
	p.last = kind
}

// record puts a step's outcome into the history: a stored run is judged by it.
func (p *play) record(ctx context.Context, said *godog.Step, s resolved, status godog.StepResultStatus, err error) {
	if p.World == nil {
		if err != nil {
			p.Rig.Failed(said.Text, err)
		}
		return
	}
	outcome := history.Outcome{Role: history.Role(said.Type), Text: said.Text, Status: status.String()}
	if s.row != nil && s.row.observes != nil {
		outcome.Quoted = s.args.Quoted
	}
	if err != nil {
		outcome.Error = err.Error()
	}
	switch {
	case ctx.Err() != nil:
		outcome.Status = "interrupted" // it shows nothing, whatever it says
	case errors.Is(err, then.ErrUndecided):
		outcome.Status = then.Undecided
	}
	p.failed = p.failed || outcome.Role == history.Then && status == godog.StepFailed
	p.World.History().Record(outcome.Event())
}

// end ends the scenario's world.
func (p *play) end(ctx context.Context) error {
	p.ended = true
	if p.World == nil {
		return nil
	}
	if p.failed || acts.Broken(p.Scene) {
		awaitSymptom(ctx, p.Scene)
	}
	var settings []string
	if p.Target != nil {
		settings = p.Target.Settings()
	}
	p.Rig.Ended(settings)
	err := p.World.Stop()
	if err != nil {
		p.Rig.Failed("after the last step", err)
	}
	return err
}
