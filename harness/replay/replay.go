// Package replay runs one scenario of the catalogue on one target, in a world of
// its own, and leaves the run's folder: run.json, history, logs, JUnit XML and
// Cucumber JSON. What has been shown is for harness/run and harness/run/verdict to
// say.
package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/sentences"
	"nodestorm/harness/world"
	"nodestorm/reports/formats"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/time/lag"
)

// Request says what to replay. Record, Target and Features are required.
type Request struct {
	Settings
	Record scenarios.Record
	Target builds.Target
	// Features are the features' root, Own the files of a scenario that is the user's own.
	Features fs.FS
	Own      fs.FS
	// Watch is called with every step as it begins, and the clock so far; it is not
	// called for steps before the world is ready. Nil means nothing watches.
	Watch func(step string, clock func() lag.Figures)
	// Ready, if given, is called when the world is ready, and may hold the
	// scenario up.
	Ready func(*world.World)
}

// Result is a run and where it is.
type Result struct {
	run.Run
	Dir string
}

// Run replays. The error says why there is no run: a usage problem, a full disk,
// an interrupt. Whatever went wrong in the run itself is in its judgement.
func Run(ctx context.Context, r Request) (Result, error) {
	if err := r.Check(ctx); err != nil {
		return Result{}, err
	}
	began := time.Now()
	provenance, err := r.Provenance(ctx)
	if err != nil {
		return Result{}, err
	}
	dir, err := makeDir(r.Out, r.Record.ID, r.Target.Ref)
	if err != nil {
		return Result{}, err
	}
	out := Result{Dir: dir, Run: run.Run{
		ID:         r.Record.ID,
		Seed:       r.World.Seed,
		Commit:     provenance.Nodestorm.Commit,
		Started:    began,
		Target:     r.Target.Manifest,
		Kubernetes: r.kubernetes(),
		Flags:      r.Flags,
		Facts:      scenarios.FactsOf(r.Target.Name, r.Target.Provider, r.Target.Version),
		Provenance: &provenance,
		Expected:   r.Record.Expected(r.Target.Ref.String()),
		AtOnce:     r.AtOnce,
		InPlaceOf:  r.InPlaceOf,
		Unrecorded: r.Record.Bare(),
	}}
	if err := out.Save(dir); err != nil {
		return Result{}, err
	}
	if r.Own != nil {
		if err := os.CopyFS(filepath.Join(dir, run.ScenarioFolder), r.Own); err != nil {
			return Result{}, fmt.Errorf("keeping the scenario: %w", err)
		}
	}
	if err := r.play(ctx, &out); err != nil {
		return Result{}, err
	}
	out.Wall = time.Since(began)
	if err := out.Save(dir); err != nil {
		return out, err
	}
	return out, saveJUnit(dir, r.Record)
}

// saveJUnit writes the run as `nodestorm report -o junit` does: godog's own JUnit
// XML has what readers with a schema refuse, and of a failure that shows as the
// catalogue promises it makes a failed test.
func saveJUnit(dir string, record scenarios.Record) error {
	told, err := summary.Run(dir, scenarios.Of(record), 0)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := formats.JUnit(&text, []*story.Story{told}); err != nil {
		return fmt.Errorf("writing %s: %w", run.JUnitFile, err)
	}
	return run.WriteFile(dir, run.JUnitFile, text.Bytes())
}

// attempts is how often Undistorted runs at most.
const attempts = 3

// Undistorted is Run, and again while the clock was distorted, three times in all:
// a machine that was too busy says nothing about the target. thrown is told of each
// run that does not count; its folder stays.
func Undistorted(ctx context.Context, r Request, thrown func(Result)) (Result, error) {
	for n := 1; ; n++ {
		result, err := Run(ctx, r)
		if err != nil || n == attempts || result.Verdict != verdict.Inconclusive || result.Clock.Distorted() == "" {
			return result, err
		}
		thrown(result)
	}
}

// played is what a scenario that is under way has come to.
type played struct {
	world    *world.World // once it is ready
	unplayed error        // why the scenario was not played to its end
	stuck    *world.StopError
}

// failed notes what went wrong outside the history.
func (p *played) failed(what string, err error) {
	errors.As(err, &p.stuck)
	if p.unplayed == nil {
		p.unplayed = fmt.Errorf("%s: %w", what, err)
	}
}

// rig is how the scenario's world starts, and notes what becomes of it.
func (r Request) rig(out *Result, p *played) (sentences.Rig, error) {
	rig := r.Rig(r.Target, out.Dir)
	container, err := r.manifest()
	if err != nil {
		return rig, err
	}
	if container != nil { // what the run says is for others, who have another folder
		container.Source = strings.Replace(container.Source, r.Manifest, filepath.Base(r.Manifest), 1)
	}
	figures := func() lag.Figures { return lag.Figures{} }
	watch := r.Watch
	if watch == nil {
		watch = func(string, func() lag.Figures) {}
	}
	rig.World.Progress = func(what string) { watch(what, figures) }
	rig.Manifest, rig.Beside, rig.Symptom, rig.Invariants = container, beside(r.Features, r.Record), r.Record.Symptom, r.Record.Invariants
	rig.Started = func(started *world.World) {
		p.world, figures = started, started.Driver().Figures
		out.Epoch = started.History().Start()
		if r.Ready != nil {
			r.Ready(started)
		}
	}
	rig.Step = func(text string) { watch(text, figures) }
	rig.Failed = p.failed
	rig.Ended = func(settings []string) {
		out.Settings = settings
		out.Clock = p.world.Driver().Figures()
		if err := p.world.Driver().Err(); err != nil && p.unplayed == nil {
			p.unplayed = fmt.Errorf("virtual time stood still: %w", err)
		}
	}
	return rig, nil
}

// play runs the scenario through godog and judges what came of it.
func (r Request) play(ctx context.Context, out *Result) error {
	var p played
	rig, err := r.rig(out, &p)
	if err != nil {
		return err
	}
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
	// Files that godog writes by itself may be incomplete, and the errors of steps have the last
	// lines of logs.
	if err := run.WriteFile(out.Dir, run.CucumberFile, []byte(redact.ForHere().Text(report.String()))); err != nil {
		return err
	}
	return r.judge(out, p)
}

// judge seals and judges what was played.
func (r Request) judge(out *Result, p played) error {
	out.Seal = &run.Seal{Record: run.RecordDigest(r.Record)}
	var records history.InMemory
	if p.world != nil {
		records, out.Seal.History = p.world.History().Since(0), p.world.History().Digest()
	} else if p.unplayed == nil {
		p.unplayed = errors.New("the scenario started no world")
	}
	if p.unplayed != nil {
		out.Unplayed = p.unplayed.Error()
	}
	if err := out.HoldAgainstLog(out.Dir, records); err != nil {
		return err
	}
	out.Judgement, _ = run.Judge(out.Run, r.Record, records)
	return nil
}

// suite is godog's, of the record's scenario only.
func (r Request) suite() (godog.TestSuite, error) {
	path, tags := r.Record.Scenario()
	features, err := r.Record.Within(r.Features)
	return godog.TestSuite{Options: &godog.Options{FS: features, Paths: []string{path}, Tags: tags}}, err
}

// makeDir makes out/id/target, with a number behind it if that is taken.
func makeDir(out, id string, ref builds.Ref) (string, error) {
	parent := filepath.Join(out, id)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("making the run's folder: %w", err)
	}
	for n := 1; ; n++ {
		dir := filepath.Join(parent, ref.String())
		if n > 1 {
			dir += fmt.Sprintf(".%d", n)
		}
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("making the run's folder: %w", err)
		}
	}
}
