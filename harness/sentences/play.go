// Package sentences plays the steps of a scenario in a world: each does what its definition says (stepdef), and the
// history records what came of it. The folders below have the language: its notation, its definitions, what they do,
// their checks and their reference.
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
	"nodestorm/harness/sentences/stepdef"
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
	stepdef.Match
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
		if errors.Is(p.current.err, stepdef.ErrUndefined) {
			return godog.ErrUndefined
		}
		if p.current.err != nil {
			return p.current.err
		}
		return act(ctx, p.Scene, p.current.Match)
	})
	return p
}

// resolve finds out what the steps say, and whose ways to the API server they will break: who starts before has to
// start with one that can be broken.
func (p *play) resolve(steps []*messages.PickleStep) {
	p.steps = map[string]resolved{}
	for _, said := range steps {
		m, err := stepdef.Find(said, p.Rig.Beside)
		p.steps[said.Id] = resolved{m, err}
		if err == nil {
			p.foresee(m, said.Type)
		}
	}
}

func (p *play) foresee(m stepdef.Match, kind messages.PickleStepType) {
	wants, _ := m.Wants() // playing the step says what is wrong
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
func act(ctx context.Context, on *scene.Scene, m stepdef.Match) error {
	d := m.Definition
	if err := on.Meet(scene.Cluster); err != nil && !d.Begins {
		return err
	}
	if m.Waits() {
		record, err := m.Awaited()
		if err != nil {
			return err
		}
		if err := acts.Await(ctx, on, record); err != nil {
			return err
		}
	}
	if err := on.Meet(d.Needs...); err != nil {
		return err
	}
	if !d.Unchecked {
		if err := m.Args.Check(); err != nil {
			return err
		}
	}
	if d.Observes == nil {
		return d.Act(ctx, on, m.Args)
	}
	o, err := d.Observes.Observation(m.Args)
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
	if s.Definition != nil && s.Definition.Observes != nil {
		outcome.Quoted = s.Args.Quoted
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
