package stored

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"nodestorm/harness/run"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/wording"
	"nodestorm/sim/history"
	"nodestorm/sim/history/invariants"
)

// Tally is what stored runs say of one invariant.
type Tally struct {
	Invariant string `json:"invariant"`
	// Judged are the runs it is about, Healthy those that are healthy without it.
	Judged  int `json:"judged"`
	Healthy int `json:"healthy"`
	// Broken are the scenarios of the runs that break it, with their releases. Alarms are
	// the healthy runs that do.
	Broken map[string][]string `json:"broken"`
	Alarms []Alarm             `json:"alarms"`
}

// Alarm is an invariant that a run breaks.
type Alarm struct {
	Scenario string   `json:"scenario"`
	Target   string   `json:"target"`
	Reason   string   `json:"reason"`
	Evidence []uint64 `json:"evidence"`
	Run      string   `json:"run"`
}

// Tallies are one for each invariant that judges every run.
type Tallies []*Tally

// TallyInvariants counts in stored runs which invariants they break. Whether a run is
// healthy is as was recorded. Those that cannot be read are said, and counted. The error is the cause of ctx.
func TallyInvariants(ctx context.Context, found []Run, say func(format string, args ...any)) (all Tallies, unread int, err error) {
	by := map[string]*Tally{}
	for _, i := range invariants.All() {
		by[i.Name] = &Tally{Invariant: i.Name, Broken: map[string][]string{}, Alarms: []Alarm{}}
		all = append(all, by[i.Name])
	}
	for _, f := range found {
		err := count(ctx, f, by)
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if err != nil {
			say("%s", f.ErrorText(err))
			unread++
		}
	}
	return all, unread, nil
}

// count adds one run.
func count(ctx context.Context, f Run, by map[string]*Tally) error {
	r, err := run.Load(f.Dir)
	if err != nil {
		return err
	}
	var late history.Lateness
	doubts, err := r.Read(ctx, f.Dir, nil, late.Add)
	if err == nil && len(doubts) > 0 {
		err = fmt.Errorf("%s: %s", f.Dir, doubts[0])
	}
	if err != nil || r.Verdict == verdict.Inconclusive {
		return err
	}
	subject := r.Subject()
	events := &history.Stored{Path: filepath.Join(f.Dir, run.HistoryFile), Context: ctx, Late: late.Most}
	for _, i := range invariants.All() {
		if t := by[i.Name]; i.AppliesTo(subject) {
			if t.Judged++; r.Verdict == verdict.Healthy {
				t.Healthy++
			}
		}
	}
	for _, b := range invariants.Judge(events.Timed(), subject) {
		t := by[b.Name]
		if r.Verdict == verdict.Healthy {
			t.Alarms = append(t.Alarms, Alarm{r.ID, r.Target.Ref.String(), b.Reason, b.Evidence, f.Name})
		} else if releases := t.Broken[r.ID]; !slices.Contains(releases, r.Target.Version) {
			t.Broken[r.ID] = append(releases, r.Target.Version)
		}
	}
	return nil
}

// Alarm reports whether a healthy run breaks one.
func (all Tallies) Alarm() bool {
	return slices.ContainsFunc(all, func(t *Tally) bool { return len(t.Alarms) > 0 })
}

// Show prints them as a table in Markdown, and the alarms.
func (all Tallies) Show(w io.Writer) {
	fmt.Fprintln(w, "| Invariant | Runs | Healthy | Alarms on healthy runs | Broken in runs that fail, on releases |\n|---|---|---|---|---|")
	for _, t := range all {
		var broken []string
		for _, id := range slices.Sorted(maps.Keys(t.Broken)) {
			slices.Sort(t.Broken[id])
			broken = append(broken, fmt.Sprintf("%s (%s)", id, strings.Join(t.Broken[id], ", ")))
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %s |\n", t.Invariant, t.Judged, t.Healthy, len(t.Alarms), wording.Clean(strings.Join(broken, ", ")))
	}
	for _, t := range all {
		for _, a := range t.Alarms {
			fmt.Fprintf(w, "\n%s is broken in a healthy run of %s on %s: %s; events %v: %s\n", t.Invariant, a.Scenario, a.Target,
				wording.Clean(a.Reason), a.Evidence, a.Run)
		}
	}
}
