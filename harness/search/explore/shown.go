package explore

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/strict"
)

// Shown is what a run has shown.
type Shown struct {
	// Keys are what it broke, Why says of each what broke it, and Known has the documented
	// failures that explain one. Steps is of each key how many steps had ended when it was broken.
	Keys  []string
	Why   map[string]string
	Known map[string]string
	Steps map[string]int
	// Covered is what it met, see Coverage.
	Covered []string
	// InTime reports whether no timer was too late for it to be judged.
	InTime bool
	// DiedAtOnce reports whether the target never came to work; DiskFull is what the world said
	// of a full disk.
	DiedAtOnce bool
	DiskFull   string
}

// Judge returns what a run of a build on a site has shown. The catalogue has documented failures.
func Judge(ctx context.Context, dir string, of builds.Ref, site string, catalogue *scenarios.Catalogue) (s Shown, err error) {
	checked, err := run.Recheck(ctx, dir, kept.Records(catalogue))
	if err != nil {
		return s, err
	}
	events := slices.Collect(checked.Events.Timed())
	if checked.Now.Verdict == verdict.Failed {
		s.broken(checked, events)
	}
	s.InTime = checked.Run.Clock.Distorted() == ""
	s.DiedAtOnce, s.DiskFull = DiedAtOnce(events, of.Name), DiskFull(events)
	for _, key := range s.Keys {
		if id := Known(catalogue, events, site, of.String(), key); id != "" {
			if s.Known == nil {
				s.Known = map[string]string{}
			}
			s.Known[key] = id
		}
	}
	s.Covered = Coverage(events, of.Name)
	files, _ := filepath.Glob(filepath.Join(dir, run.LogFolder, of.Name+"*.log")) // no name of a program has a *
	for _, name := range files {
		log, err := strict.Open(ctx, name)
		if err != nil {
			return s, err
		}
		lines, err := LogCoverage(log)
		s.Covered = append(s.Covered, lines...)
		if err = errors.Join(err, log.Close()); err != nil {
			return s, err
		}
	}
	return s, nil
}

// broken notes what a failed run broke.
func (s *Shown) broken(checked run.Rechecked, events []history.Entry) {
	s.Keys, s.Why, s.Steps = slices.Clone(checked.Now.Broken), map[string]string{}, map[string]int{}
	for _, broken := range invariants.Judge(checked.Events.Timed(), checked.Run.Subject()) {
		s.Why[broken.Name] = broken.Reason
		s.Steps[broken.Name] = StepsBefore(events, broken.Evidence)
	}
	if strings.Contains(checked.Now.Reason, "every pod is Running") {
		s.Keys = append(s.Keys, Liveness)
		s.Why[Liveness] = checked.Now.Reason
		s.Steps[Liveness] = StepsBefore(events, nil)
	}
}
