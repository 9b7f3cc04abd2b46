package compare

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/run"
	"nodestorm/harness/run/stored"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/workload"
	"nodestorm/reports/comparison"
	"nodestorm/sim/history"
	"nodestorm/sim/history/measure"
)

// Stored are the runs below a folder, as those of one variant, and the scenario that they all play. A name that is empty is
// that of their target.
func Stored(ctx context.Context, folder, name string) (v comparison.Variant, scenario string, err error) {
	dirs, err := stored.FindRuns(folder)
	if err != nil {
		return v, "", err
	}
	v.Name = name
	target := ""
	for _, dir := range dirs {
		r, err := run.Load(dir)
		if err != nil {
			return v, "", err
		}
		if target == "" {
			target, scenario = r.Target.Ref.String(), r.ID
		}
		if r.Target.Ref.String() != target || r.ID != scenario {
			return v, "", fmt.Errorf("%s has runs of %s on %s and of %s on %s: want a folder for each variant",
				folder, scenario, target, r.ID, r.Target.Ref)
		}
		came, err := read(ctx, r, dir)
		if err != nil {
			return v, "", err
		}
		if err := add(&v, came); err != nil {
			return v, "", fmt.Errorf("%s: %w", folder, err)
		}
	}
	if v.Name == "" {
		v.Name = target + " in " + filepath.Base(filepath.Clean(folder))
	}
	return v, scenario, nil
}

// add adds a run. Of one seed, one counts: a run that does not gives way to one that was played in its place.
func add(v *comparison.Variant, came comparison.Run) error {
	i := slices.IndexFunc(v.Runs, func(r comparison.Run) bool { return r.Seed == came.Seed })
	switch {
	case i < 0:
		v.Runs = append(v.Runs, came)
	case v.Runs[i].Why != "":
		v.Runs[i] = came
	case came.Why == "":
		return fmt.Errorf("%s and %s both have the seed %d: want one run of each seed", v.Runs[i].Dir, came.Dir, came.Seed)
	}
	return nil
}

// read is what a run came to: from the start of its workload to the end of that, so that runs of one workload count as long
// as each other; of a run without one, from its start to its end.
func read(ctx context.Context, r run.Run, dir string) (came comparison.Run, err error) {
	came = comparison.Run{Seed: r.Seed, Dir: dir}
	var late history.Lateness
	var during span
	doubts, err := r.Read(ctx, dir, nil, func(e history.Entry) {
		late.Add(e)
		during.add(e)
	})
	if err != nil {
		return came, fmt.Errorf("%s: %w", dir, err)
	}
	switch {
	case r.Seal == nil:
		came.Why = "the run did not come to its end"
	// mutant: a run that was changed counts
	case len(doubts) > 0:
		came.Why = strings.Join(doubts, "; ")
	// mutant: a run whose timers were late counts
	case r.Verdict == verdict.Inconclusive:
		came.Why = "it is inconclusive: " + r.Reason
	case during.broken != "":
		came.Why = "its workload did not come to its end: " + during.broken
	}
	if came.Why != "" {
		return came, nil
	}
	events := &history.Stored{Path: filepath.Join(dir, run.HistoryFile), Context: ctx, Late: late.Most}
	came.Values = during.measure(events)
	if err := events.Err(); err != nil {
		return came, err
	}
	described, err := summary.Run(ctx, dir, nil, 0)
	if err != nil {
		return came, err
	}
	from, to := described.Begin, described.End
	if during.found {
		from, to = during.begun, during.ended
	}
	came.Course = comparison.CourseOf(described, from, to)
	return came, nil
}

// PageFile is what the page of a comparison is called.
const PageFile = "comparison.html"

// Leave writes a comparison into a folder, in each of its formats.
func Leave(folder string, c comparison.Comparison) error {
	for _, format := range comparison.Formats {
		var text bytes.Buffer
		if err := c.Write(&text, format); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, "comparison."+format), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// span is from when to when a workload ran.
type span struct {
	before, begun, ended time.Duration
	found                bool
	broken               string
}

// add takes in the next event: a step begins where the one before it ended.
func (s *span) add(e history.Entry) {
	outcome, is := history.OutcomeOf(e)
	if !is {
		return
	}
	if workload.IsStep(outcome.Text) && outcome.Role == history.When {
		if !s.found {
			s.begun = s.before
		}
		s.found, s.ended = true, e.Virtual
		if outcome.Status != "passed" && s.broken == "" {
			s.broken = outcome.Status + ": " + outcome.Error
		}
	}
	s.before = e.Virtual
}

// measure measures what was in the span. What programs used is noted when the world ends.
func (s *span) measure(events history.Entries) measure.Values {
	m, starts := measure.NewMeter(), s.found
	for e := range events.Timed() {
		// mutant: what was before the workload counts
		if starts && e.Virtual >= s.begun {
			m.StartAt(s.begun)
			starts = false
		}
		// mutant: what comes after the workload counts
		if !s.found || e.Virtual <= s.ended || e.Source == history.Harness && e.Verb == history.Used {
			m.Add(e)
		}
	}
	if !s.found {
		return m.ValuesAt(m.Last())
	}
	return m.ValuesAt(s.ended)
}
