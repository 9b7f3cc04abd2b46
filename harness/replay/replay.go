// Package replay runs one scenario of the catalogue on one target, in a world of
// its own, and leaves the run's folder: run.json, history, logs, JUnit XML and
// Cucumber JSON. What has been shown is for harness/run and harness/run/verdict to
// say.
package replay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/run"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/sentences"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/memory"
	"nodestorm/reports/formats"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
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

// Check tells whether the request can run at all, before anything starts.
func (r Request) Check(ctx context.Context) error {
	if err := r.CheckSteps(); err != nil {
		return err
	}
	if err := r.checkRoom(); err != nil {
		return err
	}
	if _, err := r.checkReleases(); err != nil {
		return err
	}
	for _, t := range append([]builds.Target{r.Target}, r.With...) {
		if err := container.Check(ctx, t); err != nil {
			return err
		}
	}
	if err := r.CheckManifest(ctx); err != nil {
		return err
	}
	if err := r.checkFlags(ctx); err != nil {
		return err
	}
	if err := r.CheckCluster(); err != nil {
		return err
	}
	if err := r.CheckKubernetes(); err != nil {
		return err
	}
	if err := r.ControlPlane.checkClock(r.World.Clock); err != nil {
		return err
	}
	return CheckClock(r.World.Clock, append([]builds.Target{r.Target, r.Kubernetes}, r.With...)...)
}

// manifest is what Manifest names, nil for none. Each run reads it anew, since its
// mounted files end with the world.
func (r Request) manifest() (*manifest.Container, error) {
	if r.Manifest == "" {
		return nil, nil
	}
	return manifest.Load(r.Manifest, clusterautoscaler.ManifestOptions())
}

// CheckManifest tells whether the target can be run as the manifest has it. It needs
// Record, Features, Target and Manifest only.
func (r Request) CheckManifest(ctx context.Context) error {
	container, err := r.manifest()
	if err != nil || container == nil {
		return err
	}
	if r.Target.Name != clusterautoscaler.Name {
		return fmt.Errorf("%s: it is for %s, and the target is %s", r.Manifest, clusterautoscaler.Name, r.Target.Ref)
	}
	intent := clusterautoscaler.Intent{Provider: r.Record.Provider()}
	if err := clusterautoscaler.Check(ctx, clusterautoscaler.Config{Target: r.Target, Manifest: container, Intent: intent}); err != nil {
		return err
	}
	if of := clouds.Named(r.Record.Provider()); of != nil && of.CheckManifest != nil {
		var given []string
		if err := r.eachScenario(func(pickle []*messages.PickleStep) error {
			given = append(given, sentences.Environment(pickle)...)
			return nil
		}); err != nil {
			return err
		}
		if err := of.CheckManifest(container, r.Target.Mentions, given); err != nil {
			return err
		}
	}
	releases, err := r.checkReleases()
	if err != nil {
		return err
	}
	for _, t := range releases {
		if t.Name != clusterapi.Name {
			continue
		}
		if err := clusterapi.CheckVersion(t, container.Env); err != nil {
			return fmt.Errorf("%s: env: %w", container.Source, err)
		}
	}
	return nil
}

// checkFlags tells whether the target knows the flags and variables that the steps give it.
func (r Request) checkFlags(ctx context.Context) error {
	var given, unlisted, env []string
	err := r.eachScenario(func(pickle []*messages.PickleStep) error {
		flags, others, err := sentences.Flags(pickle)
		given, unlisted, env = append(given, flags...), append(unlisted, others...), append(env, sentences.Environment(pickle)...)
		return err
	})
	for _, name := range env {
		if known, broken := r.Target.Mentions(name); broken != nil || !known && err == nil {
			err = cmp.Or(broken, fmt.Errorf("%s: %s knows no environment variable %s", r.feature(), r.Target.Ref, name))
		}
	}
	if err != nil || len(given)+len(unlisted) == 0 {
		return err
	}
	switch r.Target.Name {
	case clusterautoscaler.Name:
		intent := clusterautoscaler.Intent{Provider: r.Record.Provider()}
		err = clusterautoscaler.Check(ctx, clusterautoscaler.Config{Target: r.Target, Flags: given, Unlisted: unlisted, Intent: intent})
	case karpenter.Name:
		err = karpenter.Check(ctx, r.Target, given)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.feature(), err)
	}
	return nil
}

// CheckClock tells whether the targets can live in such time, and whether this machine lets
// them.
func CheckClock(mode clock.Mode, targets ...builds.Target) error {
	if !mode.Virtual() {
		return nil
	}
	for _, t := range targets {
		switch {
		case !t.Virtual():
			if err := checkGuest(t); err != nil {
				return err
			}
		case t.OverlayHash != "":
			if err := clock.TryBuiltIn(); err != nil {
				return fmt.Errorf("%s: %w", t.Ref, err)
			}
		}
	}
	return mode.Try()
}

// checkGuest tells whether a program that was not built with the clock can live in virtual time
// as it is.
func checkGuest(t builds.Target) error {
	switch {
	case t.Source.Container:
		return fmt.Errorf("%s runs in a container, where time is real: use --clock real", t.Ref)
	case t.RealTimeOnly():
		return fmt.Errorf("%s was not built with the clock and is no Go program, of which alone it is known how they wait: use --clock real",
			t.Ref)
	}
	if err := clock.TryGuest(); err != nil {
		return fmt.Errorf("%s was not built with the clock, and in virtual time as it is it cannot live here: %w; use --clock "+
			"real, or build it: nodestorm target build %s", t.Ref, err, t.Ref)
	}
	return nil
}

