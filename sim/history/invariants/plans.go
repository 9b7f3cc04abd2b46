package invariants

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/history"
)

// plan is a scale-up that Cluster Autoscaler has decided on.
type plan struct {
	at       moment
	group    string
	from, to int
	pods     []string
	// capped says that the group's maximum or --max-nodes-per-scaleup allows fewer instances than
	// there are pods: which of them have a place on those is unknown.
	capped bool
	// failed is the first sign that it came to nothing, in part at least, and why.
	failed moment
	why    string
	// refused says that calls to the cloud were being refused when it failed.
	refused bool
	// asked says that its call to scale was taken; undone that it was refused, so that what came
	// is another's.
	asked, undone bool
	// misled says that it, or a later one, launches again for a pod after the cloud has listed what is
	// not so.
	misled bool
	// instances are those that were created for it.
	instances []*instance
}

// includes reports whether the instance is the plan's, which follows from how many it is for: what comes
// after those was created by the cloud itself, or for another client.
func (p *plan) includes(i *instance) bool {
	if p == nil || i == nil {
		return false
	}
	if !slices.Contains(p.instances, i) && len(p.instances) < p.to-p.from {
		p.instances = append(p.instances, i)
	}
	return slices.Contains(p.instances, i)
}

// hasPod reports whether the plan is for the pod.
func (p *plan) hasPod(pod string) bool { return slices.Contains(p.pods, pod) }

var failedGroup = regexp.MustCompile(`^(?:Scale-up failed for group|Failed adding \d+ nodes to group|Nodes added to group) (\S+?):? `)

// seePlan keeps the plans, and what comes of them.
func (w *world) seePlan(r *history.Entry) {
	switch {
	case r.Source == history.Logged && r.Verb == "plan" && r.Actor == w.Actor:
		p := &plan{at: momentOf(r), group: lastPart(r.Object.Name), from: int(number(r, "from")), to: int(number(r, "to"))}
		for _, pod := range strings.Split(r.Detail.Text("Pods"), ", ") {
			if strings.Contains(pod, "/") {
				p.pods = append(p.pods, pod)
			}
		}
		_, most, _ := strings.Cut(r.Detail.Text("message"), ", of ")
		atOnce, err := strconv.Atoi(w.setting("--max-nodes-per-scaleup"))
		p.capped = len(p.pods) > p.to-p.from && (most == fmt.Sprintf("%d at most", p.to) || err == nil && atOnce < len(p.pods))
		w.plans = append(w.plans, p)
		for _, pod := range p.pods {
			if q := w.previousPlan(p, pod); q != nil && w.misledSince(q.at) {
				p.misled, q.misled = true, true
			}
		}
	case r.Source == history.Cloud && r.Verb == "created" && r.Actor != w.Actor:
		w.planFor(r.Detail.Text("group")).includes(w.instances[r.Object.Name])
	case r.Source == history.Cloud && r.Verb == "failed":
		p, i := w.planFor(r.Detail.Text("group")), w.instances[r.Object.Name]
		if p.includes(i) {
			w.fails(p.group, "an instance failed", r)
		}
	case r.Actor == w.Actor && r.Code >= 400 && r.Source == history.Cloud && (r.Verb == "POST /servers" || r.Verb == "NodeGroupIncreaseSize"):
		group := r.Detail.Text("group")
		if group == "" {
			group = r.Object.Name
		}
		w.fails(group, "a call was refused", r)
	case r.Actor == w.Actor && r.Code >= 400 && r.Source == history.API && r.Detail.Text("subresource") == "scale":
		w.fails(r.Object.Name, "a call was refused", r)
		if p := w.planFor(r.Object.Name); p != nil && !p.asked {
			p.undone = true
		}
	case r.Actor == w.Actor && r.Source == history.API && r.Detail.Text("subresource") == "scale":
		if p := w.planFor(r.Object.Name); p != nil {
			p.asked = true
		}
	case r.Actor == w.Actor && r.Code < 400 && r.Object.Resource == "events" &&
		slices.Contains([]string{"FailedToScaleUpGroup", "ScaleUpFailed", "ScaleUpTimedOut"}, r.Detail.Text("reason")):
		if m := failedGroup.FindStringSubmatch(r.Detail.Text("message") + " "); m != nil {
			w.fails(lastPart(m[1]), r.Detail.Text("reason"), r)
		}
	}
}

// planFor is the latest for the group, if any.
func (w *world) planFor(group string) *plan {
	for _, p := range slices.Backward(w.plans) {
		if p.group == group {
			return p
		}
	}
	return nil
}

func (w *world) fails(group, why string, r *history.Entry) {
	if p := w.planFor(group); p != nil && !p.failed.isSet() {
		p.failed, p.why, p.refused = momentOf(r), why, w.refused()
	}
}

// previousPlan is the latest plan for the pod before p, if the pod is the same since, and it is known
// that it was to have a place.
func (w *world) previousPlan(p *plan, pod string) *plan {
	for _, q := range slices.Backward(w.plans) {
		if q != p && q.at.seq < p.at.seq && q.hasPod(pod) {
			// mutant: a plan at its group's maximum scales up for all its pods
			if at := w.pods[pod]; q.capped || at != nil && at.created.at > q.at.at {
				return nil
			}
			return q
		}
	}
	return nil
}
