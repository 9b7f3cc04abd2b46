package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/harness/run"
	"nodestorm/harness/run/crosscheck"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports"
	"nodestorm/reports/redact"
)

func (e *env) recheck() *cobra.Command {
	var asJSON, timeline, cross, always bool
	c := &cobra.Command{
		Use:   "recheck DIR…",
		Short: "Judge stored runs again, with today's catalogue, without running anything",
		Long: `Judge the run in a folder, all runs below it, or those of a bundle, again. What
differs from the judgement of then is listed. With --timeline the history of each
run is printed, line by line in virtual time.

What Cluster Autoscaler's own log and events say of scale-ups, back-offs and
deletions is held against the history, both ways. A run in which either lacks what the
other has is inconclusive, unless that is the documented failure.

With --cross every symptom of the catalogue is looked for in the runs of all other
scenarios instead. One that is there is too loose, unless its record names the run's
scenario as kin and the run fails.

With --invariants it is counted instead which runs break the invariants that judge
every run ("nodestorm list --invariants"), as a table in Markdown. An alarm is a broken
one in a run that was healthy without it.

Exit status: 0 as the catalogue expects, 1 not as expected, 2 usage, 3 inconclusive.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(fmt.Errorf("no DIR is named: %s", c.UseLine()))
			}
			run.LimitMemory()
			catalogue, err := e.catalogue()
			if err != nil {
				return err
			}
			found, done, err := e.runs(c.Context(), args)
			defer done()
			if err != nil {
				return usage(err)
			}
			if always {
				return e.tallyInvariants(found, asJSON)
			}
			if cross {
				return e.cross(found, catalogue, asJSON)
			}
			redactor := redact.ForHere()
			rows := []reports.Row{}
			var unjudged []string
			judged, asRecorded := 0, 0
			var told crosscheck.Counts
			logs := 0
			for _, f := range found {
				dir := f.name
				again, err := run.Recheck(f.dir, catalogue)
				if err != nil {
					e.say("%s", f.says(err))
					unjudged = append(unjudged, dir)
					continue
				}
				for _, doubt := range again.Doubts {
					e.say("%s: %s", dir, doubt)
				}
				if log := again.OwnLog; log != nil {
					told.Add(log.Counts)
					logs++
					again.Run.OwnLog, again.Run.Judgement = log, again.Now
					for _, said := range again.Run.Untold() {
						e.say("%s: %s", dir, said)
					}
				}
				judged, asRecorded = judged+again.Thens.Again, asRecorded+again.Thens.AsRecorded
				for _, difference := range again.Differences() {
					e.say("%s: %s", dir, difference)
				}
				if timeline {
					fmt.Fprintf(e.stdout, "%s on %s\n", again.Run.ID, again.Run.Target.Ref)
					if err := redactor.Through(e.stdout, func(w io.Writer) error { return reports.Timeline(w, slices.Collect(again.Records.Timed())) }); err != nil {
						return err
					}
				}
				other := ""
				if p := again.Run.Provenance; p != nil && p.ControlPlane != nil {
					other = summary.KubernetesVersion(again.Run)
				}
				rows = append(rows, reports.Row{
					ID: again.Run.ID, Target: again.Run.Target.Ref.String(), Kubernetes: other,
					Expected: string(again.Expected), Verdict: string(again.Now.Verdict),
					Outcome: string(verdict.Compare(again.Expected, again.Now.Verdict)), Reason: again.Now.Reason,
					VirtualSeconds: again.Run.Clock.Virtual.Seconds(), Factor: again.Run.Clock.Mean,
					WallSeconds: again.Run.Took().Seconds(),
					LagP99Ms:    float64(again.Run.Clock.Lag.P99) / 1e6, Run: dir,
					Programs: reports.Lateness(again.Run.Clock),
				})
			}
			if len(rows) == 0 {
				return &exit.Error{Code: Usage}
			}
			err = e.conclude(rows, asJSON, false)
			if all := judged + asRecorded; all > 0 && !asJSON {
				fmt.Fprintf(e.stdout, "%d of %d Thens were judged again by the histories, %d are taken as recorded\n", judged, all, asRecorded)
			}
			if logs > 0 && !asJSON {
				fmt.Fprintf(e.stdout, "the targets' own logs tell, of %s: %s\n", counted(logs, "run"), told)
			}
			if err == nil && len(unjudged) > 0 {
				return &exit.Error{Code: Inconclusive}
			}
			return err
		},
	}
	e.outputFlags(c, &asJSON, asNames)
	c.Flags().BoolVar(&cross, "cross", false, "look for the symptoms of all other scenarios in each run")
	c.Flags().BoolVar(&always, "invariants", false, "count which runs break the invariants that judge every run")
	c.MarkFlagsMutuallyExclusive("cross", "invariants")
	e.catalogueFlags(c)
	c.Flags().BoolVar(&timeline, "timeline", false, "print each run's history")
	c.MarkFlagsMutuallyExclusive("timeline", "json")
	c.MarkFlagsMutuallyExclusive("timeline", "output")
	return c
}

// runsBelow finds the folders with a run.json at or below dir.
func runsBelow(dir string) (dirs []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == run.File && !d.IsDir() {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s is not there; name the folder of a run, or one above it", dir)
	case err == nil && len(dirs) == 0:
		err = fmt.Errorf("%s: no %s in it or below, so there is no run to judge", dir, run.File)
	}
	return dirs, err
}