// CheckSteps tells whether all steps of the scenario have a meaning. It needs
// Record and Features only.
func (r Request) CheckSteps() error {
	return r.eachScenario(func(pickle []*messages.PickleStep) error {
		return sentences.Check(pickle, beside(r.Features, r.Record))
	})
}

// checkRoom tells whether this machine has the memory for the nodes that the steps ask for.
func (r Request) checkRoom() error {
	// mutant: more nodes are begun with than the machine has memory for
	return r.eachScenario(func(pickle []*messages.PickleStep) error { return memory.Check(sentences.Nodes(pickle)) })
}

// Releases are those that the steps name as parts of the world. It needs Record and
// Features only.
func (r Request) Releases() (refs []builds.Ref, err error) {
	err = r.eachScenario(func(pickle []*messages.PickleStep) error {
		refs = append(refs, sentences.Releases(pickle)...)
		return nil
	})
	return refs, err
}

// Needs are the builds that the scenario takes out of the store beside its target and Kubernetes,
// see [steps.Needs]. It needs Record and Features only.
func (r Request) Needs() (refs []builds.Ref, err error) {
	err = r.eachScenario(func(pickle []*messages.PickleStep) error {
		refs = append(refs, sentences.Needs(pickle)...)
		return nil
	})
	return refs, err
}

// checkReleases finds them in the store.
func (r Request) checkReleases() ([]builds.Target, error) {
	refs, err := r.Releases()
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	store, err := buildstore.Open("")
	if err != nil {
		return nil, err
	}
	var releases []builds.Target
	for _, ref := range refs {
		t, err := store.Get(ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.feature(), err)
		}
		releases = append(releases, t)
	}
	return releases, nil
}

// feature is what people call the scenario's: ours are in features/.
func (r Request) feature() string {
	if r.Own != nil {
		return r.Record.Feature
	}
	return "features/" + r.Record.Feature
}

func (r Request) eachScenario(check func([]*messages.PickleStep) error) error {
	suite, err := r.suite()
	if err != nil {
		return fmt.Errorf("reading %s: %w", r.feature(), err)
	}
	features, err := suite.RetrieveFeatures()
	if err != nil {
		return fmt.Errorf("reading %s: %w", r.feature(), err)
	}
	for _, f := range features {
		for _, pickle := range f.Pickles {
			if err := check(pickle.Steps); err != nil {
				return fmt.Errorf("%s: scenario %q: %w", r.feature(), pickle.Name, err)
			}
		}
	}
	return nil
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

// play runs the scenario through godog and judges what came of it.
func (r Request) play(ctx context.Context, out *Result) error {
	var w *world.World
	var unplayed error
	var stuck *world.StopError
	container, err := r.manifest()
	if err != nil {
		return err
	}
	if container != nil { // what the run says is for others, who have another folder
		container.Source = strings.Replace(container.Source, r.Manifest, filepath.Base(r.Manifest), 1)
	}
	figures := func() lag.Figures { return lag.Figures{} }
	watch := r.Watch
	if watch == nil {
		watch = func(string, func() lag.Figures) {}
	}
	rig := r.Rig(r.Target, out.Dir)
	rig.World.Progress = func(what string) { watch(what, figures) }
	rig.Manifest, rig.Beside, rig.Symptom, rig.Invariants = container, beside(r.Features, r.Record), r.Record.Symptom, r.Record.Invariants
	rig.Started = func(started *world.World) {
		w, figures = started, started.Driver().Figures
		out.Epoch = started.History().Start()
		if r.Ready != nil {
			r.Ready(w)
		}
	}
	rig.Step = func(text string) { watch(text, figures) }
	rig.Failed = func(what string, err error) {
		errors.As(err, &stuck)
		if unplayed == nil {
			unplayed = fmt.Errorf("%s: %w", what, err)
		}
	}
	rig.Ended = func(settings []string) {
		out.Settings = settings
		out.Clock = w.Driver().Figures()
		if err := w.Driver().Err(); err != nil && unplayed == nil {
			unplayed = fmt.Errorf("virtual time stood still: %w", err)
		}
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
		if stuck != nil {
			return errors.Join(context.Cause(ctx), stuck)
		}
		return context.Cause(ctx)
	}
	if report.Len() == 0 {
		return errors.New("godog has run nothing: its report is not there")
	}
	// Of files that godog writes by itself nobody knows whether they are complete, and
	// the errors of steps have the last lines of logs.
	if err := run.WriteFile(out.Dir, run.CucumberFile, []byte(redact.ForHere().Text(report.String()))); err != nil {
		return err
	}
	out.Seal = &run.Seal{Record: run.RecordDigest(r.Record)}
	var records history.InMemory
	if w != nil {
		records, out.Seal.History = w.History().Since(0), w.History().Digest()
	} else if unplayed == nil {
		unplayed = errors.New("the scenario started no world")
	}
	if unplayed != nil {
		out.Unplayed = unplayed.Error()
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
