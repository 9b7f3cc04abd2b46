package cli

import (
	"fmt"
	"iter"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// foreign is a symptom in the run of another scenario, for machines.
type foreign struct {
	ID        string   `json:"id"` // of the symptom
	Statement string   `json:"statement"`
	Scenario  string   `json:"scenario"` // of the run
	Target    string   `json:"target"`
	Verdict   string   `json:"verdict"`
	Evidence  []uint64 `json:"evidence"`
	Run       string   `json:"run"`
}

// cross judges every symptom on the runs of all other scenarios, one run in memory
// at a time.
func (e *env) cross(found []stored, catalogue *scenarios.Catalogue, asJSON bool) error {
	symptoms := len(catalogue.Records())
	strangers, judged, unsure := []foreign{}, 0, 0
	for _, f := range found {
		again, err := run.Recheck(f.dir, catalogue)
		if err != nil {
			e.say("%s", f.says(err))
			unsure++
			continue
		}
		doubts := again.Doubts
		all := checker.NewCompleteness()
		for r := range again.Records.Arrived() {
			all.Take(r)
		}
		if why := all.Incomplete(); why != "" {
			doubts = append(doubts, why)
		}
		if len(doubts) > 0 {
			e.say("%s: not judged: %s", f.name, doubts[0])
			unsure++
			continue
		}
		judged++
		for _, of := range again.Cross(catalogue) {
			if of.Finding.GaveUp {
				e.say("%s: the symptom of %s: %s", f.name, of.ID, of.Finding.Reason)
				unsure++
				continue
			}
			stranger := foreign{
				ID: of.ID, Statement: of.Finding.Statement, Scenario: again.Run.ID, Target: again.Run.Target.Ref.String(),
				Verdict: string(again.Now.Verdict), Evidence: of.Finding.Evidence, Run: f.name,
			}
			strangers = append(strangers, stranger)
			if !asJSON {
				fmt.Fprintf(e.stdout, "%s\n\n", reports.Clean(stranger.text(again.Records.Timed())))
			}
		}
	}
	if asJSON {
		if err := e.json(strangers); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "%s, %s: %s\n", counted(judged, "run"), counted(symptoms, "symptom"), counted(len(strangers), "symptom")+" of another scenario")
	}
	switch {
	case len(strangers) > 0:
		return &exit.Error{Code: NotAsExpected}
	case unsure > 0:
		return &exit.Error{Code: Inconclusive}
	}
	return nil
}

// text names both records, the place, and the way out.
func (f foreign) text(records iter.Seq[history.Record]) string {
	place := ""
	for r := range records {
		if len(f.Evidence) > 0 && r.Seq == f.Evidence[0] {
			place = " from " + reports.Offset(r.Virtual) + " on"
		}
	}
	out := fmt.Sprintf("name %s in its kin if they are the same failure, else tighten it", f.Scenario)
	if f.Verdict == "healthy" {
		out = "the run is healthy: tighten it"
	}
	return fmt.Sprintf("the symptom of %s is in a run of %s on %s (%s)%s, records %v: %s; %s: %s",
		f.ID, f.Scenario, f.Target, f.Verdict, place, f.Evidence, f.Statement, out, f.Run)
}
