package verdict

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/scenarios"
	"nodestorm/sim/checker"
	"nodestorm/sim/history"
)

// FromHistory collects from a run's history, live or stored, what its verdict
// depends on. distortion is what the clock's figures say, see Input. It knows
// steps and deaths as package history words them, the target's by the name of its
// autoscaler, and faults by the verbs armed and effective with the same detail
// "fault"; one that is armed on an object has to become effective on it, unless the
// scenario says that none need.
func FromHistory(records []history.Record, record scenarios.Record, distortion string) Input {
	records = slices.Clone(records)
	history.Sort(records)
	in := Input{Distortion: distortion, Incomplete: checker.Incomplete(records), Breaks: record.Breaks}
	prepared := checker.Prepare(records)
	for i := range record.Invariants {
		switch found := prepared.Find(record.Invariants[i]); {
		case record.Invariants[i].Breaks(found):
			in.Broken = append(in.Broken, found)
		case found.GaveUp:
			in.Unjudged = fmt.Sprintf("whether the invariant %q holds cannot be told: %s", found.Statement, found.Reason)
		}
	}
	if record.Bare() {
		in.Undocumented, in.Idle = true, inert(records, record.Autoscaler)
	} else {
		in.Symptom, in.Trigger = checker.Find(records, record.Symptom), checker.Find(records, record.Trigger)
		in.Idle = idle(records, record.Work)
	}
	var armed []string
	effective := map[string]bool{}
	mayMiss := false
	for _, r := range records {
		if step, ok := history.OutcomeOf(r); ok {
			in.Steps = append(in.Steps, step)
		}
		switch {
		case r.Source == history.Harness && r.Verb == history.Died:
			death := OneLine(text(r, "error"))
			if !strings.HasPrefix(death, r.Actor) {
				death = r.Actor + ": " + death
			}
			switch {
			case r.Actor != record.Autoscaler:
				in.Deaths = append(in.Deaths, death)
			case in.TargetDeath.Text == "":
				in.TargetDeath = Death{r.Seq, death}
			}
		case r.Source == history.Harness && r.Verb == history.MayMiss:
			mayMiss = true
		case r.Source == history.Fault && r.Verb == history.Armed:
			armed = append(armed, faultName(r))
		case r.Source == history.Fault && r.Verb == history.Effective:
			effective[faultName(r)] = true
			r.Object = history.Object{}
			effective[faultName(r)] = true
		}
	}
	for _, name := range armed {
		if !effective[name] && !mayMiss {
			in.FaultsUnmet = append(in.FaultsUnmet, name)
		}
	}
	return in
}

// idle says what is missing of the work that a target must have done, or "".
func idle(records []history.Record, work scenarios.Work) string {
	done, since := 0, "the start"
	for _, r := range records {
		if r.Source == history.Step && history.Role(text(r, "kind")) == history.When && !work.FromStart() {
			done, since = 0, "the last When"
		}
		if work.Matches(r) {
			done++
		}
	}
	if done >= work.Count {
		return ""
	}
	return fmt.Sprintf("%q is %d times in the history since %s, of %d at least", &work.Pattern, done, since, work.Count)
}

// inert says that the target has done nothing at all, or "". It is all that can be asked
// of the work of a target where no record says more.
func inert(records []history.Record, target string) string {
	for _, r := range records {
		did := r.Actor == target && (r.Source == history.Cloud || r.Source == history.API && slices.Contains(writes, r.Verb))
		if r.Actor == installer {
			did = r.Source == history.Harness
		}
		if did && r.Code < 400 && !slices.Contains([]string{"leases", "events"}, r.Object.Resource) {
			return ""
		}
	}
	return target + " has written nothing, neither to the API server nor to a cloud"
}

var writes = []string{"create", "update", "patch", "delete"}

// installer is the actor of what an installer's order does.
const installer = "order"

func faultName(r history.Record) string {
	if r.Object == (history.Object{}) {
		return text(r, "fault")
	}
	return fmt.Sprintf("%s on %s", text(r, "fault"), r.Object)
}

func text(r history.Record, key string) string {
	s, _ := r.Detail[key].(string)
	return s
}
