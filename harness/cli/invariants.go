package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/invariants"
)

// listInvariants names those that judge every run.
func (e *env) listInvariants(asJSON bool) error {
	type listed struct {
		invariants.Invariant
		Of []string `json:"of"`
	}
	all := []listed{}
	rows := [][]string{{"INVARIANT", "OF", "WHEN", "WHAT MUST HOLD"}}
	for _, i := range invariants.All() {
		of := scenarios.SubjectsOf(i)
		all = append(all, listed{i, of})
		rows = append(rows, []string{i.Name, strings.Join(of, ", "), i.When, i.Statement})
	}
	if asJSON {
		return e.json(all)
	}
	return e.table(columns(e.stdout), 1, rows)
}

// tally is what stored runs say of one invariant.
type tally struct {
	Invariant string `json:"invariant"`
	// Judged are the runs it is about, Healthy those that are healthy without it.
	Judged  int `json:"judged"`
	Healthy int `json:"healthy"`
	// Broken are the scenarios of the runs that break it, with their releases. Alarms are
	// the healthy runs that do.
	Broken map[string][]string `json:"broken"`
	Alarms []alarm             `json:"alarms"`
}

// alarm is an invariant that a run breaks.
type alarm struct {
	Scenario string   `json:"scenario"`
	Target   string   `json:"target"`
	Reason   string   `json:"reason"`
	Evidence []uint64 `json:"evidence"`
	Run      string   `json:"run"`
}

// tallyInvariants counts in stored runs which invariants they break. Whether a run is
// healthy is as was recorded.
func (e *env) tallyInvariants(found []stored, asJSON bool) error {
	tallies := map[string]*tally{}
	for _, i := range invariants.All() {
		tallies[i.Name] = &tally{Invariant: i.Name, Broken: map[string][]string{}, Alarms: []alarm{}}
	}
	unread := 0
	for _, f := range found {
		r, err := run.Load(f.dir)
		var late history.Lateness
		var doubts []string
		if err == nil {
			doubts, err = r.Read(f.dir, nil, late.Take)
		}
		if err == nil && len(doubts) > 0 {
			err = fmt.Errorf("%s: %s", f.dir, doubts[0])
		}
		if err != nil {
			e.say("%s", f.says(err))
			unread++
			continue
		}
		if r.Verdict == verdict.Inconclusive {
			continue
		}
		subject := r.Subject()
		records := &history.Stored{Path: filepath.Join(f.dir, run.HistoryFile), Late: late.Most}
		for _, i := range invariants.All() {
			if t := tallies[i.Name]; i.About(subject) {
				if t.Judged++; r.Verdict == verdict.Healthy {
					t.Healthy++
				}
			}
		}
		for _, b := range invariants.Judge(records.Timed(), subject) {
			t := tallies[b.Name]
			if r.Verdict == verdict.Healthy {
				t.Alarms = append(t.Alarms, alarm{r.ID, r.Target.Ref.String(), b.Reason, b.Evidence, f.name})
			} else if releases := t.Broken[r.ID]; !slices.Contains(releases, r.Target.Version) {
				t.Broken[r.ID] = append(releases, r.Target.Version)
			}
		}
	}
	all := []*tally{}
	for _, i := range invariants.All() {
		all = append(all, tallies[i.Name])
	}
	if asJSON {
		if err := e.json(all); err != nil {
			return err
		}
	} else {
		e.showTallies(all)
	}
	switch {
	case slices.ContainsFunc(all, func(t *tally) bool { return len(t.Alarms) > 0 }):
		return &exit.Error{Code: NotAsExpected}
	case unread > 0:
		return &exit.Error{Code: Inconclusive}
	}
	return nil
}

func (e *env) showTallies(all []*tally) {
	fmt.Fprintln(e.stdout, "| Invariant | Runs | Healthy | Alarms on healthy runs | Broken in runs that fail, on releases |\n|---|---|---|---|---|")
	for _, t := range all {
		var broken []string
		for _, id := range slices.Sorted(maps.Keys(t.Broken)) {
			slices.Sort(t.Broken[id])
			broken = append(broken, fmt.Sprintf("%s (%s)", id, strings.Join(t.Broken[id], ", ")))
		}
		fmt.Fprintf(e.stdout, "| %s | %d | %d | %d | %s |\n", t.Invariant, t.Judged, t.Healthy, len(t.Alarms), reports.Clean(strings.Join(broken, ", ")))
	}
	for _, t := range all {
		for _, a := range t.Alarms {
			fmt.Fprintf(e.stdout, "\n%s is broken in a healthy run of %s on %s: %s; records %v: %s\n", t.Invariant, a.Scenario, a.Target, reports.Clean(a.Reason), a.Evidence, a.Run)
		}
	}
}
