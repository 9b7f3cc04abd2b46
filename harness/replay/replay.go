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
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/reports/formats"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
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
	// Begun, if given, is called with the run's folder once it is there.
	Begun func(dir string)
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
		Expected:   run.Expects(r.Target.Manifest, r.Record.Expected(r.Target.Ref.String())),
		AtOnce:     r.AtOnce,
		InPlaceOf:  r.InPlaceOf,
		Unrecorded: r.Record.Bare(),
	}}
	if err := out.Save(dir); err != nil {
		return Result{}, err
	}
	if r.Begun != nil {
		r.Begun(dir)
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
	return out, saveJUnit(ctx, dir, r.Record)
}

// saveJUnit writes the run as `nodestorm report -o junit` does: godog's own JUnit
// XML has what readers with a schema refuse, and of a failure that shows as the
// catalogue promises it makes a failed test.
func saveJUnit(ctx context.Context, dir string, record scenarios.Record) error {
	described, err := summary.Run(ctx, dir, scenarios.CatalogueOf(record), 0)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := formats.JUnit(&text, []*story.Story{described}); err != nil {
		return fmt.Errorf("writing %s: %w", run.JUnitFile, err)
	}
	return run.WriteFile(dir, run.JUnitFile, text.Bytes())
}

// attempts is how often Undistorted runs at most.
const attempts = 3

// Undistorted is Run, and again while the clock was distorted, three times in all:
// a machine that was too busy says nothing about the target. thrown is called with each
// run that does not count, whose folder is another from then on: see run.Discard.
func Undistorted(ctx context.Context, r Request, thrown func(Result)) (Result, error) {
	for n := 1; ; n++ {
		result, err := Run(ctx, r)
		if err != nil || n == attempts || result.Verdict != verdict.Inconclusive || result.Clock.Distorted() == "" {
			return result, err
		}
		// mutant: the run that does not count keeps the folder's name
		if result.Dir, err = run.Discard(result.Dir); err != nil {
			return result, err
		}
		thrown(result)
	}
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
