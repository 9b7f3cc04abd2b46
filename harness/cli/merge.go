package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/night/archive"
	"nodestorm/harness/night/k8sjob"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports"
)

func (e *env) merge() *cobra.Command {
	s := &session{env: e}
	var asJSON bool
	var after string
	var kept archive.Upload
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
		RunE: func(c *cobra.Command, places []string) error {
			if len(places) == 0 {
				return usage(fmt.Errorf("no RUNS are named: %s", c.UseLine()))
			}
			return s.merge(c.Context(), places, after, &kept, asJSON)
		},
	}
	c.Flags().StringVar(&s.Out, "out", filepath.Join("reports", "out", "merged"), "`folder` for the index, the matrix and the JUnit XML")
	uploadFlag(c, &kept)
	c.Flags().StringVar(&after, "job", "", "wait for the end of the Kubernetes Job `NAME` before")
	e.outputFlags(c, &asJSON, asNames)
	c.Flags().BoolVar(&s.strict, "strict", false, "let the exit status be 1 if something was skipped")
	e.catalogueFlags(c)
	return c
}

// merge joins what shards have left, after the end of a Job if one is named.
func (s *session) merge(ctx context.Context, places []string, after string, kept *archive.Upload, asJSON bool) (err error) {
	if s.Catalogue, err = s.env.catalogue(); err != nil {
		return err
	}
	if after != "" {
		ended, err := k8sjob.Await(ctx, after)
		if err != nil {
			return err
		}
		s.say("%s", ended)
	}
	if err := kept.Check(ctx); err != nil {
		return err
	}
	dirs, err := archive.Fetch(ctx, places, filepath.Join(s.Out, "shards"))
	if err != nil {
		return usage(err)
	}
	shards, err := shard.Below(dirs)
	if err == nil {
		err = shard.Check(shards)
	}
	if err == nil {
		err = shard.Judge(shards)
	}
	if err == nil {
		err = s.checkOut()
	}
	if err != nil {
		return usage(err)
	}
	defer func() { err = kept.Keep(ctx, s.Out, "merged", err) }()
	rows, missing, told := shard.Join(shards)
	for _, text := range told {
		s.say("%s", text)
	}
	for _, m := range missing {
		rows = append(rows, reports.Row{ID: m.Scenario, Target: m.Target, Verdict: reports.Missing, Outcome: reports.Missing, Reason: m.Reason})
	}
	concluded := s.finish(rows, asJSON)
	if err := s.reporter(s.Catalogue).JUnit(rows, s.Out); err != nil {
		s.say("no %s: %v", run.JUnitFile, err)
	}
	if concluded == nil && len(told) > 0 {
		return &exit.Error{Code: Inconclusive}
	}
	return concluded
}
