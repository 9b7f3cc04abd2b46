package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cucumber/godog"

	"nodestorm/harness/run"
	"nodestorm/harness/sentences"
	"nodestorm/harness/world"
	"nodestorm/reports/redact"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/time/lag"
)

// playing is a scenario on its way.
type playing struct {
	Request
	out *Result
	// world is nil before it has started, and unplayed what keeps the run from saying anything.
	world    *world.World
	unplayed error
	stuck    *world.StopError
}

// play runs the scenario through godog and judges what came of it.
func (r Request) play(ctx context.Context, out *Result) error {
	container, err := r.manifest()
	if err != nil {
		return err
	}
	if container != nil { // what the run says is for others, who have another folder
		container.Source = strings.Replace(container.Source, r.Manifest, filepath.Base(r.Manifest), 1)
	}
	p := &playing{Request: r, out: out}
	rig := p.rig()
	rig.Manifest = container
	suite, err := r.suite()
	if err != nil {
		return err
	}
	var report bytes.Buffer
	suite.Name, suite.ScenarioInitializer = r.Record.ID, rig.Initialize
	suite.Options.Format, suite.Options.Output = "cucumber", &report
	suite.Options.Strict, suite.Options.DefaultContext = true, ctx
	suite.Run() // its status says less than the history
	if ctx.Err() != nil {
		if p.stuck != nil {
			return errors.Join(context.Cause(ctx), p.stuck)
		}
		return context.Cause(ctx)
	}
	if report.Len() == 0 {
		return errors.New("godog has run nothing: its report is not there")
	}
	// Files that godog writes by itself may be incomplete, and
	// the errors of steps have the last lines of logs.
	if err := run.WriteFile(out.Dir, run.CucumberFile, []byte(redact.ForHere(p.hasWord).Text(report.String()))); err != nil {
		return err
	}
	return p.judge(ctx)
}

// hasWord reports whether the feature has a word.
func (p *playing) hasWord(word string) bool {
	text, err := fs.ReadFile(p.Features, p.Record.Feature)
	return err == nil && scenarios.ContainsWord(text, word)
}

// rig is what the scenario runs on; what comes of it is noted.
func (p *playing) rig() sentences.Rig {
	figures := func() lag.Figures { return lag.Figures{} }
	watch := p.Watch
	if watch == nil {
		watch = func(string, func() lag.Figures) {}
	}
	rig := p.Rig(p.Target, p.out.Dir)
	rig.World.Progress = func(what string) { watch(what, figures) }
	rig.Beside, rig.Symptom, rig.Invariants = featureFolder(p.Features, p.Record), p.Record.Symptom, p.Record.Invariants
	rig.Started = func(started *world.World) {
		p.world, figures = started, started.Driver().Figures
		p.out.Epoch = started.History().Start()
		if p.Ready != nil {
			p.Ready(started)
		}
	}
	rig.Step = func(text string) { watch(text, figures) }
	rig.Failed = func(what string, err error) {
		errors.As(err, &p.stuck)
		if p.unplayed == nil {
			p.unplayed = fmt.Errorf("%s: %w", what, err)
		}
	}
	rig.Ended = func(settings []string) {
		p.out.Settings = settings
		p.out.Clock = p.world.Driver().Figures()
		if err := p.world.Driver().Err(); err != nil && p.unplayed == nil {
			p.unplayed = fmt.Errorf("virtual time stood still: %w", err)
		}
	}
	return rig
}

// judge judges the history.
func (p *playing) judge(ctx context.Context) error {
	out := p.out
	out.Seal = &run.Seal{Record: run.RecordDigest(p.Record)}
	var records history.InMemory
	if p.world != nil {
		records, out.Seal.History = p.world.History().Since(0), p.world.History().Digest()
	} else if p.unplayed == nil {
		p.unplayed = errors.New("the scenario started no world")
	}
	if p.unplayed != nil {
		out.Unplayed = p.unplayed.Error()
	}
	if err := out.HoldAgainstLog(ctx, out.Dir, records); err != nil {
		return err
	}
	out.Judgement, _ = run.Judge(out.Run, p.Record, records)
	return nil
}

// suite is godog's, of the record's scenario only.
func (r Request) suite() (godog.TestSuite, error) {
	path, tags := r.Record.Scenario()
	features, err := r.Record.FeatureFS(r.Features)
	return godog.TestSuite{Options: &godog.Options{FS: features, Paths: []string{path}, Tags: tags}}, err
}
