package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports"
	"nodestorm/reports/formats"
	"nodestorm/reports/story"
)

func (e *env) merge() *cobra.Command {
	s := &session{env: e}
	var asJSON bool
	var after string
	var kept upload
	c := &cobra.Command{
		Use:   "merge RUNS…",
		Short: "Join what shards of verify left",
		Long: `Join what "nodestorm verify --shard" left on several machines: the table, index.html,
matrix.json and junit.xml, as if one machine had replayed all. RUNS are the shards' --out,
or folders above some. The runs stay where they are, and the index links to them. Of
s3://BUCKET/PREFIX, where verify --upload kept shards, they are unpacked into --out.

Shards that were split otherwise, had other flags or another nodestorm, or played other
builds under the same names are not joined. One that is missing, or did not come to its
end, is named with all that is missing, and what there is is shown.

With --job, in a pod of Kubernetes, all that waits until a Job of the pod's namespace has
ended, which the pod's service account must be allowed to watch.

Exit status: that of the whole; 1 not as expected outweighs what is missing, which
makes it 3. 2 usage, or they are not parts of one whole.`,
		Example: `  nodestorm merge shards/* --out reports/out/merged
  nodestorm merge s3://nights/2026-11-23 --out reports/out/merged`,
		RunE: func(c *cobra.Command, places []string) (err error) {
			if len(places) == 0 {
				return usage(fmt.Errorf("no RUNS are named: %s", c.UseLine()))
			}
			if s.catalogue, err = e.catalogue(); err != nil {
				return err
			}
			if err := e.await(c.Context(), after); err != nil {
				return err
			}
			if err := kept.check(c.Context()); err != nil {
				return err
			}
			dirs, err := fetched(c.Context(), places, filepath.Join(s.Out, "shards"))
			if err != nil {
				return usage(err)
			}
			shards, err := shardsBelow(dirs)
			if err != nil {
				return usage(err)
			}
			if err := shard.Check(shards); err != nil {
				return usage(err)
			}
			if err := s.judge(shards); err != nil {
				return usage(err)
			}
			if err := s.checkOut(); err != nil {
				return usage(err)
			}
			defer func() { err = kept.keep(c.Context(), s.Out, "merged", err) }()
			rows, missing, told := shard.Join(shards)
			for _, text := range told {
				e.say("%s", text)
			}
			for _, m := range missing {
				rows = append(rows, reports.Row{ID: m.Scenario, Target: m.Target, Verdict: lost, Outcome: lost, Reason: m.Reason})
			}
			concluded := s.finish(rows, asJSON)
			if err := s.junit(rows); err != nil {
				e.say("no %s: %v", run.JUnitFile, err)
			}
			if concluded == nil && len(told) > 0 {
				return &exit.Error{Code: Inconclusive}
			}
			return concluded
		},
	}
	c.Flags().StringVar(&s.Out, "out", filepath.Join("reports", "out", "merged"), "`folder` for the index, the matrix and the JUnit XML")
	kept.addFlags(c)
	c.Flags().StringVar(&after, "job", "", "wait for the end of the Kubernetes Job `NAME` before")
	e.outputFlags(c, &asJSON, asNames)
	c.Flags().BoolVar(&s.strict, "strict", false, "let the exit status be 1 if something was skipped")
	e.catalogueFlags(c)
	return c
}

// lost is the verdict of a replay that a shard was to do of which nothing is there.
const lost = "missing"

// judge takes the verdicts from the runs themselves, which tell if they were changed, and
// makes sure that builds of one name are one build.
func (s *session) judge(shards []shard.Shard) error {
	type build struct{ sha, in string }
	listed := map[builds.Ref]build{}
	for _, of := range shards {
		for i := range of.Rows {
			row := &of.Rows[i]
			switch nothing := row.Verdict == skipped || row.Verdict == string(verdict.Inconclusive); {
			case row.Run == "" && nothing && row.Outcome == row.Verdict:
				continue
			case row.Run == "":
				return fmt.Errorf("shard %s: %s says that %s on %s is %s, and names no run that shows it", of.Part, shard.File, row.ID, row.Target, row.Outcome)
			}
			r, err := run.Checked(row.Run)
			if err != nil {
				return fmt.Errorf("shard %s: %w", of.Part, err)
			}
			if r.ID != row.ID || r.Target.Ref.String() != row.Target {
				return fmt.Errorf("shard %s: %s is a run of %s on %s, and %s says %s on %s", of.Part, row.Run, r.ID, r.Target.Ref, shard.File, row.ID, row.Target)
			}
			row.Expected, row.Verdict, row.Reason = string(r.Expected), string(r.Verdict), r.Reason
			row.Outcome = string(verdict.Compare(r.Expected, r.Verdict))
			manifests := []builds.Manifest{r.Target, r.Kubernetes}
			if r.Provenance != nil {
				manifests = append(append(manifests, r.Provenance.With...), r.Provenance.Parts...)
			}
			for _, m := range manifests {
				here := build{m.SHA256, fmt.Sprintf("shard %s", of.Part)}
				first, seen := listed[m.Ref]
				if seen && first.sha != here.sha {
					return fmt.Errorf("%s was another build in %s (sha256 %.12s) than in %s (sha256 %.12s); they are not parts of one whole, and nothing was joined", m.Ref, first.in, first.sha, here.in, here.sha)
				}
				if !seen {
					listed[m.Ref] = here
				}
			}
		}
	}
	return nil
}

// junit writes all runs as one JUnit XML, in which one that cannot be read is missing and named.
func (s *session) junit(rows []reports.Row) error {
	r := &reporter{env: s.env}
	return r.file(filepath.Join(s.Out, run.JUnitFile), func(w io.Writer) error {
		return formats.JUnitOf(w, func(yield func(*story.Story) bool) {
			for _, row := range rows {
				if row.Run == "" {
					continue
				}
				told, err := summary.Run(row.Run, s.catalogue, 0)
				if err != nil {
					s.say("%s is not in %s: %v", row.Run, run.JUnitFile, err)
					continue
				}
				if !yield(told) {
					return
				}
			}
		})
	})
}
