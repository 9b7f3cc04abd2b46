package replays

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports"
	"nodestorm/reports/matrix"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// plan is what --dry-run prints: what would be got, and what would be played.
type plan struct {
	Builds  []supply.Planned `json:"builds"`
	Replays int              `json:"replays"`
	// Seconds is how long the replays took when they were last verified, one after the other; Unknown of them never were.
	Seconds float64 `json:"seconds"`
	Unknown int     `json:"unknown"`
}

func addDryRun(c *cobra.Command, dry *bool) {
	c.Flags().BoolVarP(dry, "dry-run", "n", false, "print what would be got and played, and how long it takes")
}

// replayOf is a scenario on a target.
type replayOf struct {
	record scenarios.Record
	ref    builds.Ref
}

// printPlan prints what would be got and played.
func (s *session) printPlan(ctx context.Context, of []replayOf, times int, asJSON bool) error {
	var verified []matrix.Cell
	if err := json.Unmarshal(reports.Verified, &verified); err != nil {
		return err
	}
	took := map[[2]string]float64{}
	for _, c := range verified {
		took[[2]string{c.Scenario, c.Target}] = c.WallSeconds
	}
	var refs []builds.Ref
	if s.kubernetesName == "" {
		refs = append(refs, builds.Kubernetes)
	}
	p := plan{Builds: []supply.Planned{}, Replays: times * len(of)}
	seen := map[builds.Ref]bool{}
	for _, r := range of {
		if !seen[r.ref] && s.Order == "" {
			refs, seen[r.ref] = append(refs, r.ref), true
		}
		seconds, known := took[[2]string{r.record.ID, r.ref.String()}]
		if p.Seconds += float64(times) * seconds; !known {
			p.Unknown += times
		}
	}
	missing, err := s.Supplier().Planned(ctx, refs...)
	if err != nil {
		return exit.UsageError(err)
	}
	p.Builds = append(p.Builds, missing...)
	if asJSON {
		return s.JSON(p)
	}
	return s.writePlan(p)
}

func (s *session) writePlan(p plan) error {
	rows := [][]string{{"TARGET", "CLOUD", "HOW", "SIZE OR TIME"}}
	for _, b := range p.Builds {
		size := "unknown"
		switch {
		case b.How == supply.Cannot:
			size = "skipped; nodestorm doctor prints how to get it"
		case b.Bytes > 0:
			size = fmt.Sprintf("%d MB", b.Bytes>>20)
		case b.Seconds > 0:
			size = "about " + time.Duration(b.Seconds*float64(time.Second)).Round(time.Second).String()
		}
		rows = append(rows, []string{b.Target, b.Cloud, b.How, size})
	}
	if len(p.Builds) == 0 {
		fmt.Fprintln(s.Stdout, "Nothing is missing in the store.")
	} else if err := s.Table(0, 3, rows); err != nil {
		return err
	}
	text := fmt.Sprintf("%s: about %s one after the other", wording.Counted(p.Replays, "replay"),
		time.Duration(p.Seconds*float64(time.Second)).Round(time.Second))
	if p.Unknown > 0 {
		text += fmt.Sprintf(", and %d that were never verified", p.Unknown)
	}
	fmt.Fprintln(s.Stdout, text)
	return nil
}
