package shard

import (
	"context"
	"fmt"
	"path/filepath"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/table"
)

// Judge takes the verdicts from the runs themselves, which say if they were changed, and
// makes sure that builds of one name are one build, and that each run counts once.
func Judge(ctx context.Context, shards []Shard) error {
	listed, once := listed{}, runFolders{}
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
			if other := once.add(r, row.Run); other != "" {
				return fmt.Errorf("shard %s: %s is named twice, and counts once: the run in %s is the same; take one of the two out of %s", of.Part,
					row.Run, other, File)
			}
			row.Own, row.Expected, row.Verdict, row.Reason = summary.NamedSo(r.Target), string(r.Expected), string(r.Verdict), r.Reason
			row.Outcome = string(verdict.Compare(r.Expected, r.Verdict))
			if err := listed.add(r, fmt.Sprintf("shard %s", of.Part)); err != nil {
				return err
			}
		}
	}
	return nil
}

// runFolders are the folders of runs by what distinguishes them: run.json's own digest, of which copies have the same, and the
// folder itself.
type runFolders map[string]string

// add returns where the run is already, or "".
func (o runFolders) add(r run.Run, dir string) (other string) {
	keys := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		keys[0] = real
	}
	if r.Seal != nil {
		keys = append(keys, r.Seal.Run)
	}
	for _, key := range keys {
		// mutant: a run counts as often as it is named
		if there := o[key]; there != "" {
			other = there
		}
		o[key] = dir
	}
	return other
}

// listed are the builds that runs had, and where each was first.
type listed map[builds.Ref]struct{ digests, in string }

func (l listed) add(r run.Run, in string) error {
	manifests := []builds.Manifest{r.Target, r.Kubernetes}
	if r.Provenance != nil {
		manifests = append(append(manifests, r.Provenance.With...), r.Provenance.Parts...)
	}
	for _, m := range manifests {
		first, seen := l[m.Ref]
		switch {
		case !seen:
			l[m.Ref] = struct{ digests, in string }{m.Digests(), in}
		case first.digests != m.Digests():
			return fmt.Errorf("%s was another build in %s (%s) than in %s (%s); they are not parts of one whole, and nothing was joined",
				m.Ref, first.in, first.digests, in, m.Digests())
		}
	}
	return nil
}
