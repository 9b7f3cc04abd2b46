package verdict

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/oneline"
)

// FromHistory collects from a run's history, live or stored, what its verdict
// depends on. distortion is what the clock's figures say, see Input. It knows
// steps and deaths as package history words them, the target's by the name of its
// autoscaler, and faults by the verbs armed and effective with the same detail
// "fault"; one that is armed on an object has to become effective on it, unless the
// scenario says that none need.
func FromHistory(events history.Entries, record scenarios.Record, distortion string) Input {
	in := Input{Distortion: distortion, Breaks: record.Breaks}
	all := checker.NewCompleteness()
	symptom, trigger := checker.NewFinder(record.Symptom), checker.NewFinder(record.Trigger)
	bare := record.Bare()
	work, there, wrote, pools := work{Work: record.Work, since: "the start"}, false, false, false
	var invariants []*checker.Finder
	for _, of := range record.Invariants {
		invariants = append(invariants, checker.NewFinder(of))
	}
	var faults faults
	program := builds.Ref{Name: record.Autoscaler}.Program()
	for r := range events.Timed() {
		all.Add(r)
		for _, f := range invariants {
			f.Add(r)
		}
		there, pools = there || isOf(&r, program), pools || r.Source == history.API && r.Object.Resource == "nodepools"
		if bare {
			wrote = wrote || writes(&r, program)
		} else {
			symptom.Add(r)
			trigger.Add(r)
			work.add(r)
		}
		faults.add(r)
		if step, ok := history.OutcomeOf(r); ok {
			in.Steps = append(in.Steps, step)
		}
		if r.Source == history.Harness && r.Verb == history.Died {
			in.died(r, program)
		}
	}
	in.Incomplete, in.FaultsUnmet = all.Incomplete(), faults.unmet()
	for i, f := range invariants {
		switch found := f.Finding(all); {
		case record.Invariants[i].Breaks(found):
			in.Broken = append(in.Broken, found)
		case found.GaveUp || found.Unexcused || found.Hollow:
			in.Unjudged = fmt.Sprintf("cannot determine whether the invariant %q holds: %s", found.Statement, found.Reason)
		}
	}
	if there && !pools && program == "karpenter" {
		in.Poolless = `nothing could launch a machine, since the scenario has no NodePool: say "Karpenter with a NodePool "default""`
	}
	if !there {
		in.Absent = record.Autoscaler + " is nowhere in the history, as if no step had started it"
	}
	switch {
	case !bare:
		in.Symptom, in.Trigger, in.Idle = symptom.Finding(all), trigger.Finding(all), work.idle()
	case !wrote:
		in.Undocumented, in.Idle = true, record.Autoscaler+" has written nothing, neither to the API server nor to a cloud"
	default:
		in.Undocumented = true
	}
	return in
}

// died takes in that a part of the world has ended by itself.
func (in *Input) died(r history.Entry, target string) {
	death := oneline.Ends(r.Detail.Text("error"))
	if !strings.HasPrefix(death, r.Actor) {
		death = r.Actor + ": " + death
	}
	switch {
	case r.Actor != target:
		in.Deaths = append(in.Deaths, death)
	case in.TargetDeath.Text == "":
		in.TargetDeath = Death{r.Seq, death}
	}
}

// faults are those of a run that were armed, and those that met something.
type faults struct {
	armed     []string
	effective map[string]bool
	mayMiss   bool
}

func (f *faults) add(r history.Entry) {
	switch {
	case r.Source == history.Harness && r.Verb == history.MayMiss:
		f.mayMiss = true
	case r.Source == history.Fault && r.Verb == history.Armed:
		f.armed = append(f.armed, faultName(r))
	case r.Source == history.Fault && r.Verb == history.Effective:
		if f.effective == nil {
			f.effective = map[string]bool{}
		}
		f.effective[faultName(r)] = true
		r.Object = history.Object{}
		f.effective[faultName(r)] = true
	}
}

func (f *faults) unmet() (names []string) {
	for _, name := range f.armed {
		// mutant: a fault that need not take effect has to
		if !f.effective[name] && !f.mayMiss {
			names = append(names, name)
		}
	}
	return names
}

// work is what a target must have done, and how much of it it did.
type work struct {
	scenarios.Work
	done  int
	since string
}

func (w *work) add(r history.Entry) {
	if r.Source == history.Step && history.Role(r.Detail.Text("kind")) == history.When && !w.FromStart() {
		w.done, w.since = 0, "the last When"
	}
	if w.Matches(r) {
		w.done++
	}
}

// idle says what is missing, or "".
func (w *work) idle() string {
	if w.done >= w.Count {
		return ""
	}
	return fmt.Sprintf("%q was seen %s since %s, at least %d required", &w.Pattern, checker.Times(w.done), w.since, w.Count)
}

// writes reports whether the target has done something with the event. It is all that can be
// asked of the work of a target where no record says more.
func writes(r *history.Entry, target string) bool {
	did := r.Source == history.Cloud || r.Source == history.API && slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb)
	if r.Actor == installer {
		did = r.Source == history.Harness
	}
	return did && isOf(r, target) && r.Code < 400 && !slices.Contains([]string{"leases", "events"}, r.Object.Resource)
}

const (
	// installer is the actor of what an installer's order does.
	installer = "order"
	// capi is Cluster API to the API server, where it goes by the name of its account.
	capi = "capi-manager"
)

// isOf reports whether the event is of something that the target did, or of its end.
func isOf(r *history.Entry, target string) bool {
	switch target {
	case "kubespray":
		return r.Actor == installer
	case "cluster-api":
		return r.Actor == target || r.Actor == capi
	}
	return r.Actor == target
}

func faultName(r history.Entry) string {
	if r.Object == (history.Object{}) {
		return r.Detail.Text("fault")
	}
	return fmt.Sprintf("%s on %s", r.Detail.Text("fault"), r.Object)
}
