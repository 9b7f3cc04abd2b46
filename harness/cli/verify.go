package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"nodestorm/harness/target"
	"nodestorm/reports"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
)

func (e *env) verify() *cobra.Command {
	s := &session{env: e}
	var tags string
	var all, asJSON, clocks bool
	var repeat int
	c := &cobra.Command{
		Use:   "verify [ID…]",
		Short: "Replay failures on the affected and on the fixed release",
		Long: `Replay failures on every release that the catalogue has an expectation of, and
compare: a failure must show on the affected release and not on the fixed one.
Releases that are missing are built; one that cannot be had is skipped by name.

With --clocks each replay runs at 1x and at the given clock, and their decisions
are compared: what the autoscaler created, deleted and scaled, in order.

Exit status: 0 all as expected, 1 not as expected, 2 usage, 3 inconclusive. With
--strict a release that is skipped is not as expected.`,
		Example: `  nodestorm verify karpenter-7515-not-ready-noexecute
  nodestorm verify --all --repeat 20
  nodestorm verify --clocks karpenter-7515-startup-taint-declared`,
		RunE: func(c *cobra.Command, ids []string) error {
			if repeat < 1 {
				return usage(fmt.Errorf("--repeat %d: want 1 or more", repeat))
			}
			var err error
			if s.catalogue, err = e.catalogue(); err != nil {
				return err
			}
			s.features = s.catalogue.Features()
			records, err := choose(s.catalogue, s.features, ids, tags, all)
			if err != nil {
				return err
			}
			for _, r := range records {
				if r.Bare() {
					return usage(fmt.Errorf("%s has no record, so nothing is expected of it on any target: nodestorm run %s --target NAME@VERSION", r.ID, r.ID))
				}
			}
			if err := s.check(c); err != nil {
				return err
			}
			switch {
			case clocks && s.assets != "":
				return usage(fmt.Errorf("--clocks compares 1x with virtual time, and the control plane of %s has none: unset it", envAssets))
			case clocks && !s.clock.Virtual():
				return usage(fmt.Errorf("--clocks compares 1x with another --clock, and that is %s too: give --clock auto, or a factor", s.clock))
			}
			jobs, rows, err := s.jobs(c, records)
			if err != nil {
				return err
			}
			if err := s.checkManifest(c.Context(), jobs); err != nil {
				return err
			}
			if clocks {
				return s.compareClocks(c, jobs, rows, asJSON)
			}
			for n := range repeat {
				for i, j := range jobs {
					label := fmt.Sprintf("[%d/%d] ", n*len(jobs)+i+1, repeat*len(jobs))
					_, row, err := s.replay(c.Context(), j.record, j.target, label)
					if err != nil {
						return e.breakOff(rows, asJSON, err)
					}
					rows = append(rows, row)
				}
			}
			return s.finish(rows, asJSON)
		},
	}
	s.addFlags(c)
	e.catalogueFlags(c)
	s.addManifest(c)
	c.ValidArgsFunction = e.completeIDs
	c.Flags().StringVar(&tags, "tags", "", "godog tag `expression`: \"@karpenter && ~@issue-7515\"")
	c.Flags().BoolVar(&all, "all", false, "all failures")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&clocks, "clocks", false, "compare the decisions at 1x with those at --clock")
	c.Flags().BoolVar(&s.strict, "strict", false, "let the exit status be 1 if something is skipped")
	c.Flags().IntVar(&repeat, "repeat", 1, "how many times to replay each")
	return c
}

type job struct {
	record scenarios.Record
	target target.Target
}

// jobs gets all targets before anything is replayed. Rows are of targets that
// cannot be had.
func (s *session) jobs(c *cobra.Command, records []scenarios.Record) (jobs []job, rows []reports.Row, err error) {
	var refs []target.Ref
	for _, r := range records {
		for _, of := range r.Targets {
			ref, err := target.ParseRef(of.Name)
			if err != nil {
				return nil, nil, usage(err)
			}
			ref.Provider = r.Provider()
			refs = append(refs, ref)
		}
	}
	without := map[target.Ref]error{}
	have, err := s.open(c.Context(), func(ref target.Ref, err error) error {
		without[ref] = err
		if ref == target.Kubernetes {
			return usage(err)
		}
		return nil
	}, refs...)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range records {
		for _, of := range r.Targets {
			ref := refs[0]
			refs = refs[1:]
			if cannot := without[ref]; cannot != nil {
				rows = append(rows, reports.Row{ID: r.ID, Target: of.Name, Expected: string(of.Expected), Verdict: skipped, Outcome: skipped, Reason: cannot.Error()})
				continue
			}
			jobs = append(jobs, job{r, have[ref]})
		}
	}
	return jobs, rows, nil
}

// comparison is one replay at 1x beside one at full speed.
type comparison struct {
	ID     string           `json:"id"`
	Target string           `json:"target"`
	Clock  string           `json:"clock"`
	Same   bool             `json:"same"`
	First  int              `json:"firstDifference"` // index into both lists; -1: none
	Real   []story.Decision `json:"real"`
	Fast   []story.Decision `json:"fast"`
	Runs   [2]string        `json:"runs"`
	// Skipped is why there was no replay.
	Skipped string `json:"skipped,omitempty"`
}

// compareClocks replays the jobs at both clocks; without are those that cannot be.
func (s *session) compareClocks(c *cobra.Command, jobs []job, without []reports.Row, asJSON bool) error {
	fast := s.clock
	comparisons, different := []comparison{}, false
	for _, r := range without {
		s.say("skipped %s on %s: %s", r.ID, r.Target, r.Reason)
		comparisons = append(comparisons, comparison{ID: r.ID, Target: r.Target, Clock: fast.String(), First: -1, Skipped: r.Reason})
	}
	for i, j := range jobs {
		result := comparison{ID: j.record.ID, Target: j.target.Ref.String(), Clock: fast.String()}
		for side, mode := range s.modes(fast) {
			s.clock = mode
			label := fmt.Sprintf("[%d/%d at %s] ", i+1, len(jobs), mode)
			played, row, err := s.replay(c.Context(), j.record, j.target, label)
			if err != nil {
				return err
			}
			if row.Outcome == "inconclusive" {
				return &exit{code: Inconclusive, err: fmt.Errorf("%s on %s at %s: %s", row.ID, row.Target, mode, row.Reason)}
			}
			decisions, err := decisionsOf(played.Dir)
			if err != nil {
				return err
			}
			result.Runs[side] = played.Dir
			if side == 0 {
				result.Real = decisions
			} else {
				result.Fast = decisions
			}
		}
		result.First = story.FirstDifference(result.Real, result.Fast)
		result.Same = result.First < 0
		different = different || !result.Same
		comparisons = append(comparisons, result)
		if !asJSON {
			s.printComparison(result)
		}
	}
	if asJSON {
		if err := s.json(comparisons); err != nil {
			return err
		}
	}
	switch {
	case different || s.strict && len(without) > 0:
		return &exit{code: NotAsExpected}
	case len(jobs) == 0:
		return &exit{code: Inconclusive}
	}
	return nil
}
