package shard

import (
	"context"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/table"
)

// Judge takes the verdicts from the runs themselves, which say if they were changed, and
// makes sure that builds of one name are one build.
func Judge(ctx context.Context, shards []Shard) error {
	listed := listed{}
	for _, of := range shards {
		for i := range of.Rows {
			row := &of.Rows[i]
			switch nothing := row.Verdict == table.Skipped || row.Verdict == string(verdict.Inconclusive); {
			case row.Run == "" && nothing && row.Outcome == row.Verdict:
				continue
			case row.Run == "":
				return fmt.Errorf("shard %s: %s says that %s on %s is %s, and names no run that shows it", of.Part, File, row.ID, row.Target,
					row.Outcome)
			}
			r, err := run.Checked(ctx, row.Run)
			if err != nil {
				return fmt.Errorf("shard %s: %w", of.Part, err)
			}
			if r.ID != row.ID || r.Target.Ref.String() != row.Target {
				return fmt.Errorf("shard %s: %s is a run of %s on %s, and %s says %s on %s", of.Part, row.Run, r.ID, r.Target.Ref, File, row.ID,
					row.Target)
			}
			row.Expected, row.Verdict, row.Reason = string(r.Expected), string(r.Verdict), r.Reason
			row.Outcome = string(verdict.Compare(r.Expected, r.Verdict))
			if err := listed.add(r, fmt.Sprintf("shard %s", of.Part)); err != nil {
				return err
			}
		}
	}
	return nil
}

// listed are the builds that runs had, and where each was first.
type listed map[builds.Ref]struct{ sha, in string }

func (l listed) add(r run.Run, in string) error {
	manifests := []builds.Manifest{r.Target, r.Kubernetes}
	if r.Provenance != nil {
		manifests = append(append(manifests, r.Provenance.With...), r.Provenance.Parts...)
	}
	for _, m := range manifests {
		first, seen := l[m.Ref]
		switch {
		case !seen:
			l[m.Ref] = struct{ sha, in string }{m.SHA256, in}
		case first.sha != m.SHA256:
			return fmt.Errorf("%s was another build in %s (sha256 %.12s) than in %s (sha256 %.12s); they are not parts of one whole, and "+
				"nothing was joined",
				m.Ref, first.in, first.sha, in, m.SHA256)
		}
	}
	return nil
}
