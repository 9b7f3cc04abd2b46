package then

import (
	"fmt"
	"strings"

	"nodestorm/sim/history"
)

// Newest and Oldest stand for the names of objects that a program gave, in the order in
// which they came: of Nodes that the target brought, and of pods.
const (
	Newest = "$newest"
	Oldest = "$oldest"
)

// NoneError is that there is no newest or oldest object.
type NoneError struct{ kind, which string }

func (e *NoneError) Error() string {
	return fmt.Sprintf("%s/%s: there is none; of Nodes those count that have come since the target runs", e.kind, e.which)
}

// Aged is the name that Newest or Oldest stands for, or the name itself. target is whose
// Nodes count: those that came since it first did anything.
func Aged(events []history.Entry, target, kind, which string) (string, error) {
	if which != Newest && which != Oldest {
		return which, nil
	}
	came := map[string]uint64{}
	switch strings.ToLower(kind) {
	case "node", "nodes", "no":
		all, since := nodes{}, uint64(0)
		for _, r := range events {
			all.add(r)
			if since == 0 && r.Actor == target {
				since = r.Seq
			}
		}
		for name, n := range all {
			if !n.gone && since > 0 && n.created > since {
				came[name] = n.created
			}
		}
	case "pod", "pods", "po":
		all := everyPod()
		for _, r := range events {
			all.add(r)
		}
		for name, p := range all.all {
			came[name] = p.created
		}
	default:
		return "", fmt.Errorf("%s/%s: age selects only Nodes and pods", kind, which)
	}
	found := ""
	for name, seq := range came {
		// mutant: the newest is the oldest
		if found == "" || (seq > came[found]) == (which == Newest) {
			found = name
		}
	}
	if found == "" {
		return "", &NoneError{kind, which}
	}
	return found, nil
}
