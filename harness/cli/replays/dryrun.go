package replays

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/bisect"
	"nodestorm/reports"
	"nodestorm/reports/matrix"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// plan is what --dry-run prints: what would be got, and what would be played.
type plan struct {
	Builds  []supply.Planned `json:"builds"`
	Replays int              `json:"replays"`
	// Seconds is how long the replays took when they were last verified, one after the other; Unknown of them never were, and
	// RealTime of them are played in real time, in which none was.
	Seconds  float64 `json:"seconds"`
	Unknown  int     `json:"unknown"`
	RealTime int     `json:"realTime,omitempty"`
	// Skipped are not among Replays: a build of theirs cannot be had, or they cannot be played here.
	Skipped int `json:"skipped,omitempty"`
	// Between is at most how many releases and commits bisect builds and plays between both ends; they are among Replays.
	Between int `json:"between,omitempty"`

	cannot string // what is said of a build that cannot be had
}

// replayOf is a scenario on a target.
type replayOf struct {
	record scenarios.Record
	ref    builds.Ref
}

// verifiedSeconds are how long the replays of scenarios on targets took when they were last verified.
func verifiedSeconds() (map[[2]string]float64, error) {
	var verified []matrix.Cell
	if err := json.Unmarshal(reports.Verified, &verified); err != nil {
		return nil, err
	}
	took := map[[2]string]float64{}
	for _, c := range verified {
		took[[2]string{c.Scenario, c.Target}] = c.WallSeconds
	}
	return took, nil
}

// side is the one way to replay of a command that compares none.
func (s *session) side() []queue.Side {
	return []queue.Side{{Clock: s.World.Clock, Cluster: s.Cluster}}
}

// planOf is a plan of replays, each of them so many times in each way, and of what of the control plane and of other builds
// is missing. Those are skipped of which a build cannot be had.
func (s *session) planOf(ctx context.Context, of []replayOf, sides []queue.Side, times int, refs ...builds.Ref) (plan, error) {
	p := plan{Builds: []supply.Planned{}, cannot: "skipped; nodestorm doctor prints how to get it"}
	took, err := verifiedSeconds()
	if err != nil {
		return p, err
	}
	if s.KubernetesName == "" {
		refs = append([]builds.Ref{builds.Kubernetes}, refs...)
	}
	missing, err := s.Supplier().Planned(ctx, refs...)
	p.Builds = append(p.Builds, missing...)
	for _, r := range of {
		// mutant: a dry run counts what is skipped
		if slices.ContainsFunc(missing, func(b supply.Planned) bool { return b.How == supply.Cannot && b.Is(r.ref) }) {
			p.Skipped += times * len(sides)
			continue
		}
		seconds, known := took[[2]string{r.record.ID, r.ref.String()}]
		for _, side := range sides {
			p.Replays += times
			switch {
			case !side.Clock.Virtual():
				p.RealTime += times
			case !known:
				p.Unknown += times
			}
			if side.Clock.Virtual() {
				p.Seconds += float64(times) * seconds
			}
		}
	}
	return p, exit.UsageError(err)
}

// printPlan prints what would be got and played.
func (s *session) printPlan(ctx context.Context, of []replayOf, sides []queue.Side, times int, asJSON bool) error {
	jobs := make([]queue.Job, len(of))
	for i, r := range of {
		jobs[i] = s.Job(r.record, builds.Target{Manifest: builds.Manifest{Ref: r.ref}})
	}
	jobs, without := s.PlayableOn(ctx, sides, jobs)
	of = nil
	var refs []builds.Ref
	for _, j := range jobs {
		of = append(of, replayOf{j.Record, j.Target.Ref})
		if s.Order == "" && !slices.Contains(refs, j.Target.Ref) {
			refs = append(refs, j.Target.Ref)
		}
	}
	p, err := s.planOf(ctx, of, sides, times, refs...)
	if err != nil {
		return err
	}
	p.Skipped += times * len(sides) * len(without)
	return s.showPlan(p, asJSON)
}

// printHistory prints what history would get and play.
func (b *bisection) printHistory(ctx context.Context, list []bisect.Expected) error {
	var of []replayOf
	var missing []supply.Planned
	for _, e := range list {
		how := supply.Planned{Target: e.Ref.String(), Cloud: e.Ref.Provider, How: supply.Cannot, Why: "it is not in the store"}
		switch e.Way {
		case bisect.FromRegistry:
			how.How, how.Why = supply.Download, ""
		case bisect.Built:
			how.How, how.Seconds, how.Why = supply.Build, e.Took.Seconds(), ""
		case bisect.InStore, bisect.Unavailable:
		}
		if e.Way != bisect.InStore {
			missing = append(missing, how)
		}
		if e.Way != bisect.Unavailable {
			of = append(of, replayOf{b.Record, e.Ref})
		}
	}
	p, err := b.planOf(ctx, of, b.side(), b.Rules.Healthy)
	if err != nil {
		return err
	}
	p.Builds, p.cannot = append(p.Builds, missing...), "not played; --build builds it, --from REGISTRY takes it"
	return b.showPlan(p, b.asJSON)
}

// printSearch prints what bisect would build and play. Replays between the ends take as long as others of the record.
func (b *bisection) printSearch(ctx context.Context, q *bisect.Inquiry) error {
	ends, between, err := q.Outlook(ctx)
	if err != nil {
		return err
	}
	p, err := b.planOf(ctx, nil, nil, 0)
	if err != nil {
		return err
	}
	for _, e := range ends {
		if e.Way != bisect.InStore {
			p.Builds = append(p.Builds, supply.Planned{Target: e.Name, Cloud: e.Ref.Provider, How: supply.Build, Seconds: e.Took.Seconds()})
		}
	}
	p.Between, p.Replays = between, b.Rules.Healthy*(len(ends)+between)
	took, err := verifiedSeconds()
	if err != nil {
		return err
	}
	sum, n := 0.0, 0
	for of, seconds := range took {
		if of[0] == b.Record.ID {
			sum, n = sum+seconds, n+1
		}
	}
	if p.Seconds = float64(p.Replays) * sum / float64(max(n, 1)); n == 0 {
		p.Unknown = p.Replays
	}
	return b.showPlan(p, b.asJSON)
}

func (s *session) showPlan(p plan, asJSON bool) error {
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
			size = p.cannot
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
	if p.Between > 0 {
		fmt.Fprintf(s.Stdout, "Between both ends: at most %s, fewer if the store has some\n", wording.Counted(p.Between, "build"))
	}
	text := fmt.Sprintf("%s: about %s one after the other", wording.Counted(p.Replays, "replay"),
		time.Duration(p.Seconds*float64(time.Second)).Round(time.Second))
	var without []string
	if p.Unknown > 0 {
		without = append(without, fmt.Sprintf("%d without a verified run", p.Unknown))
	}
	if p.RealTime > 0 {
		without = append(without, fmt.Sprintf("%d in real time, which take minutes each", p.RealTime))
	}
	if len(without) > 0 {
		text += ", not counting " + strings.Join(without, " and ")
	}
	if p.Skipped > 0 {
		text += fmt.Sprintf("; %d skipped", p.Skipped)
	}
	fmt.Fprintln(s.Stdout, text)
	return nil
}
